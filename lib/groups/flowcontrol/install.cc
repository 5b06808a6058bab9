#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/groups/flowcontrol.h"
#include "base/status_macros.h"
#include "groups/flowcontrol/ensure.h"
#include "groups/flowcontrol/follower.h"
#include "groups/flowcontrol/names.h"
#include "groups/flowcontrol/strategy.h"
#include "groups/resource.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

// As upstream: attempts every second for five minutes, repeated every minute.
constexpr int kStartAttempts = 300;
constexpr std::chrono::seconds kStartWait(1);
constexpr std::chrono::minutes kRepeat(1);
// The interval at which the hook checks if the server stops before it has started.
constexpr std::chrono::milliseconds kFollowStep(200);

// Keeps the built-in objects up to date and follows all objects, from the server's start to its
// stop.
class Starter {
 public:
  explicit Starter(Options options) : options_(std::move(options)) {}

  // Runs on the hook's thread, so that the server is not ready before the objects exist.
  Status Produce(const server::HookContext& hook) {
    const std::shared_ptr<client::Client> client =
        client::NewClient(hook.server.LoopbackConnection());
    const auto registration = hook.ctx.OnDone([this] { stopping_.Notify(); });
    for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
      const Status status = Ensure(*client, hook.ctx);
      if (status.ok()) {
        // Objects that a user deletes or spoils are restored while the server runs.
        *producer_.Lock() =
            Thread("apf-producer", [this, client, ctx = hook.ctx] { Repeat(*client, ctx); });
        return {};
      }
      Complain(status);
      if (stopping_.WaitFor(kStartWait)) return hook.ctx.Err();
    }
    return {Reason::kInternalError, "unable to initialize APF bootstrap configuration"};
  }

  // Waits for the first digest: until then the built-in configuration is in force.
  Status Follow(const server::HookContext& hook) {
    auto follower = NewFollower(client::NewClient(hook.server.LoopbackConnection()),
                                {.flow_control = hook.server.flow_control(),
                                 .clock = options_.storage.clock,
                                 .log = options_.log});
    follower->Start();
    while (!follower->WaitForSync(kFollowStep)) RETURN_IF_ERROR(hook.ctx.Err());
    *follower_.Lock() = std::move(follower);
    return {};
  }

  void Stop() {
    stopping_.Notify();
    Thread producer = std::move(*producer_.Lock());
    if (producer.joinable()) producer.Join();
    const std::unique_ptr<Follower> follower = std::move(*follower_.Lock());
    if (follower) follower->Stop();
  }

 private:
  void Repeat(client::Client& client, const Context& ctx) {
    while (!stopping_.WaitFor(kRepeat)) {
      if (const Status status = Ensure(client, ctx); !status.ok()) Complain(status);
    }
  }
  void Complain(const Status& status) {
    Log(*options_.log, LogLevel::kWarning,
        "the built-in flow control objects could not be written, will retry later",
        {{"error", status.ToString()}});
  }

  const Options options_;
  Notification stopping_;
  Guarded<Thread> producer_;
  Guarded<std::unique_ptr<Follower>> follower_;
};

}  // namespace

Status Install(server::GenericAPIServer& server, Options options) {
  ASSIGN_OR_RETURN(const std::vector<runtime::KindPtr> kinds, Kinds());
  std::vector<server::Resource> resources;
  for (const runtime::KindPtr& kind : kinds) {
    resources.push_back(
        ResourceOf(kind, NewStrategy(kind), NewColumns(kind, *options.storage.clock)));
    resources.back().status_strategy = NewStatusStrategy(kind);
  }
  RETURN_IF_ERROR(server::InstallKinds(server, options.storage, std::move(resources)).status());

  const auto starter = std::make_shared<Starter>(std::move(options));
  RETURN_IF_ERROR(server.AddPostStartHook(
      "priority-and-fairness-config-producer",
      [starter](const server::HookContext& hook) { return starter->Produce(hook); }));
  RETURN_IF_ERROR(server.AddPostStartHook(
      "priority-and-fairness-config-follower",
      [starter](const server::HookContext& hook) { return starter->Follow(hook); }));
  return server.AddPreShutdownHook("priority-and-fairness/stop-following",
                                   [starter](const server::HookContext& /*hook*/) -> Status {
                                     starter->Stop();
                                     return {};
                                   });
}

}  // namespace apiserver::v0::groups::flowcontrol
