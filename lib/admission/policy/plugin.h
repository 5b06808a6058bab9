#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "admission/policy/caching_authorizer.h"
#include "admission/policy/match_resources.h"
#include "admission/policy/snapshot.h"
#include "admission/webhook/review.h"
#include "apiserver/admission/policy.h"

namespace apiserver::inline v0::admission::policy {

// The parts that both policy plugins share.
class PolicyDispatcher {
 public:
  explicit PolicyDispatcher(PolicyAdmissionOptions options);

  const PolicyAdmissionOptions& options() const { return options_; }
  const ResourceMatcher& matcher() const { return matcher_; }
  // Returns the policies for a request. Null: policies never intercept it.
  Result<std::shared_ptr<const Snapshot>> SnapshotFor(const Attributes& attributes) const;

 private:
  const PolicyAdmissionOptions options_;
  const ResourceMatcher matcher_;
};

// The values of one request that all policies share, each made when it is first used. Used by one
// thread.
class RequestValues {
 public:
  RequestValues(const PolicyDispatcher& dispatcher, const Attributes& attributes);

  // Returns the variables of an evaluation; `params` may be null. Errors are those of the request's
  // namespace.
  Result<Variables> For(const Context& ctx, const Matched& matched, const ReviewObjects& objects,
                        const runtime::Object* params, const ParamKind* param_kind);
  // Forgets objects that For() was given, before they change or go.
  void ForgetObjects() { contents_.clear(); }
  // Reads the namespace of the request, as upstream does before the first evaluation.
  Status ReadNamespace(const Context& ctx);

 private:
  runtime::Value Content(const runtime::Object* object);
  runtime::Value Params(const runtime::Object* params, const ParamKind* kind);
  runtime::Value Request(const Matched& matched);
  void SetNamespace(const runtime::Object* found);

  const PolicyDispatcher& dispatcher_;
  const Attributes& attributes_;
  std::optional<CachingAuthorizer> authorizer_;
  runtime::Arena arena_;
  std::map<const runtime::Object*, runtime::Value> contents_;
  std::map<std::tuple<std::string, std::string, std::string>, runtime::Value> requests_;
  bool namespace_read_ = false;
  runtime::ObjectPtr namespace_;
  runtime::Value namespace_value_;
};

}  // namespace apiserver::inline v0::admission::policy
