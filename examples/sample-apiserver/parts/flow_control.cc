#include <CLI/CLI.hpp>

#include "apiserver/groups/flowcontrol.h"
#include "parts/parts.h"

namespace sample {

namespace {

using Mode = apiserver::server::FlowControlConfig::Mode;

class FlowControl final : public Part {
 public:
  void AddFlags(CLI::App& app) override {
    app.add_flag("--enable-priority-and-fairness,!--no-enable-priority-and-fairness",
                 priority_and_fairness_,
                 "Share requests in flight fairly, by FlowSchemas and PriorityLevelConfigurations, "
                 "rather than refuse whatever is one too many")
        ->capture_default_str();
    app.add_option("--max-requests-inflight", limits_.max_requests_in_flight,
                   "How many requests that only read may be in flight; 0: no limit. With priority "
                   "and fairness the two limits are added up")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    app.add_option("--max-mutating-requests-inflight", limits_.max_mutating_requests_in_flight,
                   "How many requests that change something may be in flight; 0: no limit")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
  }

  std::string Problem(const Options& /*options*/) const override {
    if (!priority_and_fairness_ ||
        limits_.max_requests_in_flight + limits_.max_mutating_requests_in_flight > 0) {
      return "";
    }
    return "--max-requests-inflight=0 and --max-mutating-requests-inflight=0 leave no seats to "
           "share; raise one, or have no limit with --enable-priority-and-fairness=false";
  }

  apiserver::Status Configure(const Environment& /*environment*/,
                              apiserver::server::Config& config) override {
    config.flow_control = limits_;
    config.flow_control.mode =
        priority_and_fairness_ ? Mode::kPriorityAndFairness : Mode::kMaxInFlight;
    return {};
  }

  apiserver::Status Install(const Environment& environment,
                            apiserver::server::GenericAPIServer& server,
                            const apiserver::registry::StorageConfig& storage) override {
    if (!priority_and_fairness_) return {};
    return apiserver::groups::flowcontrol::Install(server,
                                                   {.storage = storage, .log = &environment.log});
  }

 private:
  bool priority_and_fairness_ = true;
  apiserver::server::FlowControlConfig limits_;
};

}  // namespace

std::unique_ptr<Part> NewFlowControl() { return std::make_unique<FlowControl>(); }

}  // namespace sample
