#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/server/server.h"
#include "flowcontrol/controller.h"
#include "flowcontrol/watermark.h"

namespace apiserver::inline v0::server {

// Checks the limits; errors name field and flag.
Status CheckFlowControl(const FlowControlConfig& config);

// The flow control of one server: its parts, and their periodic work.
class FlowControlParts final {
 public:
  struct Needs {
    const Clock& clock;
    Random& random;
    Executor& executor;  // The pool.
    std::shared_ptr<metrics::Registry> metrics;
    LogSink& log;
    flowcontrol::StatsOf stats_of = nullptr;  // Null: every list takes one seat.
  };
  FlowControlParts(const FlowControlConfig& config, const Needs& needs);
  ~FlowControlParts();

  const FlowControlConfig& config() const { return config_; }
  const Clock& clock() const { return clock_; }
  // Null unless the mode is kPriorityAndFairness.
  flowcontrol::Controller* controller() const { return controller_.get(); }
  // Must not be called if the mode is kNone.
  flowcontrol::Watermarks& watermarks() { return *watermarks_; }

  // Adds the hooks that begin the periodic work, and the debug endpoints. Call it before
  // PrepareRun().
  Status AddTo(GenericAPIServer& server);
  // Ends the periodic work.
  void Stop();

 private:
  void StartController(const Needs& needs);
  Status AddDebugEndpoints(GenericAPIServer& server);

  const FlowControlConfig config_;
  const Clock& clock_;
  Executor& executor_;
  std::shared_ptr<flowcontrol::Watermarks> watermarks_;
  std::shared_ptr<flowcontrol::Controller> controller_;
  Context::Registration before_metrics_;
  // Cancelled to end the periodic work.
  Context running_ = Context::Child(Context::Background());
};

}  // namespace apiserver::inline v0::server
