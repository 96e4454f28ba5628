#include "pgparsed/tls.h"

#include <fstream>
#include <sstream>
#include <utility>

#include <grpcpp/security/credentials.h>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed {
namespace {

absl::StatusOr<std::string> ReadPem(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || text.str().empty()) {
    return MakeError(Reason::kInvalidRequest,
                     absl::StrCat("cannot read the certificate or key '", file, "'"));
  }
  return std::move(text).str();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsCredentials(const TlsFiles& files) {
  if (files.cert_file.empty() != files.key_file.empty()) {
    return MakeError(Reason::kInvalidRequest,
                     "a client certificate needs its private key, and the key its certificate");
  }
  grpc::SslCredentialsOptions options;
  const std::pair<const std::string*, std::string*> parts[] = {
      {&files.ca_file, &options.pem_root_certs},
      {&files.cert_file, &options.pem_cert_chain},
      {&files.key_file, &options.pem_private_key}};
  for (const auto& [file, text] : parts) {
    absl::StatusOr<std::string> pem = ReadPem(*file);
    if (!pem.ok()) return pem.status();
    *text = *std::move(pem);
  }
  return grpc::SslCredentials(options);
}

}  // namespace pgparsed
