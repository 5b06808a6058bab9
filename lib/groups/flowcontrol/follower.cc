#include "groups/flowcontrol/follower.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/time.h"
#include "groups/flowcontrol/convert.h"
#include "groups/flowcontrol/names.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

using runtime::ObjectPtr;

constexpr char kFieldManager[] = "api-priority-and-fairness-config-consumer-v1";
// Limits the writes of one schema's status in a minute: servers that disagree must not go on
// overwriting each other.
constexpr std::size_t kWritesAMinute = 6;
// The interval at which the worker checks if it has to stop before the first sync.
constexpr std::chrono::milliseconds kSyncStep(100);

struct Dangling {
  bool missing;
  std::string reason;
  std::string message;
};

// The condition "Dangling" of a FlowSchema: its level does not exist.
Dangling DanglingOf(const std::string& level, bool found) {
  const std::string text =
      "This FlowSchema references the PriorityLevelConfiguration object named \"" + level + "\" ";
  if (found) return {false, "Found", text + "and it exists"};
  return {true, "NotFound", text + "but there is no such object"};
}

// True if nothing must be written; the time of the last transition does not count.
bool Says(const runtime::Object& schema, const Dangling& wanted) {
  for (const runtime::Value& condition : schema["status"]["conditions"].items()) {
    if (condition["type"].AsString() != "Dangling") continue;
    return condition["status"].AsString() == (wanted.missing ? "True" : "False") &&
           condition["reason"].AsString() == wanted.reason &&
           condition["message"].AsString() == wanted.message;
  }
  return false;
}

// Returns the server-side apply of the status.
std::string ApplyText(const std::string& name, const Dangling& dangling, const Clock& clock) {
  std::string text = R"({"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema",)"
                     R"("metadata":{"name":)";
  codec::AppendJsonString(name, text);
  text += R"(},"status":{"conditions":[{"type":"Dangling","status":)";
  text += dangling.missing ? R"("True")" : R"("False")";
  text += R"(,"lastTransitionTime":")" + meta::Timestamp(clock) + R"(","reason":)";
  codec::AppendJsonString(dangling.reason, text);
  text += R"(,"message":)";
  codec::AppendJsonString(dangling.message, text);
  return text + "}]}}";
}

// Follows the configController of util/flowcontrol: informers mark a change, and one worker digests
// the whole configuration.
class InformerFollower final : public Follower {
 public:
  InformerFollower(std::shared_ptr<client::Client> client, FollowerOptions options)
      : client_(std::move(client)), options_(options) {
    schemas_ = NewInformer(kFlowSchemas);
    levels_ = NewInformer(kPriorityLevels);
  }
  ~InformerFollower() override { InformerFollower::Stop(); }

  void Start() override {
    schemas_->Start();
    levels_->Start();
    worker_ = Thread("flowcontrol", [this] { Work(); });
  }

  bool WaitForSync(std::chrono::milliseconds timeout) override {
    auto state = state_.Lock();
    return state.WaitUntil(RealClock().Now() + timeout, [&state] { return state->digested; });
  }

  // The worker first: it waits for the informers.
  void Stop() override {
    running_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
    state_.Lock()->stopping = true;
    state_.NotifyAll();
    if (worker_.joinable()) worker_.Join();
    schemas_->Stop();
    levels_->Stop();
  }

 private:
  struct State {
    bool changed = true;
    bool digested = false;
    bool stopping = false;
  };

  std::unique_ptr<client::Informer> NewInformer(std::string_view resource) {
    const auto note = [this](const ObjectPtr& /*object*/) { Note(); };
    return client::NewInformer(
        *client_, {.target = {.resource = {std::string(kGroup), "v1", std::string(resource)}},
                   .handlers = {{.on_add = note,
                                 .on_update = [this](const ObjectPtr& /*before*/,
                                                     const ObjectPtr& /*now*/) { Note(); },
                                 .on_delete = note}},
                   .log = options_.log});
  }

  // Runs on an informer's thread; many changes are one round.
  void Note() {
    state_.Lock()->changed = true;
    state_.NotifyAll();
  }

  // Runs again after `retry` if a status could not be written.
  void Work() {
    bool again = false;
    while (true) {
      {
        auto state = state_.Lock();
        const auto due = [&state] { return state->changed || state->stopping; };
        // The wait has a limit: an informer may have synced without a single object.
        (void)state.WaitUntil(RealClock().Now() + options_.retry, due);
        if (state->stopping) return;
        if (!std::exchange(state->changed, false) && state->digested && !again) continue;
      }
      if (!schemas_->WaitForSync(kSyncStep) || !levels_->WaitForSync(kSyncStep)) {
        Note();
        continue;
      }
      again = !Digest();
      state_.Lock()->digested = true;
      state_.NotifyAll();
    }
  }

  // Returns whether all statuses are right.
  bool Digest() {
    config::Configuration configuration;
    std::set<std::string> names;
    for (const ObjectPtr& level : levels_->List()) {
      configuration.priority_levels.push_back(LevelOf(*level));
      names.insert(configuration.priority_levels.back().name);
    }
    const std::vector<ObjectPtr> schemas = schemas_->List();
    for (const ObjectPtr& schema : schemas) {
      configuration.flow_schemas.push_back(SchemaOf(*schema));
    }
    // The whole configuration at once: a schema and its level may come in either order.
    if (options_.flow_control) options_.flow_control->Configure(std::move(configuration));
    bool all = true;
    for (const ObjectPtr& schema : schemas) {
      const config::FlowSchema wanted = SchemaOf(*schema);
      const Dangling dangling =
          DanglingOf(wanted.priority_level, names.contains(wanted.priority_level));
      if (!Says(*schema, dangling)) all &= Write(wanted.name, dangling);
    }
    return all;
  }

  // Rate-limited as upstream: two servers with different schemas would otherwise write without end.
  bool Write(const std::string& name, const Dangling& dangling) {
    const Clock::Monotonic now = options_.clock->Now();
    std::deque<Clock::Monotonic>& writes = writes_[name];
    while (!writes.empty() && now - writes.front() > std::chrono::minutes(1)) writes.pop_front();
    // False: the worker tries again after `retry`.
    if (writes.size() >= kWritesAMinute) return false;
    writes.push_back(now);
    meta::PatchOptions patch;
    // Every server may take the condition over from another one.
    patch.force = true;
    patch.field_manager = kFieldManager;
    const Status status =
        client_
            ->Patch(running_,
                    {.resource = {std::string(kGroup), "v1", std::string(kFlowSchemas)},
                     .name = name,
                     .subresource = "status"},
                    {.media_type = "application/apply-patch+yaml",
                     .text = ApplyText(name, dangling, *options_.clock)},
                    patch)
            .status();
    if (status.ok() || status.reason() == Reason::kNotFound) return true;
    Log(*options_.log, LogLevel::kWarning, "the status of a FlowSchema could not be written",
        {{"name", name}, {"error", status.ToString()}});
    return false;
  }

  const std::shared_ptr<client::Client> client_;
  const FollowerOptions options_;
  Context running_ = Context::Child(Context::Background());
  Guarded<State> state_;
  // The times of each schema's recent status writes; used by the worker.
  std::map<std::string, std::deque<Clock::Monotonic>> writes_;
  std::unique_ptr<client::Informer> schemas_;
  std::unique_ptr<client::Informer> levels_;
  Thread worker_;
};

}  // namespace

std::unique_ptr<Follower> NewFollower(std::shared_ptr<client::Client> client,
                                      FollowerOptions options) {
  return std::make_unique<InformerFollower>(std::move(client), options);
}

}  // namespace apiserver::v0::groups::flowcontrol
