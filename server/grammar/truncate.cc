#include "grammar/truncate.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/deparse.h"
#include "grammar/expression_children.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"

extern "C" {
#include "nodes/makefuncs.h"
}

namespace pgparsed::grammar {
namespace {

// What can be left out of a statement.
enum class Part : uint8_t { kTargets, kAssignments, kFilter, kValues, kColumns, kCteQuery };

struct Truncation {
  void** place;  // in the tree
  Part part;
  uint32_t statement;  // index
  int32_t depth;
  int32_t length;  // of what is printed for it
};

// The name that stands for what is left out, until the text is printed.
#define PGPARSED_ELLIPSIS "\xe2\x80\xa6"
constexpr std::string_view kPlaceholder = "\"" PGPARSED_ELLIPSIS "\"";
constexpr char kPlaceholderName[] = PGPARSED_ELLIPSIS;
#undef PGPARSED_ELLIPSIS
constexpr std::string_view kDots = "...";

template <typename Struct>
Struct* Make(NodeTag tag) {
  auto* node = static_cast<Struct*>(palloc0(sizeof(Struct)));
  reinterpret_cast<Node*>(node)->type = tag;
  return node;
}

// What stands in the tree for what is left out, and statements around a part alone. Made inside
// RunGuarded.
struct Placeholders {
  ColumnRef* column;
  List* targets;
  List* values;
  SelectStmt* query;

  SelectStmt* select;
  UpdateStmt* update;
  InsertStmt* insert;
  RawStmt* statement;
  List* statements;  // `statement`

  void Make() {
    column = grammar::Make<ColumnRef>(T_ColumnRef);
    auto* name = grammar::Make<String>(T_String);
    name->sval = const_cast<char*>(kPlaceholderName);
    column->fields = list_make1(name);
    auto* target = grammar::Make<ResTarget>(T_ResTarget);
    target->name = name->sval;
    target->val = reinterpret_cast<Node*>(column);
    targets = list_make1(target);
    values = list_make1(list_make1(column));
    query = grammar::Make<SelectStmt>(T_SelectStmt);
    query->whereClause = reinterpret_cast<Node*>(column);

    auto* table = grammar::Make<RangeVar>(T_RangeVar);
    table->relname = const_cast<char*>("x");
    table->inh = true;
    table->relpersistence = 'p';
    select = grammar::Make<SelectStmt>(T_SelectStmt);
    update = grammar::Make<UpdateStmt>(T_UpdateStmt);
    update->relation = table;
    insert = grammar::Make<InsertStmt>(T_InsertStmt);
    insert->relation = table;
    // As the library, which counts the words for it, too.
    insert->override = OVERRIDING_USER_VALUE;
    statement = grammar::Make<RawStmt>(T_RawStmt);
    statements = list_make1(statement);
  }

  void* For(Part part) const {
    switch (part) {
      case Part::kTargets:
      case Part::kAssignments:
      case Part::kColumns:
        return targets;
      case Part::kFilter:
        return column;
      case Part::kValues:
        return values;
      case Part::kCteQuery:
        return query;
    }
    return nullptr;
  }
};

// The parts of the statements that can be left out, in the order of the library's walk, which also
// says what their depth is.
class TruncationFinder {
 public:
  explicit TruncationFinder(void* memory_context) : children_(memory_context) {}

  // Inside RunGuarded.
  void Find(void* statements) {
    stack_.push_back({statements, 0});
    while (!stack_.empty()) {
      const Entry entry = stack_.back();
      stack_.pop_back();
      if (IsA(entry.node, RawStmt)) {
        ++statements_seen_;
        auto* statement = static_cast<RawStmt*>(entry.node);
        if (statement->stmt != nullptr) stack_.push_back({statement->stmt, entry.depth});
        continue;
      }
      depth_ = entry.depth;
      Visit(entry.node);
      const auto children = children_.Of(entry.node);
      for (size_t i = children.size(); i > 0; --i) {
        stack_.push_back({const_cast<void*>(children[i - 1]), entry.depth + 1});
      }
    }
  }

  std::vector<Truncation>& truncations() { return truncations_; }
  const std::optional<GrammarError>& error() const { return children_.error(); }

 private:
  struct Entry {
    void* node;
    int32_t depth;
  };

  template <typename Pointer>
  void Add(Part part, Pointer*& place) {
    if (place == nullptr) return;
    truncations_.push_back({.place = reinterpret_cast<void**>(&place),
                            .part = part,
                            .statement = statements_seen_ - 1,
                            .depth = depth_,
                            .length = 0});
  }

  void Visit(void* node) {
    switch (nodeTag(node)) {
      case T_SelectStmt: {
        auto* select = static_cast<SelectStmt*>(node);
        Add(Part::kTargets, select->targetList);
        Add(Part::kFilter, select->whereClause);
        return Add(Part::kValues, select->valuesLists);
      }
      case T_InsertStmt:
        return Add(Part::kColumns, static_cast<InsertStmt*>(node)->cols);
      case T_UpdateStmt:
        Add(Part::kAssignments, static_cast<UpdateStmt*>(node)->targetList);
        return Add(Part::kFilter, static_cast<UpdateStmt*>(node)->whereClause);
      case T_DeleteStmt:
        return Add(Part::kFilter, static_cast<DeleteStmt*>(node)->whereClause);
      case T_CopyStmt:
        return Add(Part::kFilter, static_cast<CopyStmt*>(node)->whereClause);
      case T_IndexStmt:
        return Add(Part::kFilter, static_cast<IndexStmt*>(node)->whereClause);
      case T_RuleStmt:
        return Add(Part::kFilter, static_cast<RuleStmt*>(node)->whereClause);
      case T_CommonTableExpr:
        return Add(Part::kCteQuery, static_cast<CommonTableExpr*>(node)->ctequery);
      case T_InferClause:
        return Add(Part::kFilter, static_cast<InferClause*>(node)->whereClause);
      case T_OnConflictClause:
        Add(Part::kAssignments, static_cast<OnConflictClause*>(node)->targetList);
        return Add(Part::kFilter, static_cast<OnConflictClause*>(node)->whereClause);
      default:
        return;
    }
  }

  ExpressionChildren children_;
  std::vector<Entry> stack_;
  std::vector<Truncation> truncations_;
  uint32_t statements_seen_ = 0;
  int32_t depth_ = 0;
};

void ReplaceAll(std::string& text, std::string_view pattern, std::string_view replacement) {
  size_t found = text.find(pattern);
  if (found == std::string::npos) return;
  std::string result;
  size_t copied = 0;
  for (; found != std::string::npos; found = text.find(pattern, copied)) {
    result.append(text, copied, found - copied).append(replacement);
    copied = found + pattern.size();
  }
  text = result.append(text, copied);
}

void ReplacePlaceholders(std::string& text) {
  const std::string placeholder(kPlaceholder);
  ReplaceAll(text, "SELECT " + placeholder + " AS " + placeholder, "SELECT " + placeholder);
  ReplaceAll(text, "SELECT WHERE " + placeholder, placeholder);
  ReplaceAll(text, placeholder, kDots);
}

// Cuts as the library: to so many characters, and never behind as many bytes as the text has
// characters.
void Cut(std::string& text, size_t limit) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  const auto characters = static_cast<size_t>(std::count_if(text.begin(), text.end(), begins));
  if (characters <= limit) return;
  const size_t kept = limit > kDots.size() ? limit - kDots.size() : 0;
  size_t bytes = 0;
  for (size_t i = 0; i < kept && bytes < characters; ++i) {
    do {
      ++bytes;
    } while (bytes < text.size() && !begins(text[bytes]));
  }
  text.resize(bytes);
  text += kDots;
}

class Truncator {
 public:
  Truncator(void* memory_context, void* statements, size_t limit)
      : memory_context_(memory_context),
        statements_(static_cast<List*>(statements)),
        limit_(limit) {}

  Truncator(const Truncator&) = delete;
  Truncator& operator=(const Truncator&) = delete;

  // Puts back what was taken from the tree, the last first: parts lie in each other.
  ~Truncator() {
    for (size_t i = taken_.size(); i > 0; --i) *taken_[i - 1].first = taken_[i - 1].second;
  }

  Result<std::string> Truncate() {
    if (auto error =
            RunGuarded(memory_context_, Reason::kInternal, [&] { placeholders_.Make(); })) {
      return *std::move(error);
    }
    const auto count = static_cast<size_t>(list_length(statements_));
    texts_.resize(count);
    outdated_.assign(count, 1);
    if (auto error = PrintOutdated(/*with_dots=*/false)) return *std::move(error);
    if (Size() <= limit_) return Joined();
    TruncationFinder finder(memory_context_);
    auto error = RunGuarded(memory_context_, Reason::kInternal, [&] { finder.Find(statements_); });
    if (!error) error = finder.error();
    if (!error) error = Measure(finder.truncations());
    if (!error) error = Apply(finder.truncations());
    if (error) return *std::move(error);
    std::string text = Joined();
    if (text.size() > limit_) Cut(text, limit_);
    return text;
  }

 private:
  static constexpr std::string_view kSeparator = "; ";
  // A text may shrink by more than the length of a part: what is around it may go, too.
  static constexpr size_t kSlack = 32;

  size_t Size() const {
    return std::accumulate(texts_.begin(), texts_.end(),
                           kSeparator.size() * (std::max<size_t>(texts_.size(), 1) - 1),
                           [](size_t size, const std::string& text) { return size + text.size(); });
  }

  std::string Joined() const {
    std::string joined;
    joined.reserve(Size());
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (i > 0) joined += kSeparator;
      joined += texts_[i];
    }
    return joined;
  }

  Result<std::string> Print(void* statement) {
    placeholders_.statement->stmt = static_cast<Node*>(statement);
    LibraryScope scope;
    std::vector<LibraryText> results;
    const auto printed =
        PrintStatements(scope, placeholders_.statements, {}, {}, /*verify=*/false, results);
    if (!printed.ok()) return printed.error();
    return std::string(printed.value());
  }

  std::optional<GrammarError> PrintOutdated(bool with_dots) {
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (std::exchange(outdated_[i], char{0}) == 0) continue;
      const auto* statement =
          static_cast<const RawStmt*>(list_nth(statements_, static_cast<int>(i)));
      auto printed = Print(statement->stmt);
      if (!printed.ok()) return printed.error();
      texts_[i] = std::move(printed.value());
      if (with_dots) ReplacePlaceholders(texts_[i]);
    }
    return std::nullopt;
  }

  // Finds the lengths, and drops what is not longer than the dots, or cannot be printed alone as
  // WHERE CURRENT OF.
  std::optional<GrammarError> Measure(std::vector<Truncation>& truncations) {
    for (Truncation& truncation : truncations) {
      size_t around = 0;  // what is printed around the part
      const auto printed = Print(StatementOf(truncation, around));
      if (!printed.ok()) {
        if (printed.error().reason != Reason::kInvalidTree) return printed.error();
        continue;
      }
      truncation.length = static_cast<int32_t>(static_cast<int64_t>(printed.value().size()) -
                                               static_cast<int64_t>(around));
    }
    std::erase_if(truncations, [](const Truncation& truncation) {
      return truncation.length <= static_cast<int32_t>(kDots.size());
    });
    return std::nullopt;
  }

  // A statement with the part alone.
  void* StatementOf(const Truncation& truncation, size_t& around) {
    SelectStmt& select = *placeholders_.select;
    select.targetList = nullptr;
    select.whereClause = nullptr;
    select.valuesLists = nullptr;
    void* part = *truncation.place;
    switch (truncation.part) {
      case Part::kTargets:
        select.targetList = static_cast<List*>(part);
        around = std::string_view("SELECT ").size();
        return &select;
      case Part::kFilter:
        select.whereClause = static_cast<Node*>(part);
        around = std::string_view("SELECT WHERE ").size();
        return &select;
      case Part::kValues:
        select.valuesLists = static_cast<List*>(part);
        around = std::string_view("VALUES ()").size();
        return &select;
      case Part::kAssignments:
        placeholders_.update->targetList = static_cast<List*>(part);
        around = std::string_view("UPDATE x SET ").size();
        return placeholders_.update;
      case Part::kColumns:
        placeholders_.insert->cols = static_cast<List*>(part);
        around = std::string_view("INSERT INTO x () DEFAULT VALUES").size();
        return placeholders_.insert;
      case Part::kCteQuery:
        break;
    }
    return part;
  }

  static int Compare(const void* a, const void* b) {
    const auto& left = *static_cast<const Truncation*>(a);
    const auto& right = *static_cast<const Truncation*>(b);
    if (left.depth != right.depth) return right.depth - left.depth;
    return right.length - left.length;
  }

  std::optional<GrammarError> Apply(std::vector<Truncation>& truncations) {
    if (truncations.empty()) return std::nullopt;
    // PostgreSQL's own sort: among equals, the order that it happens to give counts.
    pg_qsort(truncations.data(), truncations.size(), sizeof(Truncation), Compare);
    for (std::string& text : texts_) ReplacePlaceholders(text);
    size_t size = Size();
    size_t may_shrink = 0;  // since the texts were printed
    for (const Truncation& truncation : truncations) {
      taken_.emplace_back(truncation.place, *truncation.place);
      *truncation.place = placeholders_.For(truncation.part);
      outdated_[truncation.statement] = 1;
      may_shrink += static_cast<size_t>(truncation.length) + kSlack;
      const bool last = &truncation == &truncations.back();
      if (!last && size > limit_ + may_shrink) continue;
      if (auto error = PrintOutdated(/*with_dots=*/true)) return error;
      size = Size();
      may_shrink = 0;
      if (size <= limit_) break;
    }
    return std::nullopt;
  }

  void* const memory_context_;
  List* const statements_;
  const size_t limit_;
  Placeholders placeholders_ = {};
  std::vector<std::string> texts_;  // of each statement
  std::vector<char> outdated_;      // whether they are to be printed again
  std::vector<std::pair<void**, void*>> taken_;
};

}  // namespace

Result<std::string> TruncateStatements(void* memory_context, void* statements, uint32_t limit) {
  return Truncator(memory_context, statements, limit).Truncate();
}

}  // namespace pgparsed::grammar
