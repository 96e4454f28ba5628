// The constants of a parsed text, in the order in which they get their numbers: the first half of
// normalizing (normalize.h). For sources of this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "grammar/error.h"
#include "grammar/expression_children.h"
#include "grammar/node_walk.h"

namespace pgparsed::grammar {

// What stands at a constant's location.
enum class ConstantKind : uint8_t {
  kToken,           // the constant
  kOption,          // the name of an option, with a string constant behind it perhaps
  kTwoTokenOption,  // the same, where the name may have two words
};

struct Constant {
  int32_t location;   // in bytes
  int32_t parameter;  // > 0: the parameter's number; else a new one, counted from -1 down
  ConstantKind kind;
};

class ConstantFinder {
 public:
  // The library allocates in `memory_context` (a MemoryContext).
  ConstantFinder(void* memory_context, bool utility_only);

  // Walks a List of RawStmt, once. After an error, constants are missing.
  std::optional<GrammarError> Find(const void* statements);

  // In the order of the walk; places may come twice, the first counts.
  std::vector<Constant>& constants() { return constants_; }
  // Parameters of the connection strings of subscriptions, in the order of the text.
  const std::vector<int32_t>& connections() const { return connections_; }
  // The highest number of a parameter in the text.
  int32_t highest_parameter() const { return highest_parameter_; }

 private:
  // What is known of a target: the parameters in it, while all of them are.
  struct Target {
    uint32_t first;  // in parameters
    uint32_t count;
    bool known;
  };
  struct Fingerprint {
    uint64_t value;
    uint32_t target;
    bool taken;
  };
  // A SELECT with GROUP BY: an expression there gets the parameters of the same expression in the
  // target list, without which the normalized statement would not be valid.
  struct GroupedSelect {
    const void* statement;
    uint32_t next_target = 0;
    uint32_t next_group = 0;
    std::vector<Target> targets;
    std::vector<int32_t> parameters;
    std::vector<Fingerprint> fingerprints;  // sorted
    bool has_fingerprints = false;
    std::vector<const void*> unmatched;  // group items without constants, not looked up yet
    const void* group_item = nullptr;    // being walked
    size_t group_constants = 0;          // constants before it
    uint64_t group_selects = 0;          // selects_ before it
  };

  void Walk();
  void Visit(const NodeVisit& visit);
  void VisitSelect(const void* node);
  void AddAfterTargets(const void* node);
  void AddAfterGroups(const void* node);
  void VisitOption(const void* node);
  bool VisitUtility(const void* node);
  void AddExpressionChildren(const void* node);
  void VisitMultiAssignRef(const void* node);
  void FinishMultiAssignSource();
  void NextTarget();
  void NextGroupItem();
  void FinishGroupItem();
  void ShareParameters(GroupedSelect& select, std::span<Constant> constants);
  void FingerprintTargets(GroupedSelect& select);
  Fingerprint* TakeTarget(GroupedSelect& select, const void* item);
  bool FingerprintOf(const void* node, uint64_t& value);
  int32_t NewParameter();
  void AddConstant(int32_t location, ConstantKind kind);
  void NoteParameter(int32_t parameter);

  void* const memory_context_;
  const bool utility_only_;
  NodeWalk walk_;
  std::vector<Constant> constants_;
  std::vector<int32_t> connections_;
  std::vector<GroupedSelect> grouped_;  // the innermost last
  bool noting_ = false;                 // whether a target of the last of them is walked
  // Parameters before the sources of multiple assignments that are walked, the innermost last.
  std::vector<int32_t> source_starts_;
  int32_t source_parameters_ = 0;  // new in the source walked last
  int32_t next_parameter_ = -1;
  int32_t highest_parameter_ = 0;
  uint64_t selects_ = 0;  // SELECTs with targets seen
  ExpressionChildren children_;
};

}  // namespace pgparsed::grammar
