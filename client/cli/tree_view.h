// A parse tree as an indented view for people, made from the JSON that libpg_query prints:
//
//   version=180006
//   stmts[0]:
//     stmt: SelectStmt limitOption="LIMIT_OPTION_DEFAULT" op="SETOP_NONE"
//       targetList[0]: ResTarget @7
//         val: A_Const ival=1 @7
//
// A node is one line: the field that holds it, its tag, its plain values, and @ its location.
// Value nodes (String, Integer, A_Star and so on) are shown as the values that they are. It is a
// view: it does not say all that the JSON says, and programs must not read it.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/status.h"

namespace pgparsed::cli {

// Takes pieces of the view, in order; false stops it.
using Sink = std::function<bool(std::string_view)>;

// Writes the view of `json` to `sink`. Works for trees of any depth: it does not recurse, and
// indentation stops growing at kMaxIndentDepth levels, from where lines say how deep they are.
// INTERNAL when `json` is no JSON.
inline constexpr int kMaxIndentDepth = 60;
absl::Status WriteTreeView(std::string_view json, bool colour, const Sink& sink);

}  // namespace pgparsed::cli
