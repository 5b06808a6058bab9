#include "groups/rbac/aggregation.h"

#include <chrono>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/label_selector_value.h"
#include "base/status_macros.h"
#include "groups/rbac/convert.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::PolicyRule;
using runtime::ObjectPtr;
using runtime::Value;

constexpr std::string_view kManager = "clusterrole-aggregation-controller";
// The pause after a write that failed.
constexpr std::chrono::seconds kRetry{1};

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

// Follows the ClusterRoleAggregation controller of Go, as one thread: roles are few, and rounds are
// cheap. Upsert() and Delete() come from informers and only mark that there is work.
class ApplyingAggregator final : public Aggregator {
 public:
  ApplyingAggregator(client::Client& client, LogSink& log)
      : client_(client), log_(log), ctx_(Context::Child(Context::Background())) {}
  ~ApplyingAggregator() override { ApplyingAggregator::Stop(); }

  void Upsert(const ObjectPtr& role) override {
    auto state = state_.Lock();
    state->roles[std::string(role->name())] = role;
    Changed(*state);
  }
  void Delete(const ObjectPtr& role) override {
    auto state = state_.Lock();
    state->roles.erase(std::string(role->name()));
    Changed(*state);
  }

  void Start() override {
    thread_ = Thread("aggregator", [this] { Run(); });
  }
  // Any thread but the aggregator's own. Cancels a write in progress.
  void Stop() override {
    ctx_.Cancel(Status(Reason::kServiceUnavailable, "the server is stopping"));
    state_.Lock()->stopped = true;
    state_.NotifyAll();
    thread_.Join();
  }

 private:
  struct State {
    ClusterRoles roles;
    bool dirty = false;
    bool stopped = false;
  };

  void Changed(State& state) {
    state.dirty = true;
    state_.NotifyAll();
  }

  // Waits for work and returns the present roles. nullopt: stopped. Copies pointers only, so that
  // informers do not wait for a round.
  std::optional<ClusterRoles> NextWork() {
    auto state = state_.Lock();
    state.Wait([&] { return state->dirty || state->stopped; });
    if (state->stopped) return std::nullopt;
    state->dirty = false;
    return state->roles;
  }

  void Run() {
    while (const std::optional<ClusterRoles> roles = NextWork()) {
      bool failed = false;
      for (const auto& [name, role] : *roles) {
        if (!Aggregated(*role)) continue;
        const Status status = Sync(name, *role, *roles);
        if (status.ok() || status.reason() == Reason::kNotFound || ctx_.done()) continue;
        failed = true;
        Log(log_, LogLevel::kWarning, "rbac: a cluster role could not be aggregated",
            {{"name", name}, {"error", status.ToString()}});
      }
      if (failed) TryAgain();
    }
  }

  Status Sync(const std::string& name, const runtime::Object& role, const ClusterRoles& all) {
    ASSIGN_OR_RETURN(const std::vector<PolicyRule> rules, AggregatedRules(role, all));
    // Without this the write would change the role, which would start the next round.
    if (rules == RulesOf(role["rules"])) return {};
    const client::Target target{
        .resource = {std::string(authz::rbac::kGroupName), "v1", "clusterroles"}, .name = name};
    return client_
        .Patch(ctx_, target, {"application/apply-patch+yaml", Applied(name, rules)},
               // Forced: the aggregated rules belong to this controller, whoever wrote them last.
               {.force = true, .field_manager = std::string(kManager)})
        .status();
  }

  void TryAgain() {
    auto state = state_.Lock();
    // All roles are tried again: which ones failed is not kept.
    (void)state.WaitUntil(std::chrono::steady_clock::time_point(RealClock().Now()) + kRetry,
                          [&] { return state->stopped; });
    state->dirty = true;
  }

  client::Client& client_;
  LogSink& log_;
  const Context ctx_;
  Guarded<State> state_;
  Thread thread_;
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

std::unique_ptr<Aggregator> NewAggregator(client::Client& client, LogSink& log) {
  return std::make_unique<ApplyingAggregator>(client, log);
}

}  // namespace apiserver::v0::groups::rbac
