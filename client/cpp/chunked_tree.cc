#include "cpp/chunked_tree.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::client {
namespace {

absl::Status OutOfOrder(const std::string& what) {
  return MakeError(Reason::kInternal, absl::StrCat("the server's answer is malformed: ", what));
}

}  // namespace

absl::Status ChunkedTreeReader::Take(const v1::ParseChunkedResponse& message,
                                     const TreeSink& sink) {
  switch (message.part_case()) {
    case v1::ParseChunkedResponse::kHeader:
      if (expected_ != Expected::kHeader) return OutOfOrder("a second header");
      expected_ = Expected::kChunk;
      tree_.header = message.header();
      return absl::OkStatus();
    case v1::ParseChunkedResponse::kChunk:
      if (expected_ != Expected::kChunk) return OutOfOrder("a chunk out of order");
      bytes_ += message.chunk().size();
      return sink(tree_.header, message.chunk());
    case v1::ParseChunkedResponse::kTrailer:
      if (expected_ != Expected::kChunk) return OutOfOrder("a trailer out of order");
      expected_ = Expected::kNothing;
      tree_.trailer = message.trailer();
      return absl::OkStatus();
    case v1::ParseChunkedResponse::PART_NOT_SET:
      break;
  }
  return OutOfOrder("an unknown part of a tree");
}

absl::StatusOr<ChunkedTree> ChunkedTreeReader::Finish() {
  if (expected_ != Expected::kNothing) return OutOfOrder("a tree without its trailer");
  if (tree_.trailer.total_bytes() != bytes_) {
    return OutOfOrder(absl::StrCat("a tree of ", tree_.trailer.total_bytes(), " bytes, of which ",
                                   bytes_, " arrived"));
  }
  return std::move(tree_);
}

absl::Status TreeJoin::Take(const v1::ParseChunkedResponse& message) {
  return reader_.Take(message, [this](const auto&, std::string_view chunk) {
    if (chunk.size() > max_bytes_ - bytes_.size()) {
      return MakeError(Reason::kResultTooLarge,
                       absl::StrCat("the tree has more than ", max_bytes_,
                                    " bytes, the client's max_joined_bytes; take it chunk by "
                                    "chunk with ParseChunked"));
    }
    bytes_.append(chunk);
    return absl::OkStatus();
  });
}

absl::StatusOr<v1::ParseResponse> TreeJoin::Finish() {
  absl::StatusOr<ChunkedTree> tree = reader_.Finish();
  if (!tree.ok()) return tree.status();
  v1::ParseResponse response;
  response.set_grammar(tree->header.grammar());
  response.set_postgres_version_num(tree->header.postgres_version_num());
  *response.mutable_warnings() = std::move(*tree->trailer.mutable_warnings());
  if (tree->trailer.has_timing()) {
    *response.mutable_timing() = std::move(*tree->trailer.mutable_timing());
  }
  switch (tree->header.format()) {
    case v1::TREE_FORMAT_JSON:
      response.set_json(std::move(bytes_));
      return response;
    case v1::TREE_FORMAT_PROTOBUF:
      response.set_protobuf(std::move(bytes_));
      return response;
    case v1::TREE_FORMAT_COLUMNAR:
      if (response.mutable_columnar()->ParseFromString(bytes_)) return response;
      return OutOfOrder("a columnar tree that cannot be read");
    default:
      return OutOfOrder("a tree of an unknown format");
  }
}

v1::ParseChunkedRequest ToChunked(v1::ParseRequest request) {
  v1::ParseChunkedRequest chunked;
  chunked.set_query(std::move(*request.mutable_query()));
  chunked.set_grammar(request.grammar());
  if (request.has_parser_options()) {
    *chunked.mutable_parser_options() = std::move(*request.mutable_parser_options());
  }
  chunked.set_position_encoding(request.position_encoding());
  chunked.set_want_timing(request.want_timing());
  chunked.set_format(request.format());
  chunked.set_conversion(request.conversion());
  return chunked;
}

}  // namespace pgparsed::client
