// A columnar tree as a table for people, a line for each node:
//
//       node location  kind            field       attributes
//          0        0  RawStmt                     stmt_len=8
//          1        -    SelectStmt    stmt        limitOption=LIMIT_OPTION_DEFAULT
//          2        7      ResTarget   targetList
//
// It is a view: its layout is no interface, and programs must not read it.
#pragma once

#include <functional>
#include <string_view>

#include "pgparsed/columnar_tree.h"

namespace pgparsed::cli {

// Writes the table in pieces to `sink`; false stops it. Works for trees of any depth: indentation
// stops growing at 30 levels, from where lines say how deep they are. Texts are cut to a line.
void WriteColumnarTable(const ColumnarTreeView& tree,
                        const std::function<bool(std::string_view)>& sink);

}  // namespace pgparsed::cli
