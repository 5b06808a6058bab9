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

// The headers that identify the user; names compare without regard to case.
struct RequestHeaderNames {
  std::vector<std::string> username = {"X-Remote-User"};  // The first that is not empty counts.
  // Empty by default, as upstream: a proxy that does not know the header would let a client's pass.
  std::vector<std::string> uid = {};                    // The first that is not empty counts.
  std::vector<std::string> group = {"X-Remote-Group"};  // All values of all count.
  // The rest of a header's name after the prefix, in lower case and percent-decoded, is the key of
  // UserInfo::extra.
  std::vector<std::string> extra_prefix = {"X-Remote-Extra-"};

  friend bool operator==(const RequestHeaderNames&, const RequestHeaderNames&) = default;
};
using RequestHeaderNamesSource = std::shared_ptr<const Source<RequestHeaderNames>>;

// X-Remote-User, -Uid, -Group and -Extra-: headers that no client may send, whatever is configured.
const RequestHeaderNames& StandardRequestHeaders();
// Removes every header of `names` from `headers`.
void RemoveRequestHeaders(const RequestHeaderNames& names, http::Headers& headers);

// Returns the user that the headers name, without checking where they come from: for use behind
// NewRequestHeader's checks, or if the transport itself is trusted. nullopt: no user header has a
// value.
std::optional<auth::UserInfo> UserFromHeaders(const RequestHeaderNames& names,
                                              const http::Headers& headers);

// Options of NewRequestHeader().
struct RequestHeaderOptions {
  // Required. PEM authorities of proxies' certificates. Changes take effect as for X509Options::ca;
  // while it is empty, no client is a proxy.
  std::shared_ptr<const Source<std::string>> ca;
  // Common names of proxies. Null or empty: any certificate of `ca` is accepted.
  std::shared_ptr<const Source<std::vector<std::string>>> allowed_names = nullptr;
  RequestHeaderNamesSource names;  // Required.
  const Clock* clock = &RealClock();
  std::size_t connections_max = 100'000;  // See X509Options.
};

// Trusts the headers of requests that come with the certificate of a front proxy. They stay in the
// request: the authentication filter removes them. kUnauthorized: the certificate is not a proxy's,
// whatever the headers are.
std::unique_ptr<auth::Authenticator> NewRequestHeader(RequestHeaderOptions options);

}  // namespace apiserver::inline v0::authn
