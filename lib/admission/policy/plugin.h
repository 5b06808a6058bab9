#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "admission/policy/match_resources.h"
#include "admission/policy/request_values.h"
#include "admission/policy/snapshot.h"
#include "apiserver/admission/policy.h"

namespace apiserver::inline v0::admission::policy {

// The parts that both policy plugins share.
class PolicyDispatcher {
 public:
  explicit PolicyDispatcher(PolicyAdmissionOptions options);

  const PolicyAdmissionOptions& options() const { return options_; }
  const ResourceMatcher& matcher() const { return matcher_; }
  // Returns the values of a request; they borrow from this and from `attributes`.
  RequestValues ValuesOf(const Attributes& attributes) const {
    return {matcher_.namespaces(), options_.authorizer.get(), attributes};
  }
  // kWouldBlock: one of the policies asks the authorizer, which may wait, and `ctx` must not.
  static Status RequireAuthorizer(const Context& ctx, const Snapshot& snapshot,
                                  const std::vector<std::uint32_t>& candidates);
  // True if there are no policies at all, as far as is known.
  bool Idle() const;
  // Returns the policies for a request. Null: policies never intercept it.
  Result<std::shared_ptr<const Snapshot>> SnapshotFor(const Attributes& attributes) const;

 private:
  const PolicyAdmissionOptions options_;
  const ResourceMatcher matcher_;
};

}  // namespace apiserver::inline v0::admission::policy
