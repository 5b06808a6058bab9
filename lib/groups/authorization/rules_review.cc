#include "groups/authorization/rules_review.h"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/meta/errors.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"

namespace apiserver::v0::groups::authorization {
namespace {

using runtime::Value;

void AddTexts(const char* field, const std::vector<std::string>& texts, runtime::Arena& arena,
              runtime::MapBuilder& map) {
  if (texts.empty()) return;
  runtime::ListBuilder list(arena);
  for (const std::string& text : texts) list.Add(Value::String(arena.Copy(text)));
  map.Add(field, list.Build());
}

Value ResourceRules(const auth::Rules& rules, runtime::Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const auth::ResourceRule& rule : rules.resource_rules) {
    runtime::MapBuilder map(arena);
    AddTexts("verbs", rule.verbs, arena, map);
    AddTexts("apiGroups", rule.groups, arena, map);
    AddTexts("resources", rule.resources, arena, map);
    AddTexts("resourceNames", rule.names, arena, map);
    list.Add(map.Build());
  }
  return list.Build();
}

Value NonResourceRules(const auth::Rules& rules, runtime::Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const auth::NonResourceRule& rule : rules.non_resource_rules) {
    runtime::MapBuilder map(arena);
    AddTexts("verbs", rule.verbs, arena, map);
    AddTexts("nonResourceURLs", rule.paths, arena, map);
    list.Add(map.Build());
  }
  return list.Build();
}

// Stores nothing and needs no right but that to create the review: it is about the user itself.
class RulesReview final : public rest::Storage,
                          public rest::Scoper,
                          public rest::SingularNameProvider,
                          public rest::Creater {
 public:
  RulesReview(runtime::KindPtr kind, std::shared_ptr<const auth::RuleResolver> rules)
      : kind_(std::move(kind)), rules_(std::move(rules)) {}

  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(kind_, kind_->hub_version());
  }
  bool NamespaceScoped() const override { return kind_->namespaced(); }
  std::string GetSingularName() const override { return kind_->singular(); }

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<runtime::Object> review,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& /*options*/) override {
    const auth::UserInfoPtr* const asking = ctx.Get<auth::UserInfoPtr>();
    if (asking == nullptr) return meta::NewBadRequest("no user present on request");
    const std::string_view ns = (*review)["spec"]["namespace"].AsString();
    if (ns.empty()) return meta::NewBadRequest("no namespace on request");
    // Admission sees the request; nothing is stored that it could be called for later.
    if (validate) RETURN_IF_ERROR(validate(ctx, *review));
    const auth::Rules rules = rules_->RulesFor(ctx, *asking, ns);
    // The answer contains nothing of the request, as upstream.
    auto answer = New();
    runtime::Arena& arena = answer->arena();
    answer->Edit("status", "resourceRules") = ResourceRules(rules, arena);
    answer->Edit("status", "nonResourceRules") = NonResourceRules(rules, arena);
    // Set if an authorizer cannot list all of its rules, as a webhook.
    answer->Edit("status", "incomplete") = rules.incomplete;
    if (!rules.error.empty()) answer->Edit("status", "evaluationError") = rules.error;
    // Brings the content that was built here into the canonical form.
    RETURN_IF_ERROR(runtime::Settle(*answer, {.defaults = false}));
    return runtime::ObjectPtr(std::move(answer));
  }

 private:
  const runtime::KindPtr kind_;
  const std::shared_ptr<const auth::RuleResolver> rules_;
};

}  // namespace

std::shared_ptr<rest::Storage> NewRulesReview(runtime::KindPtr kind,
                                              std::shared_ptr<const auth::RuleResolver> rules) {
  return std::make_shared<RulesReview>(std::move(kind), std::move(rules));
}

}  // namespace apiserver::v0::groups::authorization
