#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/user.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/http/headers.h"

// User impersonation: k8s.io/apiserver/pkg/endpoints/filters/impersonation.
namespace apiserver::inline v0::server {

// Returns the user in the headers Impersonate-User, -Group, -Uid and -Extra-<key>, as sent.
// nullopt: there is none. kBadRequest: groups, a uid or extras without a user.
Result<std::optional<auth::UserInfo>> WantedUserOf(const http::Headers& headers);
// Removes the headers: no later filter or handler may see them.
void RemoveImpersonationHeaders(http::Headers& headers);

struct ImpersonatedUser {
  auth::UserInfoPtr user;  // Never null.
  // The verb that allowed it, "impersonate:user-info". Empty: "impersonate".
  std::string constraint = {};
};

struct ImpersonationOptions {
  const auth::Authorizer* authorizer = nullptr;  // Null: allow.
  // The feature gate ConstrainedImpersonation: impersonation that is limited to kinds of users and
  // to verbs is tried before the verb "impersonate", which allows everything.
  bool constrained = true;
  const Clock* clock = &RealClock();
  metrics::Registry* metrics = nullptr;  // Null: nothing is counted.
};

// Decides which user may impersonate which. Any thread.
class Impersonation final {
 public:
  explicit Impersonation(const ImpersonationOptions& options);

  // Checks `wanted`; `attributes` are those of the request with the authenticated user. kForbidden:
  // no mode allows it; the message is that of the first mode that applies. kWouldBlock: the
  // authorizer must ask another server.
  Result<ImpersonatedUser> Check(const Context& ctx, const auth::UserInfo& wanted,
                                 const auth::Attributes& attributes) const;

 private:
  struct Counters {
    metrics::Family<metrics::Counter>* total;
    metrics::Family<metrics::Histogram>* seconds;
  };
  void Count(const std::optional<Counters>& counters, std::string_view mode, bool allowed,
             std::chrono::nanoseconds took) const;

  const ImpersonationOptions options_;
  std::optional<Counters> attempts_;
  std::optional<Counters> authorizations_;
};

}  // namespace apiserver::inline v0::server
