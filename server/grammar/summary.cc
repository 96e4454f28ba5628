// Summaries: the library's pg_query.SummaryResult made into a pgparsed.v1.Summary.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "grammar/library_options.h"
#include "grammar/operations.h"
#include "grammar/wire.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"

namespace pgparsed::grammar {

#if PGPARSED_GRAMMAR >= 18

namespace {

// The string fields 1 to 4 and, if field 4 is a number, that: all messages of a SummaryResult.
struct Entry {
  std::string_view text[5];
  uint64_t context = 0;
};

std::optional<Entry> ReadEntry(std::string_view message) {
  Entry entry;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() > 4) continue;
    entry.text[reader.field()] = reader.bytes();
    if (reader.field() == 4) entry.context = reader.number();
  }
  if (!reader.ok()) return std::nullopt;
  return entry;
}

// Equal entries folded into one with a count, in the order of their first appearance.
class Folded {
 public:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, uint64_t>;

  void Add(const Key& key) {
    const auto [found, is_new] = index_.emplace(key, entries_.size());
    if (is_new) entries_.push_back({key, 0});
    ++entries_[found->second].count;
  }

  struct Counted {
    Key key;
    uint64_t count;
  };
  const std::vector<Counted>& entries() const { return entries_; }

 private:
  std::map<Key, size_t> index_;
  std::vector<Counted> entries_;
};

// Tables and functions: schema = 1, name = 2, context = 3, count = 4.
void WriteNamed(uint32_t field, const Folded& folded, WireWriter& summary) {
  for (const auto& [key, count] : folded.entries()) {
    WireWriter entry;
    entry.Bytes(1, std::get<0>(key));
    entry.Bytes(2, std::get<1>(key));
    entry.Number(3, std::get<3>(key));
    entry.Number(4, count);
    summary.Element(field, entry.message());
  }
}

// Filter columns: schema = 1, table = 2, column = 3, count = 4.
void WriteFilterColumns(uint32_t field, const Folded& folded, WireWriter& summary) {
  for (const auto& [key, count] : folded.entries()) {
    WireWriter entry;
    entry.Bytes(1, std::get<0>(key));
    entry.Bytes(2, std::get<1>(key));
    entry.Bytes(3, std::get<2>(key));
    entry.Number(4, count);
    summary.Element(field, entry.message());
  }
}

// The values of SummaryResult.Context are those of pgparsed.v1.TableContext.
uint64_t Context(uint64_t context) { return context <= 4 ? context : 0; }

std::optional<std::string> Translate(std::string_view summary_result) {
  Folded tables;
  Folded functions;
  Folded filter_columns;
  // The library keeps aliases in a hash map: sorted, equal queries have equal summaries.
  std::map<std::string_view, std::string_view> aliases;
  std::vector<std::string_view> cte_names;
  std::vector<std::string_view> statement_types;
  std::string_view truncated_query;

  WireReader reader(summary_result);
  while (reader.Next()) {
    const auto entry = reader.field() <= 2 || reader.field() == 4 || reader.field() == 5
                           ? ReadEntry(reader.bytes())
                           : Entry{};
    if (!entry) return std::nullopt;
    const auto& text = entry->text;
    switch (reader.field()) {
      case 1:  // name, schema_name, table_name, context
        tables.Add({text[2], text[3], {}, Context(entry->context)});
        break;
      case 2:  // key, value
        aliases.emplace(text[1], text[2]);
        break;
      case 3:
        cte_names.push_back(reader.bytes());
        break;
      case 4:  // name, function_name, schema_name, context
        functions.Add({text[3], text[2], {}, Context(entry->context)});
        break;
      case 5:  // schema_name, table_name, column
        filter_columns.Add({text[1], text[2], text[3], 0});
        break;
      case 6:
        statement_types.push_back(reader.bytes());
        break;
      case 7:
        truncated_query = reader.bytes();
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return std::nullopt;

  WireWriter summary;
  WriteNamed(1, tables, summary);
  for (const auto& [alias, table] : aliases) {
    WireWriter entry;
    entry.Bytes(1, alias);
    entry.Bytes(2, table);
    summary.Element(2, entry.message());
  }
  for (const std::string_view name : cte_names) summary.Element(3, name);
  WriteNamed(4, functions, summary);
  WriteFilterColumns(5, filter_columns, summary);
  for (const std::string_view type : statement_types) summary.Element(6, type);
  summary.Bytes(7, truncated_query);
  return summary.message();
}

}  // namespace

Result<std::string> Summarize(const char* sql, const ParserOptions& options,
                              uint32_t truncate_limit) {
  const int limit = truncate_limit == 0 ? -1 : static_cast<int>(std::min(truncate_limit, 1u << 30));
  const PgQuerySummaryParseResult result = pg_query_summary(sql, ParserFlags(options), limit);
  std::optional<GrammarError> error;
  std::optional<std::string> summary;
  if (result.error != nullptr) {
    error = FromLibrary(*result.error, Reason::kSqlSyntaxError);
  } else {
    summary = Translate({result.summary.data, result.summary.len});
  }
  pg_query_free_summary_parse_result(result);
  if (error) return *std::move(error);
  if (!summary) return MakeGrammarError(Reason::kInternal, "the library's summary is malformed");
  return *std::move(summary);
}

#else

Result<std::string> Summarize(const char*, const ParserOptions&, uint32_t) {
  return MakeGrammarError(Reason::kUnimplemented,
                          "this build summarizes with grammar 18 only: ask for that one");
}

#endif

}  // namespace pgparsed::grammar
