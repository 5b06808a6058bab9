#include "groups/rbac/aggregation.h"

#include <chrono>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/controller/controller.h"
#include "apiserver/meta/label_selector_value.h"
#include "base/status_macros.h"
#include "groups/rbac/convert.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::PolicyRule;
using controller::NamespacedName;
using runtime::ObjectPtr;
using runtime::Value;

constexpr std::string_view kManager = "clusterrole-aggregation-controller";
// The longest pause after a write that failed: who waits for a role must not wait for minutes after
// a storage was away.
constexpr std::chrono::seconds kRetryMax{1};

bool Aggregated(const runtime::Object& role) { return !role["aggregationRule"].is_null(); }

// Returns the body of an apply of a ClusterRole's rules.
std::string Applied(const std::string& name, const std::vector<PolicyRule>& rules) {
  runtime::Arena arena;
  std::string text = R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
                     R"("metadata":{"name":)";
  codec::AppendJsonString(name, text);
  text += "}";
  if (!rules.empty()) {
    text += R"(,"rules":)";
    codec::AppendJson(ToValue(rules, arena), text);
  }
  return text + "}";
}

// Follows the ClusterRoleAggregation controller of Go. After any change each aggregated role has a
// turn, since its selectors may match what has changed. Its queue is counted under upstream's name.
class ApplyingAggregator final : public Aggregator {
 public:
  ApplyingAggregator(client::Client& client, LogSink& log,
                     std::shared_ptr<metrics::Registry> metrics)
      : client_(client),
        metrics_(std::move(metrics)),
        controller_(controller::NewController(
            {.name = "ClusterRoleAggregator",
             .reconcile = [this](const Context& ctx,
                                 const NamespacedName& key) { return Sync(ctx, key.name); },
             .rate_limiter = controller::NewRateLimiter({.max = kRetryMax}),
             .metrics = metrics_.get(),
             .log = &log})) {}
  ~ApplyingAggregator() override { ApplyingAggregator::Stop(); }

  client::InformerHandler handler() override {
    return {
        .on_add = [this](const ObjectPtr& role) { Upsert(*role); },
        .on_update = [this](const ObjectPtr& /*before*/, const ObjectPtr& now) { Upsert(*now); },
        .on_delete = [this](const ObjectPtr& role) { Forget(std::string(role->name())); }};
  }
  void Start(const client::Informer& roles) override {
    roles_ = &roles;
    controller_->Start({&roles});
  }
  void Stop() override { controller_->Stop(); }

 private:
  void Upsert(const runtime::Object& role) {
    std::string name(role.name());
    if (!Aggregated(role)) return Forget(name);
    aggregated_.Lock()->insert(std::move(name));
    EnqueueAll();
  }
  // A role is gone, or has no rule any more.
  void Forget(const std::string& name) {
    aggregated_.Lock()->erase(name);
    EnqueueAll();
  }
  void EnqueueAll() {
    const std::set<std::string> names = *aggregated_.Lock();
    for (const std::string& name : names) controller_->queue().Add({"", name});
  }

  Result<controller::ReconcileResult> Sync(const Context& ctx, const std::string& name) {
    const ObjectPtr role = roles_->Get("", name);
    if (!role || !Aggregated(*role)) return controller::ReconcileResult{};
    ClusterRoles all;
    for (ObjectPtr& each : roles_->List()) all.emplace(each->name(), std::move(each));
    ASSIGN_OR_RETURN(const std::vector<PolicyRule> rules, AggregatedRules(*role, all));
    // Without this the write would change the role, which would give it another turn.
    if (rules == RulesOf((*role)["rules"])) return controller::ReconcileResult{};
    const client::Target target{
        .resource = {std::string(authz::rbac::kGroupName), "v1", "clusterroles"}, .name = name};
    const Status written =
        client_
            .Patch(ctx, target, {"application/apply-patch+yaml", Applied(name, rules)},
                   // Forced: the aggregated rules belong to this controller, whoever wrote them
                   // last.
                   {.force = true, .field_manager = std::string(kManager)})
            .status();
    if (!written.ok() && written.reason() != Reason::kNotFound) return written;
    return controller::ReconcileResult{};
  }

  client::Client& client_;
  const std::shared_ptr<metrics::Registry> metrics_;
  const client::Informer* roles_ = nullptr;  // Set by Start().
  Guarded<std::set<std::string>> aggregated_;
  const std::unique_ptr<controller::Controller> controller_;
};

}  // namespace

// Follows syncClusterRole: the union of the rules of all roles that a selector matches, without
// repetitions.
Result<std::vector<PolicyRule>> AggregatedRules(const runtime::Object& role,
                                                const ClusterRoles& all) {
  std::vector<PolicyRule> rules;
  std::unordered_set<std::string> seen;
  for (const Value& selector : role["aggregationRule"]["clusterRoleSelectors"].items()) {
    ASSIGN_OR_RETURN(const meta::LabelSelector fits, meta::LabelSelectorAsSelector(selector));
    for (const auto& [name, part] : all) {
      // A role may match its own selector.
      if (name == role.name() || !fits.Matches(part->labels())) continue;
      for (PolicyRule& rule : RulesOf((*part)["rules"])) {
        if (seen.insert(CompactString(rule)).second) rules.push_back(std::move(rule));
      }
    }
  }
  return rules;
}

std::unique_ptr<Aggregator> NewAggregator(client::Client& client, LogSink& log,
                                          std::shared_ptr<metrics::Registry> metrics) {
  return std::make_unique<ApplyingAggregator>(client, log, std::move(metrics));
}

}  // namespace apiserver::v0::groups::rbac
