#pragma once

#include <list>
#include <map>
#include <optional>
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
  RequestValues(const RequestValues&) = delete;
  RequestValues& operator=(const RequestValues&) = delete;

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
  LateValue Request(const runtime::GroupVersionResource& resource,
                    const runtime::GroupVersionKind& kind);

  // Makes `request` as the policies see it that matched some version.
  class RequestMaker final : public LateValue::Maker {
   public:
    RequestMaker(RequestValues& values, Matched matched)
        : values_(values), matched_(std::move(matched)) {}
    bool Sees(const runtime::GroupVersionResource& resource,
              const runtime::GroupVersionKind& kind) const {
      // Versions of a request's resource and kind differ in nothing but the version.
      return matched_.resource.version == resource.version && matched_.kind.version == kind.version;
    }

   private:
    runtime::Value Make() override;

    RequestValues& values_;
    const Matched matched_;
  };
  // Makes `namespaceObject`.
  class NamespaceMaker final : public LateValue::Maker {
   public:
    explicit NamespaceMaker(RequestValues& values) : values_(values) {}

   private:
    runtime::Value Make() override;

    RequestValues& values_;
  };

  const NamespaceMatcher& namespaces_;
  const Attributes& attributes_;
  std::optional<CachingAuthorizer> authorizer_;
  runtime::Arena arena_;
  cel::Scratch scratch_;
  std::map<const runtime::Object*, runtime::Value> contents_;
  std::list<RequestMaker> requests_;  // One for each version, at a place that stays.
  bool namespace_read_ = false;
  runtime::ObjectPtr namespace_;  // Null: it is not known.
  NamespaceMaker namespace_maker_{*this};
  LateValue namespace_value_;
};

}  // namespace apiserver::inline v0::admission::policy
