#include "grammar/deparse.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>

#include "grammar/library_options.h"
#include "grammar/parsed_query.h"
#include "grammar/tree_compare.h"
#include "grammar/tree_fault.h"
#include "grammar/tree_writer.h"
#include "grammar/wire.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"

namespace pgparsed::grammar {
namespace {

#if PGPARSED_GRAMMAR >= 17

// Everything below up to DeparseStatements runs guarded: memory comes from palloc only.

#if PGPARSED_GRAMMAR >= 18

bool RunsToEndOfLine(const char* comment) { return comment[0] == '-' && comment[1] == '-'; }

// Copies comments for the deparser. One that runs to the end of its line must be followed by a
// line break, whoever made it.
PostgresDeparseComment** CopyComments(const std::vector<Comment>& comments) {
  auto** copies = static_cast<PostgresDeparseComment**>(
      palloc0((comments.size() + 1) * sizeof(PostgresDeparseComment*)));
  for (size_t i = 0; i < comments.size(); ++i) {
    auto* copy = static_cast<PostgresDeparseComment*>(palloc0(sizeof(PostgresDeparseComment)));
    copy->match_location = std::max(comments[i].match_location, 0);
    copy->newlines_before_comment = static_cast<int>(comments[i].newlines_before);
    copy->newlines_after_comment = static_cast<int>(comments[i].newlines_after);
    copy->str = static_cast<char*>(palloc0(comments[i].text.size() + 1));
    std::memcpy(copy->str, comments[i].text.data(), comments[i].text.size());
    if (RunsToEndOfLine(copy->str) && copy->newlines_after_comment == 0) {
      copy->newlines_after_comment = 1;
    }
    copies[i] = copy;
  }
  return copies;
}

// Whether the text's last line may end in a comment that would swallow what follows. A "--" in a
// literal counts too: a line break is harmless there.
bool LastLineHasDashes(StringInfo text) {
  const char* line = std::strrchr(text->data, '\n');
  return std::strstr(line != nullptr ? line : text->data, "--") != nullptr;
}

void TrimEnd(StringInfo text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n'; };
  while (text->len > 0 && is_space(text->data[text->len - 1])) text->data[--text->len] = '\0';
}

void PrintAll(const List* statements, const Layout& layout,
              const std::vector<Comment>& all_comments, StringInfo out) {
  PostgresDeparseComment** comments = CopyComments(all_comments);
  PostgresDeparseOpts options = {};
  options.comments = static_cast<PostgresDeparseComment**>(
      palloc0((all_comments.size() + 1) * sizeof(PostgresDeparseComment*)));
  options.pretty_print = layout.pretty;
  options.indent_size = static_cast<int>(layout.indent_size);
  options.max_line_length = static_cast<int>(layout.max_line_length);
  options.commas_start_of_line = layout.commas_start_of_line;

  const int count = list_length(statements);
  int64_t begin = 0;  // of the comments that belong to a statement
  for (int i = 0; i < count; ++i) {
    auto* statement = static_cast<RawStmt*>(list_nth(statements, i));
    const bool last = i + 1 == count;
    const int64_t end =
        last ? INT64_MAX
             : std::max(begin, int64_t{statement->stmt_location} + int64_t{statement->stmt_len});
    options.comment_count = 0;
    for (size_t k = 0; k < all_comments.size(); ++k) {
      const int64_t at = comments[k]->match_location;
      if (at >= begin && at < end) options.comments[options.comment_count++] = comments[k];
    }
    begin = end;
    options.trailing_newline = last && layout.trailing_newline;

    StringInfoData text;
    initStringInfo(&text);
    deparseRawStmtOpts(&text, statement, &options);
    // The break between statements stands for the one in front of a comment.
    const size_t skipped = layout.pretty && i > 0 ? std::strspn(text.data, " \n") : 0;
    if (!last) {
      if (layout.pretty) TrimEnd(&text);
      if (options.comment_count > 0 && LastLineHasDashes(&text)) appendStringInfoChar(&text, '\n');
    }
    appendStringInfoString(out, text.data + skipped);
    if (!last) appendStringInfoString(out, layout.pretty ? ";\n\n" : "; ");
    pfree(text.data);
  }

  if (count == 0) {
    for (size_t k = 0; k < all_comments.size(); ++k) {
      if (k > 0) appendStringInfoChar(out, '\n');
      appendStringInfoString(out, comments[k]->str);
    }
    if (layout.trailing_newline && out->len > 0) appendStringInfoChar(out, '\n');
  }
  // The break that CopyComments added behind a comment at the very end.
  if (!layout.trailing_newline && !all_comments.empty() &&
      all_comments.back().newlines_after == 0 && out->len > 0 && out->data[out->len - 1] == '\n') {
    out->data[--out->len] = '\0';
  }
}

#else

// libpg_query 17 crashes on SET STATISTICS DEFAULT. It gets a number instead that nobody writes
// (statistics go up to 10,000), and the text gets its word back.
constexpr int kNoNumber = -2147483646;
constexpr char kNoStatistics[] = "SET STATISTICS -2147483646";

// Puts `value` where ALTER TABLE's SET STATISTICS has `present` instead of it. Returns how often.
int ReplaceStatistics(RawStmt* statement, const Node* present, Node* value) {
  int replaced = 0;
  if (statement->stmt == nullptr || !IsA(statement->stmt, AlterTableStmt)) return replaced;
  ListCell* cell;
  foreach (cell, reinterpret_cast<AlterTableStmt*>(statement->stmt)->cmds) {
    auto* command = static_cast<AlterTableCmd*>(lfirst(cell));
    if (command == nullptr || !IsA(command, AlterTableCmd)) continue;
    if (command->subtype != AT_SetStatistics || command->def != present) continue;
    command->def = value;
    ++replaced;
  }
  return replaced;
}

void PrintStatement(RawStmt* statement, StringInfo out) {
  auto* number = reinterpret_cast<Node*>(makeInteger(kNoNumber));
  if (ReplaceStatistics(statement, nullptr, number) == 0) return deparseRawStmt(out, statement);
  StringInfoData text;
  initStringInfo(&text);
  deparseRawStmt(&text, statement);
  ReplaceStatistics(statement, number, nullptr);
  const char* rest = text.data;
  while (const char* found = std::strstr(rest, kNoStatistics)) {
    appendBinaryStringInfo(out, rest, static_cast<int>(found - rest));
    appendStringInfoString(out, "SET STATISTICS DEFAULT");
    rest = found + std::strlen(kNoStatistics);
  }
  appendStringInfoString(out, rest);
}

void PrintAll(const List* statements, const Layout&, const std::vector<Comment>&, StringInfo out) {
  const int count = list_length(statements);
  for (int i = 0; i < count; ++i) {
    if (i > 0) appendStringInfoString(out, "; ");
    PrintStatement(static_cast<RawStmt*>(list_nth(statements, i)), out);
  }
}

#endif

#endif

#if PGPARSED_GRAMMAR < 18

// libpg_query before 18 dereferences the NULL that protobuf-c gives for malformed bytes.
bool IsWellFormed(std::string_view tree) {
  auto* message = pg_query__parse_result__unpack(nullptr, tree.size(),
                                                 reinterpret_cast<const uint8_t*>(tree.data()));
  if (message == nullptr) return false;
  pg_query__parse_result__free_unpacked(message, nullptr);
  return true;
}

#endif

// Field numbers differ between grammars: a tree of another one would be read as nonsense. A tree
// that does not say its version is taken.
std::optional<GrammarError> CheckVersion(std::string_view tree) {
  constexpr uint32_t kVersionField = 1;  // of pg_query.ParseResult
  WireReader reader(tree);
  while (reader.Next()) {
    if (reader.field() != kVersionField || reader.number() == 0) continue;
    if (IsOtherGrammar(reader.number())) return OtherGrammar(reader.number());
  }
  return std::nullopt;
}

PgQueryProtobuf AsLibraryProtobuf(std::string_view tree) {
  PgQueryProtobuf protobuf = {};
  protobuf.len = tree.size();
  protobuf.data = const_cast<char*>(tree.data());
  return protobuf;
}

std::optional<GrammarError> CheckComments(const std::vector<Comment>& comments) {
  if (kFeatures.comments || comments.empty()) return std::nullopt;
  return MakeGrammarError(Reason::kUnsupportedOption,
                          "this grammar cannot print comments: leave them out");
}

}  // namespace

#if PGPARSED_GRAMMAR >= 17

static Result<std::string_view> DeparseStatements(LibraryScope& scope, void* statements,
                                                  const Layout& layout,
                                                  const std::vector<Comment>& comments,
                                                  std::vector<LibraryText>&) {
  StringInfoData out = {};
  auto error = RunGuarded(scope.memory_context(), Reason::kInvalidTree, [&] {
    initStringInfo(&out);
    PrintAll(static_cast<const List*>(statements), layout, comments, &out);
  });
  if (error) return *std::move(error);
  return std::string_view(out.data, static_cast<size_t>(out.len));
}

Result<std::string_view> DeparseByLibrary(LibraryScope& scope, std::string_view tree,
                                          const Layout& layout,
                                          const std::vector<Comment>& comments,
                                          std::vector<LibraryText>& results) {
  if (auto error = CheckLayout(layout)) return *error;
  if (auto error = CheckComments(comments)) return *error;
  if (auto error = CheckVersion(tree)) return *error;
#if PGPARSED_GRAMMAR < 18
  if (!IsWellFormed(tree)) {
    return MakeGrammarError(Reason::kInvalidTree,
                            "the tree is no serialized pg_query.ParseResult of this grammar");
  }
#endif
  List* statements = nullptr;
  auto error = RunGuarded(scope.memory_context(), Reason::kInvalidTree, [&] {
    statements = pg_query_protobuf_to_nodes(AsLibraryProtobuf(tree));
  });
  if (error) return *std::move(error);
  return DeparseStatements(scope, statements, layout, comments, results);
}

#else

// `tree` is protobuf that protobuf-c takes.
static Result<std::string_view> DeparseWellFormed(std::string_view tree,
                                                  std::vector<LibraryText>& results) {
  const PgQueryDeparseResult result = pg_query_deparse_protobuf(AsLibraryProtobuf(tree));
  if (result.error != nullptr) {
    GrammarError error = FromLibrary(*result.error, Reason::kInvalidTree);
    pg_query_free_deparse_result(result);
    return error;
  }
  results.emplace_back(result.query, std::strlen(result.query));
  return results.back().view();
}

Result<std::string_view> DeparseByLibrary(LibraryScope&, std::string_view tree,
                                          const Layout& layout,
                                          const std::vector<Comment>& comments,
                                          std::vector<LibraryText>& results) {
  if (auto error = CheckLayout(layout)) return *error;
  if (auto error = CheckComments(comments)) return *error;
  if (auto error = CheckVersion(tree)) return *error;
  if (!IsWellFormed(tree)) {
    return MakeGrammarError(Reason::kInvalidTree,
                            "the tree is no serialized pg_query.ParseResult of this grammar");
  }
  return DeparseWellFormed(tree, results);
}

// A List of RawStmt as a serialized tree.
static Result<LibraryText> Serialize(const void* statements) {
  const text::PositionIndex bytes("", text::Encoding::kUtf8);
  size_t size = 64u << 10;
  for (;;) {
    LibraryText memory(static_cast<char*>(std::malloc(size)), size);
    if (memory.view().data() == nullptr) {
      return MakeGrammarError(Reason::kParserMemoryLimit, "out of memory");
    }
    char* region = const_cast<char*>(memory.view().data());
    const auto tree = WriteProtobuf(statements, bytes, {region, size});
    if (!tree.ok()) return tree.error();
    const uint64_t written = tree.value().bytes;
    if (written > size) {
      size = written + 64;
      continue;
    }
    auto* front = static_cast<char*>(std::malloc(written + 1));
    if (front == nullptr) return MakeGrammarError(Reason::kParserMemoryLimit, "out of memory");
    std::memcpy(front, region + size - written, written);
    return LibraryText(front, written);
  }
}

// The archive exports the deparser behind the protobuf reader only.
static Result<std::string_view> DeparseStatements(LibraryScope&, const void* statements,
                                                  const Layout&, const std::vector<Comment>&,
                                                  std::vector<LibraryText>& results) {
  const auto tree = Serialize(statements);
  if (!tree.ok()) return tree.error();
  return DeparseWellFormed(tree.value().view(), results);
}

#endif

namespace {

#if PGPARSED_GRAMMAR < 18

// COPY takes any value for any option; the deparser takes these to be what they should be.
bool HasPrintableValue(const DefElem& option) {
  const auto is_any_of = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return std::strcmp(option.defname, name) == 0; });
  };
  const auto has = [&](NodeTag tag) { return option.arg != nullptr && nodeTag(option.arg) == tag; };
  if (is_any_of({"force_quote"})) return has(T_List) || has(T_A_Star);
  if (is_any_of({"force_not_null", "force_null"})) {
    return has(T_List) || (PGPARSED_GRAMMAR >= 17 && has(T_A_Star));
  }
  if (is_any_of({"delimiter", "encoding", "escape", "format", "null", "quote"})) {
    return has(T_String);
  }
  return true;
}

#endif

// Why the grammar's deparser does not survive a statement that the parser makes; nullptr if it
// does.
const char* CannotPrint(const Node* statement) {
  if (statement == nullptr) return nullptr;
#if PGPARSED_GRAMMAR < 18
  const ListCell* cell;
  if (IsA(statement, CreateFunctionStmt)) {  // BEGIN ATOMIC … END: a list of a list of statements
    const Node* body = reinterpret_cast<const CreateFunctionStmt*>(statement)->sql_body;
    if (body == nullptr || !IsA(body, List)) return nullptr;
    foreach (cell, static_cast<const List*>(linitial(reinterpret_cast<const List*>(body)))) {
      const char* reason = CannotPrint(static_cast<const Node*>(lfirst(cell)));
      if (reason != nullptr) return reason;
    }
  }
  if (IsA(statement, CopyStmt)) {
    foreach (cell, reinterpret_cast<const CopyStmt*>(statement)->options) {
      if (!HasPrintableValue(*static_cast<const DefElem*>(lfirst(cell)))) {
        return "this grammar's deparser cannot print an option of COPY without a value, or with "
               "one "
               "of another kind than it has";
      }
    }
  }
#endif
#if PGPARSED_GRAMMAR == 15
  // The tree goes through protobuf, which has no empty strings.
  const auto is_empty = [](const char* text) { return text != nullptr && *text == '\0'; };
  bool loses_text = false;
  if (IsA(statement, TransactionStmt)) {
    loses_text = is_empty(reinterpret_cast<const TransactionStmt*>(statement)->gid);
  } else if (IsA(statement, CreateConversionStmt)) {
    const auto& conversion = *reinterpret_cast<const CreateConversionStmt*>(statement);
    loses_text = is_empty(conversion.for_encoding_name) || is_empty(conversion.to_encoding_name);
  } else if (IsA(statement, LoadStmt)) {
    loses_text = is_empty(reinterpret_cast<const LoadStmt*>(statement)->filename);
  } else if (IsA(statement, AlterEnumStmt)) {
    loses_text = is_empty(reinterpret_cast<const AlterEnumStmt*>(statement)->newVal);
  }
  if (loses_text) return "this grammar's deparser cannot print an empty string there";
#endif
  return nullptr;
}

std::optional<GrammarError> CheckPrintable(const void* statements) {
  const ListCell* cell;
  foreach (cell, static_cast<const List*>(statements)) {
    const char* reason = CannotPrint(static_cast<const RawStmt*>(lfirst(cell))->stmt);
    if (reason != nullptr) return MakeGrammarError(Reason::kDeparseMismatch, reason);
  }
  return std::nullopt;
}

}  // namespace

Result<std::string_view> PrintStatements(LibraryScope& scope, void* statements,
                                         const Layout& layout, const std::vector<Comment>& comments,
                                         bool verify, std::vector<LibraryText>& results) {
  if (auto error = CheckLayout(layout)) return *error;
  if (auto error = CheckComments(comments)) return *error;
  if (auto error = CheckPrintable(statements)) return *error;
  auto printed = DeparseStatements(scope, statements, layout, comments, results);
  if (!printed.ok() || !verify) return printed;
  if (auto error = Verify(printed.value(), statements)) return *std::move(error);
  return printed;
}

std::optional<GrammarError> Verify(std::string_view printed, const void* statements) {
  const auto again = ParsedQuery::Parse(printed.data(), {});
  if (!again.ok()) {
    // The parser's own error speaks of a text that the caller never sees.
    const Reason reason = again.error().reason;
    if (reason == Reason::kNestingTooDeep) {
      return MakeGrammarError(reason,
                              "the grammar's deparser printed SQL that nests deeper than the "
                              "parser takes: it cannot be verified");
    }
    if (reason == Reason::kParserMemoryLimit) {
      return MakeGrammarError(reason, "out of memory while the printed SQL was verified");
    }
    return MakeGrammarError(Reason::kDeparseMismatch,
                            "the grammar's deparser printed SQL that the parser refuses");
  }
  const auto difference = FirstDifference(statements, again.value()->statements());
  if (!difference) return std::nullopt;
  return MakeGrammarError(
      Reason::kDeparseMismatch,
      "the grammar's deparser printed SQL that means something else at " + *difference);
}

}  // namespace pgparsed::grammar
