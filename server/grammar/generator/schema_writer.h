// Writes a grammar's schema as data that the operations link: what grammar/schema.h shows.
#pragma once

#include <string>

#include "grammar/generator/grammar_proto.h"

namespace pgparsed::generator {

// Writes into the folder `out`:
//   schema_data.h       the tables of names, for schema.cc
//   schema_blobs.c      the two files below as read-only data
//   pg_query.proto.txt  the text
//   pg_query.fds        a FileDescriptorSet, as protoc --descriptor_set_out makes it
// Returns whether all could be written.
bool WriteSchema(const GrammarProto& proto, const std::string& out);

}  // namespace pgparsed::generator
