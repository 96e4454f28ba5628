#include "bench/service/calls.h"

#include <utility>

namespace pgparsed::bench {

v1::ParseRequest ParseRequestOf(const std::string& query, v1::TreeFormat format) {
  v1::ParseRequest request;
  request.set_query(query);
  request.set_format(format);
  return request;
}

v1::FingerprintRequest FingerprintRequestOf(const std::string& query) {
  v1::FingerprintRequest request;
  request.set_query(query);
  return request;
}

Call ParseCall(Client& client, const v1::ParseRequest& request) {
  return [&client, request](std::function<void(bool)> done) {
    client.ParseAsync(request, [done = std::move(done)](
                                   const absl::StatusOr<v1::ParseResponse>& r) { done(r.ok()); });
  };
}

Call FingerprintCall(Client& client, const v1::FingerprintRequest& request) {
  return [&client, request](std::function<void(bool)> done) {
    client.FingerprintAsync(
        request, [done = std::move(done)](const absl::StatusOr<v1::FingerprintResponse>& r) {
          done(r.ok());
        });
  };
}

}  // namespace pgparsed::bench
