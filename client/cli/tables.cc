#include "cli/tables.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/json_output.h"
#include "cli/units.h"
#include "cli/utf8_display.h"

namespace pgparsed::cli {
namespace {

// Columns of SQL beside a table of numbers.
constexpr int kTextColumns = 60;

}  // namespace

void WriteTokens(const v1::TokenColumns& tokens, std::string_view query,
                 v1::PositionEncoding positions, Output& out) {
  int names_width = 5;
  for (const std::string& name : tokens.names()) {
    names_width = std::max(names_width, static_cast<int>(name.size()));
  }
  out.Write(absl::StrFormat("%8s %8s  %-*s  %-14s  %s\n", "start", "end", names_width, "token",
                            "keyword", "text"));
  ByteMapper mapper(query, positions);
  for (int i = 0; i < tokens.start_size() && i < tokens.end_size(); ++i) {
    const size_t begin = mapper.ByteOf(tokens.start(i));
    const size_t end = mapper.ByteOf(tokens.end(i));
    const bool named =
        i < tokens.name_size() && tokens.name(i) < static_cast<uint32_t>(tokens.names_size());
    const std::string name = named ? tokens.names(static_cast<int>(tokens.name(i))) : "?";
    const std::string keyword =
        i < tokens.keyword_kind_size() ? KeywordName(tokens.keyword_kind(i)) : std::string();
    const std::string_view text = query.substr(begin, end - begin);
    if (!out.Write(absl::StrFormat("%8d %8d  %-*s  %-14s  %s\n", tokens.start(i), tokens.end(i),
                                   names_width, name, keyword,
                                   PrintableLine(text, kTextColumns)))) {
      return;
    }
  }
}

void WritePieces(const v1::PieceColumns& pieces, std::string_view query,
                 v1::PositionEncoding positions, Output& out) {
  out.Write(absl::StrFormat("%6s %7s %9s %9s  %-12s  %s\n", "#", "line", "start", "length", "kind",
                            "text"));
  ByteMapper mapper(query, positions);
  for (int i = 0; i < pieces.start_size() && i < pieces.length_size(); ++i) {
    if (i < pieces.kind_size() && pieces.kind(i) == v1::PIECE_KIND_BETWEEN) continue;
    const size_t begin = mapper.ByteOf(pieces.start(i));
    const size_t end = mapper.ByteOf(uint64_t{pieces.start(i)} + pieces.length(i));
    std::string_view text = query.substr(begin, end - begin);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const std::string kind =
        PieceName(i < pieces.kind_size() ? pieces.kind(i) : v1::PIECE_KIND_STATEMENT);
    if (!out.Write(absl::StrFormat("%6d %7d %9d %9d  %-12s  %s\n", i + 1,
                                   i < pieces.line_size() ? pieces.line(i) : 0, pieces.start(i),
                                   pieces.length(i), kind, PrintableLine(text, kTextColumns)))) {
      return;
    }
  }
  if (pieces.incomplete()) out.Write("the text ends inside the last one\n");
}

void WriteComments(const google::protobuf::RepeatedPtrField<v1::Comment>& comments, Output& out) {
  out.Write(absl::StrFormat("%14s %7s %7s  %s\n", "match_location", "before", "after", "text"));
  for (const v1::Comment& comment : comments) {
    out.Write(absl::StrFormat("%14d %7d %7d  %s\n", comment.match_location(),
                              comment.newlines_before(), comment.newlines_after(),
                              PrintableLine(comment.text(), kTextColumns)));
  }
}

void WriteSummary(const v1::Summary& summary, Output& out) {
  const auto qualified = [](const std::string& schema, const std::string& name) {
    return Printable(schema.empty() ? name : absl::StrCat(schema, ".", name));
  };
  const auto context = [](v1::TableContext value) {
    switch (value) {
      case v1::TABLE_CONTEXT_SELECT:
        return " (read)";
      case v1::TABLE_CONTEXT_DML:
        return " (written)";
      case v1::TABLE_CONTEXT_DDL:
        return " (defined)";
      case v1::TABLE_CONTEXT_CALL:
        return " (called)";
      default:
        return "";
    }
  };
  const auto times = [](uint32_t count) {
    return count > 1 ? absl::StrCat(" x ", count) : std::string();
  };
  const auto list = [&out](const char* title, const std::vector<std::string>& entries) {
    if (entries.empty()) return;
    out.Write(absl::StrCat(title, ":\n"));
    for (const std::string& entry : entries) out.Write(absl::StrCat("  ", entry, "\n"));
  };
  std::vector<std::string> statements, tables, aliases, ctes, functions, columns;
  for (const auto& type : summary.statement_types()) statements.push_back(Printable(type));
  for (const auto& table : summary.tables()) {
    tables.push_back(absl::StrCat(qualified(table.schema(), table.name()), context(table.context()),
                                  times(table.count())));
  }
  for (const auto& alias : summary.aliases()) {
    aliases.push_back(absl::StrCat(Printable(alias.alias()), " = ", Printable(alias.table())));
  }
  for (const auto& name : summary.cte_names()) ctes.push_back(Printable(name));
  for (const auto& function : summary.functions()) {
    functions.push_back(absl::StrCat(qualified(function.schema(), function.name()),
                                     context(function.context()), times(function.count())));
  }
  for (const auto& column : summary.filter_columns()) {
    columns.push_back(absl::StrCat(
        column.table().empty() ? "" : absl::StrCat(qualified(column.schema(), column.table()), "."),
        Printable(column.column()), times(column.count())));
  }
  list("statements", statements);
  list("tables", tables);
  list("aliases", aliases);
  list("common table expressions", ctes);
  list("functions", functions);
  list("columns in conditions", columns);
  if (!summary.truncated_query().empty()) list("query", {Printable(summary.truncated_query())});
}

void WriteGrammars(const v1::ListGrammarsResponse& response, Output& out) {
  out.Write(absl::StrFormat("%-8s %-11s %-12s %-15s %7s  %s\n", "grammar", "PostgreSQL",
                            "libpg_query", "allocator", "workers", "extras"));
  for (const v1::Grammar& grammar : response.grammars()) {
    const v1::GrammarFeatures& features = grammar.features();
    std::string extras;
    const auto add = [&](bool has, const char* name) {
      if (has) absl::StrAppend(&extras, extras.empty() ? "" : ", ", name);
    };
    add(features.parser_options(), "parser options");
    add(features.fingerprint_options(), "fingerprint options");
    add(features.pretty_print(), "pretty print");
    add(features.comments(), "comments");
    add(features.normalize_utility(), "utility-only");
    add(features.summary(), "summary");
    out.Write(absl::StrFormat("%-8s %-11s %-12s %-15s %7d  %s\n",
                              absl::StrCat(grammar.major(), grammar.is_default() ? "*" : ""),
                              Printable(grammar.postgres_version()),
                              Printable(grammar.library_version()), Printable(grammar.allocator()),
                              grammar.workers(), extras));
  }
  const v1::Limits& limits = response.limits();
  out.Write(absl::StrCat("* answers by default\npgparsed ", Printable(response.server_version()),
                         "; limits: query ", limits.max_query_bytes(), " bytes, result ",
                         limits.max_unary_result_bytes(), " bytes, job ", limits.max_job_ms(),
                         " ms\n"));
}

}  // namespace pgparsed::cli
