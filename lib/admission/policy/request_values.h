#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "admission/policy/caching_authorizer.h"
#include "admission/policy/expressions.h"
#include "admission/policy/match_resources.h"
#include "admission/policy/params.h"
#include "admission/versions.h"

namespace apiserver::inline v0::admission::policy {

// The values of one request that all policies and conditions share, each made when it is first
// used. Used by one thread.
class RequestValues {
 public:
  // Borrows its arguments. `authorizer` may be null.
  RequestValues(const NamespaceMatcher& namespaces, const auth::Authorizer* authorizer,
                const Attributes& attributes);

  // Returns the variables of match conditions of a webhook, which see neither namespace nor
  // parameters.
  Variables ForConditions(const Matched& matched, const ReviewObjects& objects);
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

  const NamespaceMatcher& namespaces_;
  const Attributes& attributes_;
  std::optional<CachingAuthorizer> authorizer_;
  runtime::Arena arena_;
  cel::Scratch scratch_;
  std::map<const runtime::Object*, runtime::Value> contents_;
  std::map<std::pair<std::string, std::string>, runtime::Value> requests_;
  bool namespace_read_ = false;
  runtime::ObjectPtr namespace_;
  runtime::Value namespace_value_;
};

}  // namespace apiserver::inline v0::admission::policy
