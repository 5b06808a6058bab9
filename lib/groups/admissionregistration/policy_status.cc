#include "groups/admissionregistration/policy_status.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/client/informer.h"
#include "apiserver/codec/json.h"
#include "apiserver/controller/controller.h"
#include "apiserver/controller/handlers.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using admission::policy::ExpressionWarning;
using controller::NamespacedName;
using runtime::ObjectPtr;

constexpr char kManager[] = "validatingadmissionpolicy-status";
// The longest pause after a write that failed.
constexpr std::chrono::seconds kStatusRetryMax{1};

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

// Returns whether the spec of `policy` has not been judged yet.
bool IsBehind(const runtime::Object& policy) {
  return policy.generation() > policy["status"]["observedGeneration"].AsInt();
}

// One thread works on policies whose specs have changed. Its queue is counted under the name of
// upstream's controller.
class ApplyingStatusWriter final : public PolicyStatusWriter {
 public:
  ApplyingStatusWriter(const runtime::Scheme& scheme, LogSink& log) : types_(scheme), log_(log) {}
  ~ApplyingStatusWriter() override { ApplyingStatusWriter::Stop(); }

  void Start(std::shared_ptr<client::Client> client,
             std::shared_ptr<metrics::Registry> metrics) override {
    client_ = std::move(client);
    metrics_ = std::move(metrics);
    controller_ = controller::NewController(
        {.name = kManager,
         .reconcile = [this](const Context& ctx,
                             const NamespacedName& key) { return Sync(ctx, key.name); },
         .rate_limiter = controller::NewRateLimiter({.max = kStatusRetryMax}),
         .metrics = metrics_.get(),
         .log = &log_});
    informer_ =
        client::NewInformer(*client_, {.target = PoliciesTarget(),
                                       .handlers = {controller::EnqueueObject(
                                           controller_->queue(),
                                           [](const ObjectPtr& /*before*/, const ObjectPtr& now) {
                                             return now != nullptr && IsBehind(*now);
                                           })},
                                       .log = &log_});
    informer_->Start();
    controller_->Start({informer_.get()});
  }

  void Stop() override {
    if (controller_) controller_->Stop();
    if (informer_) informer_->Stop();
    // The client's connection has a thread, which is not needed any more.
    client_ = nullptr;
  }

 private:
  Result<controller::ReconcileResult> Sync(const Context& ctx, const std::string& name) {
    const ObjectPtr policy = informer_->Get("", name);
    // A policy that is gone needs no status.
    if (!policy || !IsBehind(*policy)) return controller::ReconcileResult{};
    client::Target target = PoliciesTarget();
    target.name = name;
    target.subresource = "status";
    const std::string body = AppliedStatus(*policy, admission::policy::CheckTypes(*policy, types_));
    const Status written = client_
                               ->Patch(ctx, target, {"application/apply-patch+yaml", body},
                                       {.force = true, .field_manager = kManager})
                               .status();
    if (!written.ok() && written.reason() != Reason::kNotFound) return written;
    return controller::ReconcileResult{};
  }

  const SchemeTypes types_;
  LogSink& log_;
  std::shared_ptr<client::Client> client_;
  std::shared_ptr<metrics::Registry> metrics_;
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<client::Informer> informer_;
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
