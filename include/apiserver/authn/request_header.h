#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/source.h"
#include "apiserver/http/headers.h"

// Front proxies (kube-aggregator): k8s.io/apiserver/pkg/authentication/request/headerrequest.
namespace apiserver::inline v0::authn {

// Which headers say who sends a request; names compare without regard to case.
struct RequestHeaderNames {
  std::vector<std::string> username = {"X-Remote-User"};  // The first that is not empty counts.
  // None by default, as upstream: a proxy that does not know the header would let a client's pass.
  std::vector<std::string> uid = {};                    // The first that is not empty counts.
  std::vector<std::string> group = {"X-Remote-Group"};  // All values of all count.
  // What follows the prefix, in lower case and percent-decoded, is the extra's key.
  std::vector<std::string> extra_prefix = {"X-Remote-Extra-"};

  friend bool operator==(const RequestHeaderNames&, const RequestHeaderNames&) = default;
};
using RequestHeaderNamesSource = std::shared_ptr<const Source<RequestHeaderNames>>;

// X-Remote-User, -Uid, -Group and -Extra-: what no client may send, whatever is configured.
const RequestHeaderNames& StandardRequestHeaders();
// Takes every header of `names` out of `headers`.
void RemoveRequestHeaders(const RequestHeaderNames& names, http::Headers& headers);

// The user that the headers name, whoever sent them: for use behind NewRequestHeader's checks, or
// where the transport itself is trusted. nullopt: no user header has a value.
std::optional<auth::UserInfo> UserFromHeaders(const RequestHeaderNames& names,
                                              const http::Headers& headers);

struct RequestHeaderOptions {
  // Required. PEM: what proxies' certificates must lead to. Changes as that of X509Options::ca;
  // while it is empty, nobody is a proxy.
  std::shared_ptr<const Source<std::string>> ca;
  // Common names of proxies; empty: any certificate of `ca` will do. Null: the same.
  std::shared_ptr<const Source<std::vector<std::string>>> allowed_names = nullptr;
  RequestHeaderNamesSource names;  // Required.
  const Clock* clock = &RealClock();
  std::size_t connections_max = 100'000;  // As X509Options.
};

// Believes the headers of requests that come with the certificate of a front proxy. The headers
// stay in the request: the authentication filter takes them out. kUnauthorized: a certificate that
// is not the proxy's, whatever the headers say.
std::unique_ptr<auth::Authenticator> NewRequestHeader(RequestHeaderOptions options);

}  // namespace apiserver::inline v0::authn
