// Writes a grammar's nodes as C++: tables (grammar/node_tables.h) and visitors over the structs.
#pragma once

#include <string>

#include "grammar/generator/grammar_proto.h"

namespace pgparsed::generator {

// Writes nodes.h into the folder `out`. Returns whether it could be written.
bool WriteNodes(const GrammarProto& proto, const std::string& out);

}  // namespace pgparsed::generator
