// grammar_generator <pg_query.proto> <folder>: writes what the operations of a grammar need to
// know of its protobuf schema and of its nodes. Runs at build time, once for each grammar.
#include <iostream>

#include "grammar/generator/grammar_proto.h"
#include "grammar/generator/node_writer.h"
#include "grammar/generator/schema_writer.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: grammar_generator <pg_query.proto> <folder>\n";
    return 2;
  }
  const auto proto = pgparsed::generator::GrammarProto::Load(argv[1]);
  if (proto == nullptr) return 1;
  const bool written = pgparsed::generator::WriteSchema(*proto, argv[2]) &&
                       pgparsed::generator::WriteNodes(*proto, argv[2]);
  return written ? 0 : 1;
}
