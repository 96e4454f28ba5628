#include "cli/workload/report_output.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/input.h"
#include "cli/json_output.h"
#include "cli/utf8_display.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

// The least columns that the query gets, however narrow the terminal is.
constexpr int kFewestQueryColumns = 30;
constexpr int kMostNameColumns = 40;

absl::uint128 Value(const v1::Sum128& sum) { return absl::MakeUint128(sum.high(), sum.low()); }

bool HasKey(const v1::WorkloadReport& report, v1::WorkloadKey key) {
  return std::find(report.keys().begin(), report.keys().end(), key) != report.keys().end();
}

// 0.5 to "p50", 0.999 to "p99.9".
std::string QuantileName(double q) { return absl::StrFormat("p%.6g", q * 100); }

// ---- The table ----

struct Column {
  std::string title;
  bool left = false;
  std::vector<std::string> cells;
};

// The query on one line.
std::string OneLine(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      gap = !line.empty();
      continue;
    }
    if (gap) line.push_back(' ');
    gap = false;
    line.push_back(c);
  }
  return line;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (const Cell& cell : DisplayCells(text)) width += cell.width;
  return width;
}

std::string Padded(const std::string& text, int width, bool left) {
  const int missing = std::max(width - DisplayWidth(text), 0);
  const std::string spaces(static_cast<size_t>(missing), ' ');
  return left ? text + spaces : spaces + text;
}

std::vector<Column> NumberColumns(const v1::WorkloadReport& report,
                                  const std::vector<const v1::WorkloadGroup*>& rows) {
  double all = 0;
  for (const auto* row : rows) all += static_cast<double>(Value(row->total_duration_us()));
  std::vector<Column> columns;
  const auto add = [&](std::string title, const auto& cell) {
    Column column{std::move(title), false, {}};
    for (const v1::WorkloadGroup* row : rows) column.cells.push_back(cell(*row));
    columns.push_back(std::move(column));
  };
  // Durations are there for groups that have any.
  const auto add_duration = [&](std::string title, const auto& microseconds) {
    add(std::move(title), [&](const v1::WorkloadGroup& row) {
      return row.timed_calls() == 0 ? std::string("-") : ShortDuration(microseconds(row));
    });
  };
  const bool timed =
      std::any_of(rows.begin(), rows.end(), [](const auto* row) { return row->timed_calls() > 0; });
  const bool counted = std::any_of(rows.begin(), rows.end(),
                                   [](const auto* row) { return Value(row->total_rows()) != 0; });
  add("calls", [](const v1::WorkloadGroup& row) { return absl::StrCat(row.calls()); });
  if (timed) {
    add_duration("total", [](const v1::WorkloadGroup& row) {
      return static_cast<double>(Value(row.total_duration_us()));
    });
    add("share", [all](const v1::WorkloadGroup& row) {
      const auto total = static_cast<double>(Value(row.total_duration_us()));
      return row.timed_calls() == 0 ? std::string("-")
                                    : absl::StrFormat("%.1f%%", all > 0 ? total / all * 100 : 0.0);
    });
    add_duration("mean", [](const v1::WorkloadGroup& row) {
      return static_cast<double>(Value(row.total_duration_us())) /
             static_cast<double>(row.timed_calls());
    });
    for (int i = 0; i < report.quantiles_size(); ++i) {
      add_duration(QuantileName(report.quantiles(i)), [i](const v1::WorkloadGroup& row) {
        return i < row.duration_quantiles_us_size()
                   ? static_cast<double>(row.duration_quantiles_us(i))
                   : 0.0;
      });
    }
    add_duration("max", [](const v1::WorkloadGroup& row) {
      return static_cast<double>(row.max_duration_us());
    });
  }
  if (counted) add("rows", [](const v1::WorkloadGroup& row) { return Decimal(row.total_rows()); });
  return columns;
}

void WriteTable(const v1::WorkloadReport& report, Output& out) {
  std::vector<const v1::WorkloadGroup*> rows;
  for (const v1::WorkloadGroup& group : report.groups()) rows.push_back(&group);
  const bool other = report.has_other() && report.other().calls() > 0;
  if (other) rows.push_back(&report.other());

  std::vector<Column> columns = NumberColumns(report, rows);
  const auto add_key = [&](v1::WorkloadKey key, const char* title, const auto& cell) {
    if (!HasKey(report, key)) return;
    Column column{title, true, {}};
    for (const v1::WorkloadGroup* row : rows) {
      column.cells.push_back(other && row == rows.back() ? std::string() : cell(*row));
    }
    columns.push_back(std::move(column));
  };
  const auto name = [](const std::string& text) {
    return text.empty() ? std::string("(none)") : PrintableLine(text, kMostNameColumns);
  };
  add_key(v1::WORKLOAD_KEY_STATEMENT_TYPE, "statement",
          [&](const v1::WorkloadGroup& row) { return name(row.statement_type()); });
  add_key(v1::WORKLOAD_KEY_TABLE, "table",
          [&](const v1::WorkloadGroup& row) { return name(row.table()); });
  add_key(v1::WORKLOAD_KEY_FINGERPRINT, "fingerprint",
          [](const v1::WorkloadGroup& row) { return FingerprintHex(row.fingerprint()); });
  // What is left of the line is the query's; without queries, it says at least what "other" is.
  Column query{HasKey(report, v1::WORKLOAD_KEY_FINGERPRINT) ? "query" : "", true, {}};
  std::vector<int> widths;
  int used = 0;
  for (const Column& column : columns) {
    int width = DisplayWidth(column.title);
    for (const std::string& cell : column.cells) width = std::max(width, DisplayWidth(cell));
    widths.push_back(width);
    used += width + 2;
  }
  const int left = std::max(out.width() - used, kFewestQueryColumns);
  for (const v1::WorkloadGroup* row : rows) {
    query.cells.push_back(
        other && row == rows.back()
            ? absl::StrCat("(other: at least ", report.other_groups(), " more groups)")
            : PrintableLine(OneLine(row->normalized_query()), left));
  }

  const auto line = [&](const auto& text_of) {
    std::string text;
    for (size_t i = 0; i < columns.size(); ++i) {
      absl::StrAppend(&text, Padded(text_of(columns[i]), widths[i], columns[i].left), "  ");
    }
    text += text_of(query);
    text.erase(text.find_last_not_of(' ') + 1);
    return out.Write(text + "\n");
  };
  if (!rows.empty()) line([](const Column& column) { return column.title; });
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!line([i](const Column& column) { return column.cells[i]; })) return;
  }
  out.Write(absl::StrCat(
      report.queries(), report.queries() == 1 ? " query" : " queries",
      report.errors() == 0 ? std::string()
                           : absl::StrCat(", ", report.errors(), " of them not parsed"),
      ", ", report.groups_size(), report.groups_size() == 1 ? " group" : " groups", "; grammar ",
      report.grammar(),
      absl::StrFormat("; quantiles within %.2g %%\n", report.quantile_error() * 100)));
}

// ---- CSV ----

// A field, quoted where it must be.
std::string Field(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

void WriteCsv(const v1::WorkloadReport& report, Output& out) {
  const bool fingerprint = HasKey(report, v1::WORKLOAD_KEY_FINGERPRINT);
  const bool type = HasKey(report, v1::WORKLOAD_KEY_STATEMENT_TYPE);
  const bool table = HasKey(report, v1::WORKLOAD_KEY_TABLE);
  std::string line = "row";
  const auto add = [&line](std::string_view field) {
    line.push_back(',');
    line.append(field);
  };
  const auto end = [&] {
    line.push_back('\n');
    const bool more = out.Write(line);
    line.clear();
    return more;
  };
  if (fingerprint) add("fingerprint");
  if (type) add("statement_type");
  if (table) add("table");
  add("calls,timed_calls,total_duration_us,min_duration_us,max_duration_us,mean_duration_us");
  for (const double q : report.quantiles()) add(QuantileName(q) + "_duration_us");
  add("total_rows,first_index,last_index");
  if (fingerprint) add("normalized_query");
  if (!end()) return;

  const auto write = [&](const v1::WorkloadGroup& group, const char* row) {
    const bool is_group = std::string_view(row) == "group";
    const bool timed = group.timed_calls() > 0;
    line = row;
    if (fingerprint) add(is_group ? FingerprintHex(group.fingerprint()) : std::string());
    if (type) add(Field(group.statement_type()));
    if (table) add(Field(group.table()));
    add(absl::StrCat(group.calls()));
    add(absl::StrCat(group.timed_calls()));
    add(timed ? Decimal(group.total_duration_us()) : std::string());
    for (const uint64_t duration :
         {group.min_duration_us(), group.max_duration_us(), group.mean_duration_us()}) {
      add(timed ? absl::StrCat(duration) : std::string());
    }
    for (int i = 0; i < report.quantiles_size(); ++i) {
      add(i < group.duration_quantiles_us_size() ? absl::StrCat(group.duration_quantiles_us(i))
                                                 : std::string());
    }
    add(Decimal(group.total_rows()));
    add(absl::StrCat(group.first_index()));
    add(absl::StrCat(group.last_index()));
    if (fingerprint) add(Field(group.normalized_query()));
    return end();
  };
  for (const v1::WorkloadGroup& group : report.groups()) {
    if (!write(group, "group")) return;
  }
  if (report.has_other() && report.other().calls() > 0) write(report.other(), "other");
}

absl::Status WriteJson(const v1::WorkloadReport& report, Output& out) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(report, &json, options).ok()) {
    return MakeError(Reason::kInternal, "the report cannot be written as JSON");
  }
  out.Write(json);
  out.Write("\n");
  return absl::OkStatus();
}

}  // namespace

std::string ShortDuration(double microseconds) {
  struct Unit {
    const char* name;
    double microseconds;
    double up_to;  // shown so far below this, rounding included
  };
  constexpr Unit kUnits[] = {
      {"us", 1, 999.5}, {"ms", 1e3, 999'500}, {"s", 1e6, 99.95e6}, {"min", 60e6, 99.95 * 60e6}};
  const auto text = [](double value, const char* unit) {
    // Three digits; microseconds are whole mostly.
    const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return absl::StrFormat("%.*f %s", digits, value, unit);
  };
  if (microseconds < 999.5 && microseconds == static_cast<double>(static_cast<int>(microseconds))) {
    return absl::StrFormat("%.0f us", microseconds);
  }
  for (const Unit& unit : kUnits) {
    if (microseconds < unit.up_to) return text(microseconds / unit.microseconds, unit.name);
  }
  return text(microseconds / 3600e6, "h");
}

std::string Decimal(const v1::Sum128& sum) {
  absl::uint128 value = Value(sum);
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

absl::Status WriteReport(const v1::WorkloadReport& report, ReportFormat format, Output& out) {
  switch (format) {
    case ReportFormat::kTable:
      WriteTable(report, out);
      return absl::OkStatus();
    case ReportFormat::kCsv:
      WriteCsv(report, out);
      return absl::OkStatus();
    case ReportFormat::kJson:
      return WriteJson(report, out);
    case ReportFormat::kProtobuf:
      break;
  }
  if (out.is_terminal()) {
    return MakeError(Reason::kInvalidRequest,
                     "A protobuf report is binary and not for a terminal: redirect it (> FILE), or "
                     "choose another format");
  }
  out.Write(report.SerializeAsString());
  return absl::OkStatus();
}

absl::StatusOr<v1::WorkloadReport> ReadReportFile(const std::string& path) {
  const absl::StatusOr<Input> input =
      ReadInput(std::nullopt, path, "pgparse: reading a workload report from the terminal");
  if (!input.ok()) return input.status();
  const auto refuse = [&](const char* why) {
    return MakeError(Reason::kInvalidRequest, absl::StrCat(input->label, ": ", why));
  };
  const size_t first = input->text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return refuse("it is empty and no workload report");
  v1::WorkloadReport report;
  // No serialized report begins with a brace, nor with white space before one.
  if (input->text[first] == '{') {
    if (!google::protobuf::util::JsonStringToMessage(input->text, &report).ok()) {
      return refuse("it is JSON, but no workload report as `pgparse workload --json` writes it");
    }
  } else if (!report.ParseFromString(input->text)) {
    return refuse("it is no workload report, neither as JSON nor as protobuf");
  }
  if (report.keys_size() == 0) return refuse("it is no workload report: it has no keys");
  return report;
}

}  // namespace pgparsed::cli
