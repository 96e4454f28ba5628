// Where a grammar's C structs do not follow the rule "a message is a struct of its name, a field a
// member named by its JSON name, an enum value an enumerator of its name".
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

namespace pgparsed::generator {

// Messages without a struct of their own: results; lists, which every visitor treats itself; and
// what is another name of OpExpr in C. The raw parser makes none of the last.
bool HasStruct(const google::protobuf::Descriptor& message);

// Not written: the struct that another one begins with (Expr, JsonTablePlan), which holds nothing
// but the tag. The proto declares it as a node; the library leaves it out, or never meets it in a
// raw parse.
bool IsWritten(const google::protobuf::FieldDescriptor& field);

// The member of the struct: A_Const keeps its value in a union.
std::string MemberOf(const google::protobuf::FieldDescriptor& field);

// Enums whose C values are the proto's less one, without looking the names up: libpg_query adds
// LIMIT_OPTION_DEFAULT to LimitOption, which the headers that grammar 15 is compiled with lack.
bool IsOffsetByOne(const google::protobuf::EnumDescriptor& values);

// The grammar's constant of grammar/node_tables.h: what an integer field means.
std::string MeaningOf(const google::protobuf::FieldDescriptor& field);

}  // namespace pgparsed::generator
