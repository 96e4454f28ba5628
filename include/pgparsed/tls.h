// TLS credentials for ClientOptions::credentials, from files.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace pgparsed {

// PEM files.
struct TlsFiles {
  // Whose certificates the server's must come from. Empty: the system's.
  std::string ca_file;
  // The own certificate and its private key, where the server asks for one. Both or none.
  std::string cert_file;
  std::string key_file;
};

// kInvalidRequest when a file cannot be read, or only one of certificate and key is given.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsCredentials(const TlsFiles& files);

}  // namespace pgparsed
