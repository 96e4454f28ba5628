// Methods of the contract that this build does not have yet: UNIMPLEMENTED, with a reason like any
// other error.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "grpc/status.h"
#include "pgparsed/errors.h"

namespace pgparsed::grpc_door {

inline absl::Status UnimplementedError() {
  return MakeError(Reason::kUnimplemented,
                   "this version of pgparsed does not have this method; see CHANGELOG.md");
}

// A reactor of any kind that finishes at once.
template <typename Reactor>
class Unimplemented final : public Reactor {
 public:
  explicit Unimplemented(grpc::CallbackServerContext& context) {
    this->Finish(FinishWith(UnimplementedError(), context));
  }
  void OnDone() override { delete this; }
};

using UnimplementedUnary = Unimplemented<grpc::ServerUnaryReactor>;

}  // namespace pgparsed::grpc_door
