#include "tests/conformance/tree_text.h"

#include <cstddef>

namespace pgparsed::conformance {
namespace {

bool IsPlace(std::string_view field) {
  return field.ends_with("location") || field == "stmt_len" || field == "list_start" ||
         field == "list_end" || field == "rexpr_list_start" || field == "rexpr_list_end";
}

// The end of the string whose opening quote is at `quote`: behind its closing quote.
size_t StringEnd(std::string_view json, size_t quote) {
  size_t at = quote + 1;
  while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return at + 1;
}

}  // namespace

std::string WithoutLocations(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (size_t at = 0; at < json.size();) {
    if (json[at] != '"') {
      out.push_back(json[at++]);
      continue;
    }
    const size_t end = StringEnd(json, at);
    const bool is_place =
        end < json.size() && json[end] == ':' && IsPlace(json.substr(at + 1, end - at - 2));
    if (!is_place) {
      out.append(json.substr(at, end - at));
      at = end;
      continue;
    }
    // Skip the number, and one of the commas around the field.
    at = json.find_first_of(",}", end);
    if (out.ends_with(',')) {
      out.pop_back();
    } else if (at < json.size() && json[at] == ',') {
      ++at;
    }
  }
  return out;
}

size_t CountStatements(std::string_view json) {
  // A statement is an object with the field "stmt" directly in the array "stmts": depth 3.
  size_t count = 0;
  int depth = 0;
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      const size_t end = StringEnd(json, at);
      if (depth == 3 && json.substr(at, end - at) == "\"stmt\"") ++count;
      at = end;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return count;
}

}  // namespace pgparsed::conformance
