// Answers as people read them: tables and lists. Their layout is no interface; --json is.
#pragma once

#include <string_view>

#include "cli/output.h"
#include "pgparsed/v1/common.pb.h"
#include "pgparsed/v1/grammar.pb.h"

namespace pgparsed::cli {

// `query` and `positions` are what the request said: they give tokens and pieces their text.
void WriteTokens(const v1::TokenColumns& tokens, std::string_view query,
                 v1::PositionEncoding positions, Output& out);
void WritePieces(const v1::PieceColumns& pieces, std::string_view query,
                 v1::PositionEncoding positions, Output& out);
void WriteComments(const google::protobuf::RepeatedPtrField<v1::Comment>& comments, Output& out);
void WriteSummary(const v1::Summary& summary, Output& out);
void WriteGrammars(const v1::ListGrammarsResponse& response, Output& out);

}  // namespace pgparsed::cli
