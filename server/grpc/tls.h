// TLS of the TCP listeners, from files that may change while the server runs.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/security/server_credentials.h>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace pgparsed::grpc_door {

// PEM files. TLS 1.2 and later, as gRPC has it.
struct TlsOptions {
  std::string cert_file;       // the certificate, then the chain to its root
  std::string key_file;        // its private key, without a passphrase
  std::string client_ca_file;  // who signs clients' certificates, which are required then; or empty
  // How often the files are looked at. Connections that are there keep what they had. A certificate
  // and its key are read together: exchange them together, by a symbolic link to their folder.
  absl::Duration refresh = absl::Seconds(10);
};

// Whether the files can be used: readable, certificates and a key, the key that of the certificate.
// The error names the option (--tls-cert, --tls-key, --tls-client-ca).
absl::Status CheckTlsFiles(const TlsOptions& options);

// The files must have been checked.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const TlsOptions& options);

}  // namespace pgparsed::grpc_door
