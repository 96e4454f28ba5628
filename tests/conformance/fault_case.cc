#include "tests/conformance/fault_case.h"

#include <cctype>
#include <fstream>
#include <utility>

#include "absl/status/status.h"

namespace pgparsed::conformance {
namespace {

// "c0, c1, ... c399" stands for all 400 names.
std::string WithoutEllipsis(std::string text) {
  constexpr char kMark[] = "c1, ... c";
  const size_t mark = text.find(kMark);
  if (mark == std::string::npos) return text;
  const size_t number = mark + sizeof kMark - 1;
  const size_t end = text.find_first_not_of("0123456789", number);
  const long last = std::stol(text.substr(number, end - number));
  std::string names = "c1";
  for (long i = 2; i <= last; ++i) names += ", c" + std::to_string(i);
  return text.replace(mark, end - mark, names);
}

// Makes the SQL of a "generate" object: prefix + unit × times (joined by "join") + middle + close ×
// times + suffix, or with "numbers_to" N the list 0,1,…,N-1 between prefix and suffix.
std::string Generate(const nlohmann::json& how) {
  const auto text = [&](const char* key) { return WithoutEllipsis(how.value(key, std::string())); };
  std::string sql = text("prefix");
  if (how.contains("numbers_to")) {
    const long count = how["numbers_to"].get<long>();
    for (long i = 0; i < count; ++i) {
      if (i > 0) sql += ',';
      sql += std::to_string(i);
    }
  } else {
    const std::string unit = text("unit");
    const std::string join = text("join");
    const std::string close = text("close");
    const long times = how["times"].get<long>();
    for (long i = 0; i < times; ++i) {
      if (i > 0) sql += join;
      sql += unit;
    }
    sql += text("middle");
    for (long i = 0; i < times; ++i) sql += close;
  }
  return sql + text("suffix");
}

// The bytes behind "hex of the query:" in a note: for queries that JSON cannot hold.
std::string FromHex(const std::string& note) {
  constexpr char kMark[] = "hex of the query: ";
  const size_t mark = note.find(kMark);
  if (mark == std::string::npos) return "";
  std::string bytes;
  for (size_t i = mark + sizeof kMark - 1; i + 1 < note.size() && std::isxdigit(note[i]); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(note.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::vector<FaultCase>> LoadFaultCases(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError("cannot read " + path);
  std::vector<FaultCase> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const nlohmann::json parsed = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object() || !parsed.contains("id") || !parsed.contains("op") ||
        !parsed.contains("grammars") || !parsed.contains("expect")) {
      return absl::InvalidArgumentError("not a case: " + line.substr(0, 80));
    }
    FaultCase fault;
    fault.id = parsed["id"].get<std::string>();
    fault.op = parsed["op"].get<std::string>();
    fault.grammars = parsed["grammars"].get<std::vector<uint32_t>>();
    fault.expect = parsed["expect"];
    if (parsed.contains("sql")) {
      fault.sql = parsed["sql"].get<std::string>();
    } else if (parsed.contains("generate")) {
      fault.sql = Generate(parsed["generate"]);
    } else {
      fault.sql = FromHex(fault.expect.value("note", std::string()));
      if (fault.sql.empty()) return absl::InvalidArgumentError("a case without SQL: " + fault.id);
    }
    cases.push_back(std::move(fault));
  }
  return cases;
}

}  // namespace pgparsed::conformance
