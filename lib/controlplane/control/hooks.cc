#include "controlplane/control/hooks.h"

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "controlplane/control/periodic.h"

namespace apiserver::v0::controlplane {
namespace {

// The loop with its client, which there is once the server answers.
class Running {
 public:
  explicit Running(Controller controller) : controller_(std::move(controller)) {}
  ~Running() { loop_->Stop(); }

  void Start(server::GenericAPIServer& server) {
    client_ = client::NewClient(server.LoopbackConnection());
    if (controller_.begin) controller_.begin(server);
    loop_->Start(server.pool());
  }
  // Also runs where Start() did not, if another hook failed first.
  void Stop() {
    loop_->Stop();
    if (client_ && controller_.stop) controller_.stop(*client_);
  }

 private:
  const Controller controller_;
  std::shared_ptr<client::Client> client_;
  const std::shared_ptr<Periodic> loop_ = std::make_shared<Periodic>(
      [this](const Context& ctx) { return controller_.step(ctx, *client_); });
};

}  // namespace

Status AddController(server::GenericAPIServer& server, Controller controller) {
  const std::string start = controller.start_hook;
  const std::string stop = controller.stop_hook;
  const auto running = std::make_shared<Running>(std::move(controller));
  RETURN_IF_ERROR(server.AddPostStartHook(start, [running](const server::HookContext& hook) {
    running->Start(hook.server);
    return Status();
  }));
  return server.AddPreShutdownHook(stop, [running](const server::HookContext& /*hook*/) {
    running->Stop();
    return Status();
  });
}

}  // namespace apiserver::v0::controlplane
