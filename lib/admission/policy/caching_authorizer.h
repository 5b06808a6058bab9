#pragma once

#include <map>
#include <string>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::admission::policy {

// Remembers the decisions of another authorizer, so that equal checks of one request are made once:
// k8s.io/apiserver/pkg/admission/plugin/authorizer. Lives as long as one pass of a
// plugin.
class CachingAuthorizer final : public auth::Authorizer {
 public:
  // `authorizer` must outlive it.
  explicit CachingAuthorizer(const auth::Authorizer& authorizer) : authorizer_(authorizer) {}

  Result<auth::Verdict> Authorize(const Context& ctx,
                                  const auth::Attributes& attributes) const override;

 private:
  const auth::Authorizer& authorizer_;
  mutable Guarded<std::map<std::string, Result<auth::Verdict>, std::less<>>> decisions_;
};

}  // namespace apiserver::inline v0::admission::policy
