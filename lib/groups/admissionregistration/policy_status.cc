#include "groups/admissionregistration/policy_status.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "apiserver/codec/json.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using admission::policy::ExpressionWarning;
using runtime::ObjectPtr;

constexpr char kManager[] = "validatingadmissionpolicy-status";
// The pause after a write that failed.
constexpr std::chrono::seconds kStatusRetry{1};

client::Target PoliciesTarget() {
  return {.resource = {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"}};
}

// Finds kinds among those that the server serves now; they may come and go.
class SchemeTypes final : public admission::policy::TypeResolver {
 public:
  explicit SchemeTypes(const runtime::Scheme& scheme) : scheme_(scheme) {}

  std::vector<runtime::GroupVersionKind> KindsFor(
      const runtime::GroupVersionResource& resource) const override {
    std::vector<runtime::GroupVersionKind> found;
    for (const runtime::KindPtr& kind : scheme_.snapshot()->kinds()) {
      if (kind->group_resource() != resource.group_resource()) continue;
      if (kind->FindVersion(resource.version) == nullptr) continue;
      found.push_back({resource.group, resource.version, kind->kind()});
    }
    return found;
  }
  runtime::SchemaPtr SchemaFor(const runtime::GroupVersionKind& wanted) const override {
    for (const runtime::KindPtr& kind : scheme_.snapshot()->kinds()) {
      if (kind->group_kind() != wanted.group_kind()) continue;
      const runtime::KindVersion* const version = kind->FindVersion(wanted.version);
      return version == nullptr ? nullptr : version->schema;
    }
    return nullptr;
  }

 private:
  const runtime::Scheme& scheme_;
};

// Returns the body of an apply of the status.
std::string AppliedStatus(const runtime::Object& policy,
                          const std::vector<ExpressionWarning>& warnings) {
  std::string text = R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
                     R"("kind":"ValidatingAdmissionPolicy","metadata":{"name":)";
  codec::AppendJsonString(policy.name(), text);
  text += R"(},"status":{"observedGeneration":)" + std::to_string(policy.generation()) +
          R"(,"typeChecking":{)";
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    text += i == 0 ? R"("expressionWarnings":[{"fieldRef":)" : R"(,{"fieldRef":)";
    codec::AppendJsonString(warnings[i].field_ref, text);
    text += R"(,"warning":)";
    codec::AppendJsonString(warnings[i].warning, text);
    text += '}';
  }
  return text + (warnings.empty() ? "}}}" : "]}}}");
}

// One thread, which an informer wakes. Policies that wait are kept by name: the newest counts.
class ApplyingStatusWriter final : public PolicyStatusWriter {
 public:
  ApplyingStatusWriter(const runtime::Scheme& scheme, LogSink& log)
      : types_(scheme), log_(log), ctx_(Context::Child(Context::Background())) {}
  ~ApplyingStatusWriter() override { ApplyingStatusWriter::Stop(); }

  void Start(std::shared_ptr<client::Client> client) override {
    client_ = std::move(client);
    const auto note = [this](const ObjectPtr& policy) { Note(policy); };
    informer_ = client::NewInformer(
        *client_, {.target = PoliciesTarget(),
                   .handlers = {{.on_add = note,
                                 .on_update = [note](const ObjectPtr& /*before*/,
                                                     const ObjectPtr& now) { note(now); },
                                 .on_delete = nullptr}},
                   .log = &log_});
    informer_->Start();
    thread_ = Thread("policy-status", [this] { Work(); });
  }

  void Stop() override {
    ctx_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
    state_.Lock()->stopping = true;
    state_.NotifyAll();
    if (informer_) informer_->Stop();
    if (thread_.joinable()) thread_.Join();
    // The client's connection has a thread, which is not needed any more.
    client_ = nullptr;
  }

 private:
  struct State {
    std::map<std::string, ObjectPtr> waiting;
    bool stopping = false;
  };

  // Called on the informer's thread, so it only notes the policy.
  void Note(const ObjectPtr& policy) {
    if (policy->generation() <= (*policy)["status"]["observedGeneration"].AsInt()) return;
    state_.Lock()->waiting[std::string(policy->name())] = policy;
    state_.NotifyAll();
  }

  // Waits for a policy. Null: the writer stops.
  ObjectPtr Next() {
    auto state = state_.Lock();
    state.Wait([&state] { return !state->waiting.empty() || state->stopping; });
    if (state->stopping) return nullptr;
    ObjectPtr next = std::move(state->waiting.begin()->second);
    state->waiting.erase(state->waiting.begin());
    return next;
  }

  void Work() {
    while (const ObjectPtr policy = Next()) {
      const Status status = Write(*policy);
      // A policy that is gone needs no status.
      if (status.ok() || status.reason() == Reason::kNotFound || ctx_.done()) continue;
      Log(log_, LogLevel::kWarning, "the status of an admission policy could not be written",
          {{"name", std::string(policy->name())}, {"error", status.ToString()}});
      TryAgain(policy);
    }
  }

  Status Write(const runtime::Object& policy) {
    client::Target target = PoliciesTarget();
    target.name = policy.name();
    target.subresource = "status";
    const std::string body = AppliedStatus(policy, admission::policy::CheckTypes(policy, types_));
    return client_
        ->Patch(ctx_, target, {"application/apply-patch+yaml", body},
                {.force = true, .field_manager = kManager})
        .status();
  }

  void TryAgain(const ObjectPtr& policy) {
    auto state = state_.Lock();
    (void)state.WaitUntil(RealClock().Now() + kStatusRetry, [&state] { return state->stopping; });
    // A newer one may have come meanwhile.
    state->waiting.try_emplace(std::string(policy->name()), policy);
  }

  const SchemeTypes types_;
  LogSink& log_;
  const Context ctx_;
  std::shared_ptr<client::Client> client_;
  std::unique_ptr<client::Informer> informer_;
  Guarded<State> state_;
  Thread thread_;
};

}  // namespace

std::shared_ptr<PolicyStatusWriter> NewPolicyStatusWriter(const runtime::Scheme& scheme,
                                                          LogSink& log) {
  return std::make_shared<ApplyingStatusWriter>(scheme, log);
}

std::unique_ptr<admission::policy::TypeResolver> NewSchemeTypes(const runtime::Scheme& scheme) {
  return std::make_unique<SchemeTypes>(scheme);
}

}  // namespace apiserver::v0::groups::admissionregistration
