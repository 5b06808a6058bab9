#include <memory>
#include <string>
#include <utility>

#include "apiserver/authz/builtin.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "groups/authorization/rules_review.h"
#include "groups/authorization/selectors.h"
#include "groups/authorization/validation.h"

namespace apiserver::v0::groups::authorization {

namespace {

using runtime::Value;

// Returns the user that a SubjectAccessReview is about.
// The user need not exist, since the server has no list of users.
auth::UserInfoPtr SubjectOf(const Value& spec) {
  const auto texts = [](const Value& list) {
    std::vector<std::string> result;
    for (const Value& text : list.items()) result.emplace_back(text.AsString());
    return result;
  };
  auto user = std::make_shared<auth::UserInfo>();
  user->name = spec["user"].AsString();
  user->uid = spec["uid"].AsString();
  user->groups = texts(spec["groups"]);
  for (const runtime::Member& member : spec["extra"].members()) {
    user->extra.emplace(member.key, texts(member.value));
  }
  return user;
}

// The attributes that the authorizer is asked about; borrows the review.
struct Question {
  Question(const Value& spec, auth::UserInfoPtr user) {
    attributes.user = std::move(user);
    const Value resource = spec["resourceAttributes"];
    if (resource.is_null()) {
      const Value other = spec["nonResourceAttributes"];
      attributes.verb = other["verb"].AsString();
      attributes.path = other["path"].AsString();
      return;
    }
    field_selector = FieldSelectorText(resource["fieldSelector"]);
    label_selector = LabelSelectorText(resource["labelSelector"]);
    const std::string_view version = resource["version"].AsString();
    attributes.resource_request = true;
    attributes.verb = resource["verb"].AsString();
    attributes.group = resource["group"].AsString();
    // As upstream: without a version the question is about all of them.
    attributes.version = version.empty() ? "*" : version;
    attributes.resource = resource["resource"].AsString();
    attributes.subresource = resource["subresource"].AsString();
    attributes.namespace_ = resource["namespace"].AsString();
    attributes.name = resource["name"].AsString();
    attributes.field_selector = field_selector.text;
    attributes.label_selector = label_selector.text;
  }
  Question(const Question&) = delete;  // The attributes point into this object.
  Question& operator=(const Question&) = delete;
  ~Question() = default;

  SelectorText field_selector;
  SelectorText label_selector;
  auth::Attributes attributes;
};

// Upstream's texts, which kubectl shows as they are.
void AppendSelectorError(const SelectorText& selector, std::string_view name, std::string& errors) {
  if (!selector.parse_error) return;
  if (!errors.empty()) errors += "; ";
  errors += "spec.resourceAttributes." + std::string(name);
  errors += selector.text.empty() ? " ignored" : " partially ignored";
  errors += " due to parse error";
}

// Follows the answers of pkg/registry/authorization: an error is told in the status, and the review
// itself succeeds.
void Answer(const Question& question, const Result<auth::Verdict>& verdict,
            runtime::Object& review) {
  const auth::Verdict answer = verdict.ok() ? *verdict : auth::Verdict{};
  std::string errors(verdict.ok() ? "" : verdict.status().message());
  AppendSelectorError(question.field_selector, "fieldSelector", errors);
  AppendSelectorError(question.label_selector, "labelSelector", errors);
  // A client may have sent a status.
  review.Erase("status");
  review.Edit("status", "allowed") = answer.decision == auth::Decision::kAllow;
  // `denied` is only set for an explicit denial, as opposed to no opinion.
  if (answer.decision == auth::Decision::kDeny) review.Edit("status", "denied") = true;
  if (!answer.reason.empty()) review.Edit("status", "reason") = answer.reason;
  if (!errors.empty()) review.Edit("status", "evaluationError") = errors;
}

// The differences between the three reviews.
struct Form {
  std::string kind;
  field::ErrorList (*validate)(const runtime::Object& review);
  bool self = false;  // True if the review is about its own user.
};

// Answers a review and stores nothing: k8s.io/kubernetes/pkg/registry/authorization.
class AccessReview final : public rest::Storage,
                           public rest::Scoper,
                           public rest::SingularNameProvider,
                           public rest::Creater {
 public:
  AccessReview(runtime::KindPtr kind, Form form, std::shared_ptr<const auth::Authorizer> authorizer)
      : kind_(std::move(kind)), form_(std::move(form)), authorizer_(std::move(authorizer)) {}

  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(kind_, kind_->hub_version());
  }
  bool NamespaceScoped() const override { return kind_->namespaced(); }
  std::string GetSingularName() const override { return kind_->singular(); }

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<runtime::Object> review,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& /*options*/) override {
    const field::ErrorList errors = form_.validate(*review);
    // Go's internal types do not have their kind, so the error names none.
    if (!errors.empty()) return meta::NewInvalid({kind_->group(), ""}, "", errors);
    RETURN_IF_ERROR(CheckNamespace(ctx, *review));
    const auth::UserInfoPtr* const asking = ctx.Get<auth::UserInfoPtr>();
    if (form_.self && asking == nullptr) {
      return meta::NewBadRequest("no user present on request");
    }
    // Admission comes after validation here: a review has no store that would call it.
    if (validate) RETURN_IF_ERROR(validate(ctx, *review));
    const Value spec = (*review)["spec"];
    const Question question(spec, form_.self ? *asking : SubjectOf(spec));
    Answer(question, authorizer_->Authorize(ctx, question.attributes), *review);
    return runtime::ObjectPtr(std::move(review));
  }

 private:
  Status CheckNamespace(const Context& ctx, const runtime::Object& review) const {
    if (!kind_->namespaced()) return {};
    const std::string ns(rest::NamespaceOf(ctx));
    if (ns.empty()) return meta::NewBadRequest("namespace is required on this type: ");
    if (ns == review.namespace_()) return {};
    return meta::NewBadRequest("spec.resourceAttributes.namespace must match namespace: " + ns);
  }

  const runtime::KindPtr kind_;
  const Form form_;
  const std::shared_ptr<const auth::Authorizer> authorizer_;
};

}  // namespace

std::map<std::string, std::shared_ptr<rest::Storage>> AccessReviews(
    const std::vector<runtime::KindPtr>& kinds,
    const std::shared_ptr<const auth::Authorizer>& authorizer,
    const std::shared_ptr<const auth::RuleResolver>& rules) {
  const Form forms[] = {
      {"LocalSubjectAccessReview", &ValidateLocalSubjectAccessReview},
      {"SelfSubjectAccessReview", &ValidateSelfSubjectAccessReview, /*self=*/true},
      {"SubjectAccessReview", &ValidateSubjectAccessReview}};
  std::map<std::string, std::shared_ptr<rest::Storage>> storages;
  for (const runtime::KindPtr& kind : kinds) {
    for (const Form& form : forms) {
      if (form.kind != kind->kind()) continue;
      storages.emplace(kind->plural(), std::make_shared<AccessReview>(kind, form, authorizer));
    }
    if (rules && kind->kind() == "SelfSubjectRulesReview") {
      storages.emplace(kind->plural(), NewRulesReview(kind, rules));
    }
  }
  return storages;
}

// Only for servers that authorize by themselves; behind an aggregator the cluster answers reviews.
Status Install(server::GenericAPIServer& server, std::shared_ptr<const auth::Authorizer> authorizer,
               std::shared_ptr<const auth::RuleResolver> rules) {
  // The server itself also allows everything without an authorizer.
  if (!authorizer) {
    authorizer = authz::NewAlwaysAllow();
    if (!rules) rules = authz::NewAlwaysAllowRules();
  }
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, Kinds());
  server::APIGroupInfo group{.group = "authorization.k8s.io"};
  auto& reviews = group.storage["v1"];
  reviews = AccessReviews(kinds, authorizer, rules);
  for (const runtime::KindPtr& kind : kinds) {
    // Without a rule resolver SelfSubjectRulesReview is not served, and its kind stays out of the
    // scheme.
    if (!reviews.contains(kind->plural())) continue;
    RETURN_IF_ERROR(server.scheme().Add(kind));
  }
  return server.InstallAPIGroup(std::move(group));
}

}  // namespace apiserver::v0::groups::authorization
