// A view of a message that the protobuf library holds. Apart from the rest of the view, which needs
// no protobuf library.
#include "pgparsed/columnar_tree.h"
#include "pgparsed/v1/common.pb.h"

namespace pgparsed {

absl::StatusOr<ColumnarTreeView> ColumnarTreeView::Open(const v1::ColumnarTree& tree) {
  columnar::Columns columns{
      .version = tree.version(),
      .node_count = tree.node_count(),
      .attribute_count = tree.attribute_count(),
      .string_count = tree.string_count(),
      .postgres_version = tree.postgres_version(),
      .node_kind = tree.node_kind(),
      .node_parent = tree.node_parent(),
      .node_parent_field = tree.node_parent_field(),
      .node_subtree_size = tree.node_subtree_size(),
      .node_location = tree.node_location(),
      .attribute_node = tree.attribute_node(),
      .attribute_field = tree.attribute_field(),
      .attribute_type = tree.attribute_type(),
      .attribute_value = tree.attribute_value(),
      .string_offset = tree.string_offset(),
      .string_data = tree.string_data(),
      .kind_first_field = tree.kind_first_field(),
      .field_shape = tree.field_shape(),
      .kind_names = {tree.kind_names().begin(), tree.kind_names().end()},
      .field_names = {tree.field_names().begin(), tree.field_names().end()},
      .first_attribute = {},
  };
  return Check(std::move(columns));
}

}  // namespace pgparsed
