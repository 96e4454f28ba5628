#include "grpc/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "absl/strings/str_cat.h"

namespace pgparsed::grpc_door {
namespace {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

absl::Status Unusable(const char* option, const std::string& file, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(option, "=", file, ": ", why));
}

absl::Status CheckReadable(const char* option, const std::string& file) {
  if (access(file.c_str(), R_OK) == 0) return absl::OkStatus();
  return Unusable(option, file, std::strerror(errno));
}

// What OpenSSL said last.
std::string Reason() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* text = error != 0 ? ERR_reason_error_string(error) : nullptr;
  return text != nullptr ? absl::StrCat(" (", text, ")") : "";
}

// A key with a passphrase fails instead of asking the terminal.
int NoPassphrase(char*, int, int, void*) { return 0; }

}  // namespace

absl::Status CheckTlsFiles(const TlsOptions& options) {
  if (absl::Status status = CheckReadable("--tls-cert", options.cert_file); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckReadable("--tls-key", options.key_file); !status.ok()) {
    return status;
  }
  const std::unique_ptr<SSL_CTX, FreeContext> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::InternalError("cannot set up OpenSSL");
  SSL_CTX_set_default_passwd_cb(context.get(), NoPassphrase);
  if (SSL_CTX_use_certificate_chain_file(context.get(), options.cert_file.c_str()) != 1) {
    return Unusable("--tls-cert", options.cert_file,
                    absl::StrCat("not a certificate in PEM", Reason()));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), options.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return Unusable(
        "--tls-key", options.key_file,
        absl::StrCat("not the private key of --tls-cert in PEM without a passphrase", Reason()));
  }
  if (options.client_ca_file.empty()) return absl::OkStatus();
  if (absl::Status status = CheckReadable("--tls-client-ca", options.client_ca_file);
      !status.ok()) {
    return status;
  }
  if (SSL_CTX_load_verify_locations(context.get(), options.client_ca_file.c_str(), nullptr) != 1) {
    return Unusable("--tls-client-ca", options.client_ca_file,
                    absl::StrCat("no certificates in PEM", Reason()));
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const TlsOptions& options) {
  const auto refresh_seconds = static_cast<unsigned>(
      std::max<int64_t>(1, absl::ToInt64Seconds(absl::Ceil(options.refresh, absl::Seconds(1)))));
  auto files = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      options.key_file, options.cert_file, options.client_ca_file, refresh_seconds);
  grpc::experimental::TlsServerCredentialsOptions credentials(std::move(files));
  credentials.watch_identity_key_cert_pairs();
  if (options.client_ca_file.empty()) {
    credentials.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    credentials.watch_root_certs();
    credentials.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(credentials);
}

}  // namespace pgparsed::grpc_door
