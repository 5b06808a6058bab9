#include "apiserver/options/feature.h"

namespace apiserver::v0::options {

void FeatureOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Features");
  flags.Add({.name = "--profiling",
             .value = &enable_profiling,
             .help = "Serve /debug/pprof/ and /debug/flags/ to those who may, and let them reset "
                     "/metrics",
             .show_default = true,
             .off_name = "--no-profiling"});
  flags.Add({.name = "--debug-socket-path",
             .value = &debug_socket_path,
             .help = "A Unix socket to serve the same on, without authentication, to the user that "
                     "the server runs as"});
  flags.Add({.name = "--enable-priority-and-fairness",
             .value = &enable_priority_and_fairness,
             .help = "Share requests in flight fairly, by FlowSchemas and "
                     "PriorityLevelConfigurations, rather than refuse whatever is one too many",
             .show_default = true,
             .off_name = "--no-enable-priority-and-fairness"});
}

std::vector<std::string> FeatureOptions::Validate(const ServerRunOptions& run) const {
  if (!enable_priority_and_fairness ||
      run.max_requests_in_flight + run.max_mutating_requests_in_flight > 0) {
    return {};
  }
  return {
      "--max-requests-inflight=0 and --max-mutating-requests-inflight=0 leave no seats to share; "
      "raise one, or have no limit with --enable-priority-and-fairness=false"};
}

void FeatureOptions::ApplyTo(server::Config& config) const {
  using Mode = server::FlowControlConfig::Mode;
  config.enable_profiling = enable_profiling;
  config.debug_socket_path = debug_socket_path;
  config.flow_control.mode =
      enable_priority_and_fairness ? Mode::kPriorityAndFairness : Mode::kMaxInFlight;
}

}  // namespace apiserver::v0::options
