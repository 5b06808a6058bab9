#include "admission/policy/source.h"

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "admission/policy/informed_params.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "base/status_macros.h"
#include "codec/type_meta.h"

namespace apiserver::v0::admission::policy {

namespace {

using runtime::ObjectPtr;

// The interval at which the thread checks if it has to stop before the first list.
constexpr std::chrono::milliseconds kSyncStep(100);

class StaticPolicies final : public Policies {
 public:
  explicit StaticPolicies(std::vector<Hook> hooks)
      : snapshot_(std::make_shared<const Snapshot>(std::move(hooks))) {}

  void Start(std::shared_ptr<client::Client> /*client*/) override {}
  void Stop() override {}
  bool WaitForSync(std::chrono::milliseconds /*timeout*/) const override { return true; }
  std::shared_ptr<const Snapshot> Get() const override { return snapshot_; }
  Result<runtime::GroupVersionResource> ResourceFor(
      const Context& /*ctx*/, const runtime::GroupVersionKind& /*kind*/) const override {
    return Status(Reason::kServiceUnavailable, "static policies know no resources");
  }

 private:
  const std::shared_ptr<const Snapshot> snapshot_;
};

// Returns a text that changes with the spec of an object. Its status and metadata do not matter, so
// that a policy is not compiled again when its status is written.
std::string GenerationOf(const runtime::Object& object) {
  if (object.generation() == 0) return std::string(object.resource_version());
  return std::string(object.uid()) + "/" + std::to_string(object.generation());
}

// Objects that were read once, kept until they change.
template <class T>
class Parsed {
 public:
  template <class Read>
  T Get(const runtime::Object& object, const Read& read) {
    Entry& entry = entries_[std::string(object.name())];
    entry.used = true;
    std::string version = GenerationOf(object);
    if (entry.version != version) {
      entry.version = std::move(version);
      entry.value = read(object);
    }
    return entry.value;
  }
  // Forgets what has not been used since the last call.
  void Sweep() {
    for (auto at = entries_.begin(); at != entries_.end();) {
      at = std::exchange(at->second.used, false) ? std::next(at) : entries_.erase(at);
    }
  }

 private:
  struct Entry {
    std::string version;
    T value;
    bool used = false;
  };
  std::map<std::string, Entry> entries_;
};

// Follows policy_source.go.
class FollowedPolicies final : public Policies {
 public:
  FollowedPolicies(PoliciesOptions options, PolicyCompiler compiler)
      : options_(options), compiler_(std::move(compiler)) {}
  ~FollowedPolicies() override { FollowedPolicies::Stop(); }

  void Start(std::shared_ptr<client::Client> client) override {
    const bool mutating = options_.type == PolicyType::kMutating;
    const std::string stem = mutating ? "mutatingadmissionpolic" : "validatingadmissionpolic";
    policies_ = NewInformer(*client, stem + "ies");
    bindings_ = NewInformer(*client, stem + "ybindings");
    *client_.Lock() = std::move(client);
    policies_->Start();
    bindings_->Start();
    worker_ = Thread("admission-policies", [this] { Work(); });
  }

  void Stop() override {
    running_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
    state_.Lock()->stopping = true;
    state_.NotifyAll();
    if (worker_.joinable()) worker_.Join();
    if (policies_) policies_->Stop();
    if (bindings_) bindings_->Stop();
    for (const auto& [kind, params] : params_) params->Stop();
    // The client's connection has a thread, which is not needed any more.
    *client_.Lock() = nullptr;
  }

  bool WaitForSync(std::chrono::milliseconds timeout) const override {
    auto state = state_.Lock();
    if (state->snapshot) return true;
    return state.WaitUntil(RealClock().Now() + timeout,
                           [&state] { return state->snapshot != nullptr; });
  }

  std::shared_ptr<const Snapshot> Get() const override { return state_.Lock()->snapshot; }

  Result<runtime::GroupVersionResource> ResourceFor(
      const Context& ctx, const runtime::GroupVersionKind& kind) const override {
    const std::shared_ptr<client::Client> client = *client_.Lock();
    if (!client) return Status(Reason::kServiceUnavailable, "the server is not running");
    ASSIGN_OR_RETURN(const KindMapping mapping, MapKind(ctx, *client, kind));
    return mapping.resource;
  }

 private:
  struct State {
    bool changed = true;
    bool stopping = false;
    std::shared_ptr<const Snapshot> snapshot;
  };

  std::unique_ptr<client::Informer> NewInformer(client::Client& client,
                                                const std::string& resource) {
    const auto note = [this](const ObjectPtr& /*object*/) { Note(); };
    return client::NewInformer(
        client, {.target = {.resource = {"admissionregistration.k8s.io", "v1", resource}},
                 .handlers = {{.on_add = note,
                               .on_update = [this](const ObjectPtr& /*before*/,
                                                   const ObjectPtr& /*now*/) { Note(); },
                               .on_delete = note}},
                 .log = options_.log});
  }

  void Note() {
    state_.Lock()->changed = true;
    state_.NotifyAll();
  }

  // Sleeps until a change or `deadline`. False: the source stops.
  bool WaitForChange(Clock::Monotonic deadline) {
    auto state = state_.Lock();
    (void)state.WaitUntil(deadline, [&state] { return state->changed || state->stopping; });
    return !state->stopping;
  }
  // Sleeps until `deadline`. False: the source stops.
  bool Pause(Clock::Monotonic deadline) {
    auto state = state_.Lock();
    return !state.WaitUntil(deadline, [&state] { return state->stopping; });
  }

  void Work() {
    while (!policies_->WaitForSync(kSyncStep) || !bindings_->WaitForSync(kSyncStep)) {
      if (state_.Lock()->stopping) return;
    }
    bool complete = true;
    do {
      // Changes after this are compiled in the next round.
      const bool changed = std::exchange(state_.Lock()->changed, false);
      const Clock::Monotonic began = RealClock().Now();
      if (changed || !complete) complete = Refresh();
      // A burst of changes is compiled once.
      if (!Pause(began + options_.refresh)) return;
    } while (
        WaitForChange(RealClock().Now() + (complete ? std::chrono::hours(1) : options_.retry)));
  }

  // Compiles what has changed. False: a paramKind could not be found, which is tried again.
  bool Refresh() {
    std::map<std::string, std::vector<BindingPtr>, std::less<>> by_policy;
    for (const ObjectPtr& object : bindings_->List()) {
      BindingPtr binding = parsed_bindings_.Get(*object, BindingOf);
      by_policy[binding->policy].push_back(std::move(binding));
    }
    bool complete = true;
    std::vector<Hook> hooks;
    std::set<std::string> used;
    for (auto& [name, bindings] : by_policy) {
      const ObjectPtr object = policies_->Get("", name);
      // A binding may exist before its policy, and after it.
      if (!object) continue;
      Hook hook{.policy = parsed_policies_.Get(
                    *object,
                    [this](const runtime::Object& policy) { return PolicyOf(policy, compiler_); }),
                .bindings = std::move(bindings)};
      if (hook.policy->param_kind && !FindParams(hook, used)) complete = false;
      hooks.push_back(std::move(hook));
    }
    parsed_bindings_.Sweep();
    parsed_policies_.Sweep();
    auto snapshot = std::make_shared<const Snapshot>(std::move(hooks));
    // The old snapshot ends after the lock: much may hang on it.
    std::swap(state_.Lock()->snapshot, snapshot);
    state_.NotifyAll();
    StopUnused(used);
    return complete;
  }

  // Sets the parameters of a hook, or its configuration error.
  bool FindParams(Hook& hook, std::set<std::string>& used) {
    const ParamKind& wanted = *hook.policy->param_kind;
    const auto version = codec::ParseGroupVersion(wanted.api_version);
    if (!version.ok()) {
      hook.configuration_error =
          "failed to parse paramKind APIVersion: " + std::string(version.status().message());
      return true;
    }
    const runtime::GroupVersionKind kind{version->group, version->version, wanted.kind};
    const std::string name = kind.ToString();
    used.insert(name);
    auto& params = params_[name];
    if (!params) params = NewParams(kind);
    hook.params = params;
    if (params) return true;
    params_.erase(name);
    hook.configuration_error = "failed to find resource referenced by paramKind: '" + kind.group +
                               "/" + kind.version + ", Kind=" + kind.kind + "'";
    return false;
  }

  // Returns null if no resource serves the kind.
  std::shared_ptr<InformedParams> NewParams(const runtime::GroupVersionKind& kind) {
    const std::shared_ptr<client::Client> client = *client_.Lock();
    if (!client) return nullptr;
    const auto mapping = MapKind(running_, *client, kind);
    if (!mapping.ok()) return nullptr;
    auto params = std::make_shared<InformedParams>(*client, *mapping, *options_.log);
    params->Start();
    return params;
  }

  // Requests under way may still read what stops here; it only follows no longer.
  void StopUnused(const std::set<std::string>& used) {
    std::erase_if(params_, [&](const auto& entry) {
      if (used.contains(entry.first)) return false;
      entry.second->Stop();
      return true;
    });
  }

  const PoliciesOptions options_;
  const PolicyCompiler compiler_;
  const Context running_ = Context::Child(Context::Background());
  Guarded<std::shared_ptr<client::Client>> client_;
  std::unique_ptr<client::Informer> policies_;
  std::unique_ptr<client::Informer> bindings_;
  Thread worker_;
  Guarded<State> state_;
  // Used by the worker alone.
  Parsed<PolicyPtr> parsed_policies_;
  Parsed<BindingPtr> parsed_bindings_;
  // By the paramKind: "example.com/v1, Kind=Widget".
  std::map<std::string, std::shared_ptr<InformedParams>> params_;
};

}  // namespace

std::shared_ptr<Policies> NewFollowedPolicies(PoliciesOptions options, PolicyCompiler compiler) {
  return std::make_shared<FollowedPolicies>(options, std::move(compiler));
}

std::shared_ptr<Policies> NewStaticPolicies(std::vector<Hook> hooks) {
  return std::make_shared<StaticPolicies>(std::move(hooks));
}

}  // namespace apiserver::v0::admission::policy
