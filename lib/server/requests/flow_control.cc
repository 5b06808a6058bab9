#include "server/requests/flow_control.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "apiserver/response/response.h"
#include "base/status_macros.h"

namespace apiserver::v0::server {

namespace {

constexpr std::chrono::seconds kBorrowingPeriod(10);
constexpr std::chrono::seconds kWatermarkPeriod(1);

// Runs `work` each `period` until `running` is done.
// Each run posts the next one, so runs never overlap; a run that is late delays the others.
void Every(Executor& executor, std::chrono::nanoseconds period, const Context& running,
           std::shared_ptr<const std::function<void()>> work) {
  (void)executor.PostAfter(period, [&executor, period, running, work = std::move(work)]() mutable {
    if (running.done()) return;
    (*work)();
    Every(executor, period, running, std::move(work));
  });
}

}  // namespace

Status CheckFlowControl(const FlowControlConfig& config) {
  const auto refused = [](const std::string& why) {
    return Status(Reason::kInvalid, "server config: " + why);
  };
  if (config.max_requests_in_flight < 0) {
    return refused(
        "flow_control.max_requests_in_flight (--max-requests-inflight) must not be negative");
  }
  if (config.max_mutating_requests_in_flight < 0) {
    return refused(
        "flow_control.max_mutating_requests_in_flight (--max-mutating-requests-inflight) must not "
        "be negative");
  }
  if (config.mode == FlowControlConfig::Mode::kPriorityAndFairness &&
      config.max_requests_in_flight + config.max_mutating_requests_in_flight == 0) {
    return refused(
        "flow_control.max_requests_in_flight and max_mutating_requests_in_flight "
        "(--max-requests-inflight, --max-mutating-requests-inflight) must add up to something "
        "positive for priority and fairness; there is no limit with another mode "
        "(--enable-priority-and-fairness=false)");
  }
  return {};
}

FlowControlParts::FlowControlParts(const FlowControlConfig& config, const Needs& needs)
    : config_(config), clock_(needs.clock), executor_(needs.executor) {
  if (config.mode == FlowControlConfig::Mode::kNone) return;
  watermarks_ = std::make_shared<flowcontrol::Watermarks>(*needs.metrics, clock_.Now());
  watermarks_->SetLimits(
      {.executing_reads = static_cast<double>(config.max_requests_in_flight),
       .executing_mutating = static_cast<double>(config.max_mutating_requests_in_flight)},
      clock_.Now());
  if (config.mode == FlowControlConfig::Mode::kPriorityAndFairness) StartController(needs);
  // The metrics that depend on the time are brought up to date when they are scraped.
  before_metrics_ = needs.metrics->BeforeSerialize([this] {
    watermarks_->ShowOverTime(clock_.Now());
    if (controller_) controller_->ShowProgress();
  });
}

// Both limits are one pool of seats under priority and fairness, as upstream.
void FlowControlParts::StartController(const Needs& needs) {
  controller_ = flowcontrol::Controller::New(
      {.server_concurrency_limit =
           config_.max_requests_in_flight + config_.max_mutating_requests_in_flight,
       .clock = &needs.clock,
       .executor = &needs.executor,
       .random = &needs.random,
       .metrics = needs.metrics,
       .stats_of = needs.stats_of,
       .watermarks = watermarks_,
       .log = &needs.log});
}

FlowControlParts::~FlowControlParts() { Stop(); }

void FlowControlParts::Stop() {
  running_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
}

Status FlowControlParts::AddTo(GenericAPIServer& server) {
  const auto every = [this](std::chrono::nanoseconds period, std::function<void()> work) {
    // The hooks start the work once the server answers; each run posts the next one.
    return [this, period, work = std::make_shared<const std::function<void()>>(std::move(work))](
               const HookContext&) -> Status {
      Every(executor_, period, running_, work);
      return {};
    };
  };
  const auto show = every(kWatermarkPeriod, [watermarks = watermarks_] { watermarks->Show(); });
  switch (config_.mode) {
    case FlowControlConfig::Mode::kNone:
      return {};
    case FlowControlConfig::Mode::kMaxInFlight:
      return server.AddPostStartHook("max-in-flight-filter", show);
    case FlowControlConfig::Mode::kPriorityAndFairness:
      break;
  }
  RETURN_IF_ERROR(server.AddPostStartHook("priority-and-fairness-filter", show));
  RETURN_IF_ERROR(server.AddPostStartHook(
      "priority-and-fairness-config-consumer",
      every(kBorrowingPeriod, [controller = controller_] { controller->UpdateBorrowing(); })));
  return AddDebugEndpoints(server);
}

// Follows the paths of util/flowcontrol/apf_controller_debug.go, with the same three dumps.
Status FlowControlParts::AddDebugEndpoints(GenericAPIServer& server) {
  const std::string root = "/debug/api_priority_and_fairness/";
  const auto add = [&](const char* name, std::function<std::string(http::Exchange&)> dump) {
    // A dump stops the queues for a moment, so it does not run on a loop.
    const auto serve = [dump = std::move(dump)](http::Exchange& exchange) {
      return http::Step::OnPool(
          [&exchange, dump] { return response::WriteText(exchange, 200, dump(exchange)); });
    };
    return server.HandlePathWithoutBody(root + name, serve, /*listed=*/false);
  };
  const auto controller = controller_;
  RETURN_IF_ERROR(add("dump_priority_levels",
                      [controller](http::Exchange&) { return controller->DumpPriorityLevels(); }));
  RETURN_IF_ERROR(
      add("dump_queues", [controller](http::Exchange&) { return controller->DumpQueues(); }));
  return add("dump_requests", [controller](http::Exchange& exchange) {
    return controller->DumpRequests(!exchange.query().Get("includeRequestDetails").empty());
  });
}

}  // namespace apiserver::v0::server
