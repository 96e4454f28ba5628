#include "grammar/constant_finder.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

// Last: its macros would break other headers.
#include "grammar/guarded.h"

namespace pgparsed::grammar {
namespace {

// Marks of the walk.
constexpr uint32_t kNextTarget = 1;
constexpr uint32_t kNextGroupItem = 2;
constexpr uint32_t kMultiAssignSourceEnd = 3;

template <typename Struct>
const Struct* As(const void* node) {
  return static_cast<const Struct*>(node);
}

// Positions in GROUP BY and ORDER BY are no constants: "GROUP BY 1" names a column.
bool IsPosition(const void* node) {
  return node != nullptr && IsA(node, A_Const) && !As<A_Const>(node)->isnull &&
         IsA(&As<A_Const>(node)->val, Integer);
}

uint32_t Length(const List* list) {
  return list != nullptr ? static_cast<uint32_t>(list->length) : 0;
}

const void* At(const List* list, uint32_t index) { return list->elements[index].ptr_value; }

bool AllPositions(const List* list) {
  for (uint32_t i = 0; i < Length(list); ++i) {
    if (!IsPosition(At(list, i))) return false;
  }
  return true;
}

}  // namespace

ConstantFinder::ConstantFinder(void* memory_context, bool utility_only)
    : memory_context_(memory_context), utility_only_(utility_only), children_(memory_context) {}

std::optional<GrammarError> ConstantFinder::Find(const void* statements) {
  walk_.Add(statements);
  if (auto error = RunGuarded(memory_context_, Reason::kInternal, [&] { Walk(); })) return error;
  return children_.error();
}

void ConstantFinder::Walk() {
  NodeVisit visit;
  while (!children_.error() && walk_.Next(visit)) {
    if (visit.mark == kNextTarget) {
      NextTarget();
    } else if (visit.mark == kNextGroupItem) {
      NextGroupItem();
    } else if (visit.mark == kMultiAssignSourceEnd) {
      FinishMultiAssignSource();
    } else {
      Visit(visit);
    }
  }
}

void ConstantFinder::Visit(const NodeVisit& visit) {
  const void* node = visit.node;
  switch (nodeTag(node)) {
    case T_A_Const:
      return AddConstant(As<A_Const>(node)->location, ConstantKind::kToken);
    case T_ParamRef:
      highest_parameter_ = std::max(highest_parameter_, As<ParamRef>(node)->number);
      return NoteParameter(As<ParamRef>(node)->number);
    case T_DefElem:
      return VisitOption(node);
    case T_RawStmt:
      return walk_.Add(As<RawStmt>(node)->stmt);
    case T_TypeName:  // what stands in brackets belongs to the type
      return;
    case T_SelectStmt:
      if (!utility_only_) VisitSelect(node);
      return;
    case T_MultiAssignRef:
      return VisitMultiAssignRef(node);
    case T_InsertStmt:
    case T_UpdateStmt:
    case T_DeleteStmt:
    case T_MergeStmt:
      if (!utility_only_) AddExpressionChildren(node);
      return;
    default:
      if (!VisitUtility(node)) AddExpressionChildren(node);
  }
}

// The parts of utility statements in which constants count, as in the library's normalizer of the
// same grammar. False: none of these.
bool ConstantFinder::VisitUtility(const void* node) {
  switch (nodeTag(node)) {
    case T_ExplainStmt:
      walk_.Add(As<ExplainStmt>(node)->query);
      return true;
    case T_CreateRoleStmt:
      walk_.Add(As<CreateRoleStmt>(node)->options);
      return true;
    case T_AlterRoleStmt:
      walk_.Add(As<AlterRoleStmt>(node)->options);
      return true;
    case T_CreateUserMappingStmt:
      walk_.Add(As<CreateUserMappingStmt>(node)->options);
      return true;
    case T_AlterUserMappingStmt:
      walk_.Add(As<AlterUserMappingStmt>(node)->options);
      return true;
    case T_CreateSubscriptionStmt:
      if (As<CreateSubscriptionStmt>(node)->conninfo != nullptr) {
        connections_.push_back(NewParameter());
      }
      return true;
    case T_AlterSubscriptionStmt:
      if (As<AlterSubscriptionStmt>(node)->conninfo != nullptr) {
        connections_.push_back(NewParameter());
      }
      return true;
#if PGPARSED_GRAMMAR >= 18
    case T_NotifyStmt:
      if (As<NotifyStmt>(node)->payload != nullptr) {
        AddConstant(As<NotifyStmt>(node)->payload_location, ConstantKind::kToken);
      }
      return true;
#endif
    default:
      break;
  }
  // These hold queries, or text that is code.
  const void* part = nullptr;
  const void* second_part = nullptr;
  switch (nodeTag(node)) {
    case T_VariableSetStmt:
      part = As<VariableSetStmt>(node)->args;
      break;
    case T_CopyStmt:
      part = As<CopyStmt>(node)->query;
      break;
    case T_DeclareCursorStmt:
      part = As<DeclareCursorStmt>(node)->query;
      break;
    case T_CreateFunctionStmt:
      part = As<CreateFunctionStmt>(node)->options;
      second_part = As<CreateFunctionStmt>(node)->sql_body;
      break;
    case T_ReturnStmt:
      part = As<ReturnStmt>(node)->returnval;
      break;
    case T_DoStmt:
      part = As<DoStmt>(node)->args;
      break;
#if PGPARSED_GRAMMAR >= 18
    case T_CallStmt:
      part = As<CallStmt>(node)->funccall;
      break;
#endif
    default:
      return false;
  }
  if (!utility_only_) {
    walk_.Add(part);
    walk_.Add(second_part);
  }
  return true;
}

void ConstantFinder::VisitOption(const void* node) {
  const auto* option = As<DefElem>(node);
#if PGPARSED_GRAMMAR >= 18
  AddConstant(option->arg_location, ConstantKind::kToken);
#else
  // The place of the argument is not in the tree: the token behind the name is.
  const void* argument = option->arg;
  if (argument != nullptr && IsA(argument, List) && As<List>(argument)->length == 1) {
    argument = At(As<List>(argument), 0);
  }
  if (argument != nullptr && IsA(argument, String)) {
    const std::string_view name = option->defname;
    const bool two_words = name == "password" || name == "validUntil";
    AddConstant(option->location,
                two_words ? ConstantKind::kTwoTokenOption : ConstantKind::kOption);
  }
#endif
  walk_.Add(option->arg);
}

// A node that PostgreSQL's walker of raw expressions does not know, of a utility statement, has no
// constants that count.
void ConstantFinder::AddExpressionChildren(const void* node) {
  for (const void* child : children_.Of(node)) walk_.Add(child);
}

// The order of the parts decides which constant gets which number: it is the library's.
void ConstantFinder::VisitSelect(const void* node) {
  const auto* select = As<SelectStmt>(node);
  walk_.Add(select->distinctClause);
  walk_.Add(select->intoClause);
  if (select->targetList != nullptr) {
    ++selects_;
    if (!AllPositions(select->groupClause)) {
      grouped_.push_back({.statement = node});
      return walk_.AddMark(kNextTarget);
    }
    // The target around this SELECT is given up, as the library does.
    noting_ = false;
  }
  walk_.Add(select->targetList);
  AddAfterTargets(node);
  for (uint32_t i = 0; i < Length(select->groupClause); ++i) {
    const void* item = At(select->groupClause, i);
    if (!IsPosition(item)) walk_.Add(item);
  }
  AddAfterGroups(node);
}

void ConstantFinder::AddAfterTargets(const void* node) {
  walk_.Add(As<SelectStmt>(node)->fromClause);
  walk_.Add(As<SelectStmt>(node)->whereClause);
}

void ConstantFinder::AddAfterGroups(const void* node) {
  const auto* select = As<SelectStmt>(node);
  for (uint32_t i = 0; i < Length(select->sortClause); ++i) {
    const void* item = At(select->sortClause, i);
    if (!(IsA(item, SortBy) && IsPosition(As<SortBy>(item)->node))) walk_.Add(item);
  }
  for (const void* part :
       {static_cast<const void*>(select->havingClause),
        static_cast<const void*>(select->windowClause),
        static_cast<const void*>(select->valuesLists),
        static_cast<const void*>(select->limitOffset), static_cast<const void*>(select->limitCount),
        static_cast<const void*>(select->lockingClause),
        static_cast<const void*>(select->withClause), static_cast<const void*>(select->larg),
        static_cast<const void*>(select->rarg)}) {
    walk_.Add(part);
  }
}

// SET (a, b, c) = source: each column has a reference to the one source. It is walked once, but has
// parameters for each column, as in the library.
void ConstantFinder::VisitMultiAssignRef(const void* node) {
  const auto* reference = As<MultiAssignRef>(node);
  if (reference->colno > 1) {
    next_parameter_ -= source_parameters_;
    return;
  }
  source_starts_.push_back(next_parameter_);
  walk_.Add(reference->source);
  walk_.AddMark(kMultiAssignSourceEnd);
}

void ConstantFinder::FinishMultiAssignSource() {
  source_parameters_ = source_starts_.back() - next_parameter_;
  source_starts_.pop_back();
}

// Ends the target that was walked, if one was, and starts the next.
void ConstantFinder::NextTarget() {
  GroupedSelect& select = grouped_.back();
  if (select.next_target > 0) {
    Target& target = select.targets.back();
    target.known = noting_;
    target.count = static_cast<uint32_t>(select.parameters.size()) - target.first;
  }
  const List* targets = As<SelectStmt>(select.statement)->targetList;
  noting_ = select.next_target < Length(targets);
  if (noting_) {
    select.targets.push_back(
        {.first = static_cast<uint32_t>(select.parameters.size()), .count = 0, .known = true});
    walk_.Add(At(targets, select.next_target++));
    walk_.AddMark(kNextTarget);
  } else {
    AddAfterTargets(select.statement);
    walk_.AddMark(kNextGroupItem);
  }
}

// Ends the item that was walked, if one was, and starts the next.
void ConstantFinder::NextGroupItem() {
  if (grouped_.back().group_item != nullptr) FinishGroupItem();
  GroupedSelect& select = grouped_.back();
  const List* items = As<SelectStmt>(select.statement)->groupClause;
  while (select.next_group < Length(items) && IsPosition(At(items, select.next_group))) {
    ++select.next_group;
  }
  if (select.next_group < Length(items)) {
    select.group_item = At(items, select.next_group++);
    select.group_constants = constants_.size();
    select.group_selects = selects_;
    walk_.Add(select.group_item);
    walk_.AddMark(kNextGroupItem);
  } else {
    AddAfterGroups(select.statement);
    grouped_.pop_back();
  }
}

void ConstantFinder::FinishGroupItem() {
  GroupedSelect& select = grouped_.back();
  // The same expression in the target list has a SELECT in it, too: its parameters are not known.
  if (selects_ != select.group_selects) return;
  const std::span<Constant> constants = std::span(constants_).subspan(select.group_constants);
  if (constants.empty()) {
    select.unmatched.push_back(select.group_item);
  } else {
    ShareParameters(select, constants);
  }
}

void ConstantFinder::ShareParameters(GroupedSelect& select, std::span<Constant> constants) {
  FingerprintTargets(select);
  // Each target is for one item only, those without constants included.
  for (const void* item : std::exchange(select.unmatched, {})) TakeTarget(select, item);
  const Fingerprint* match = TakeTarget(select, select.group_item);
  if (match == nullptr) return;
  const Target& target = select.targets[match->target];
  if (target.count != constants.size()) return;
  for (size_t i = 0; i < constants.size(); ++i) {
    constants[i].parameter = select.parameters[target.first + i];
  }
  next_parameter_ += static_cast<int32_t>(constants.size());
}

void ConstantFinder::FingerprintTargets(GroupedSelect& select) {
  if (std::exchange(select.has_fingerprints, true)) return;
  const List* targets = As<SelectStmt>(select.statement)->targetList;
  for (uint32_t i = 0; i < Length(targets); ++i) {
    uint64_t value;
    if (select.targets[i].known && FingerprintOf(As<ResTarget>(At(targets, i))->val, value)) {
      select.fingerprints.push_back({.value = value, .target = i, .taken = false});
    }
  }
  std::sort(select.fingerprints.begin(), select.fingerprints.end(),
            [](const Fingerprint& a, const Fingerprint& b) {
              return std::pair(a.value, a.target) < std::pair(b.value, b.target);
            });
}

// The first target with the item's fingerprint that no item before took; nullptr if there is none.
ConstantFinder::Fingerprint* ConstantFinder::TakeTarget(GroupedSelect& select, const void* item) {
  uint64_t value;
  if (!FingerprintOf(item, value)) return nullptr;
  const auto end = select.fingerprints.end();
  auto found =
      std::partition_point(select.fingerprints.begin(), end, [&](const Fingerprint& fingerprint) {
        return fingerprint.value < value || (fingerprint.value == value && fingerprint.taken);
      });
  if (found == end || found->value != value) return nullptr;
  found->taken = true;
  return &*found;
}

// The library's fingerprints, which are the same for expressions that differ in constants only.
// False if the expression is too deep for them.
bool ConstantFinder::FingerprintOf(const void* node, uint64_t& value) {
  // Each fingerprint leaves kilobytes behind.
  MemoryContext temporary = AllocSetContextCreateInternal(
      static_cast<MemoryContext>(memory_context_), "fingerprint", ALLOCSET_SMALL_SIZES);
  const auto error =
      RunGuarded(temporary, Reason::kInternal, [&] { value = pg_query_fingerprint_node(node); });
  CurrentMemoryContext = static_cast<MemoryContext>(memory_context_);
  MemoryContextDelete(temporary);
  return !error;
}

int32_t ConstantFinder::NewParameter() {
  const int32_t parameter = next_parameter_--;
  NoteParameter(parameter);
  return parameter;
}

void ConstantFinder::AddConstant(int32_t location, ConstantKind kind) {
  if (location < 0) return;
  constants_.push_back({.location = location, .parameter = NewParameter(), .kind = kind});
}

void ConstantFinder::NoteParameter(int32_t parameter) {
  if (noting_) grouped_.back().parameters.push_back(parameter);
}

}  // namespace pgparsed::grammar
