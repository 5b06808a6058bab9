#include "apiserver/options/server_run.h"

#include "apiserver/server/features.h"

namespace apiserver::v0::options {

namespace {

constexpr FlagRange kRequestsInFlight = {.min = 0, .max = 1'000'000};

std::string HelpOfFeatureGates() {
  std::string help = "Feature gates as pairs, e.g. A=true,B=false. Known are:";
  for (const std::string& gate : server::DefaultFeatureGates().Help()) help += "\n" + gate;
  return help;
}

void AddRequestFlags(ServerRunOptions& options, FlagSet& flags) {
  flags.Add({.name = "--request-timeout",
             .value = &options.request_timeout,
             .help = "How long a request may take, watches aside (default: 1m)"});
  flags.Add({.name = "--min-request-timeout",
             .value = &options.min_request_timeout,
             .help = "Seconds a watch lasts at least, unless its client says otherwise",
             .show_default = true,
             .range = FlagRange{.min = 1, .max = 86'400}});
  flags.Add({.name = "--feature-gates",
             .value = &options.feature_gates,
             .help = HelpOfFeatureGates(),
             .comma_separated = true});
  flags.Add({.name = "--max-requests-inflight",
             .value = &options.max_requests_in_flight,
             .help = "How many requests that only read may be in flight; 0: no limit. With "
                     "priority and fairness the two limits are added up",
             .show_default = true,
             .range = kRequestsInFlight});
  flags.Add({.name = "--max-mutating-requests-inflight",
             .value = &options.max_mutating_requests_in_flight,
             .help = "How many requests that change something may be in flight; 0: no limit",
             .show_default = true,
             .range = kRequestsInFlight});
}

void AddAnswerFlags(ServerRunOptions& options, FlagSet& flags) {
  flags.Add({.name = "--goaway-chance",
             .value = &options.goaway_chance,
             .help = "The chance with which an answer over HTTP/2 sends its client to a new "
                     "connection, 0 ... 0.02",
             .show_default = true});
  flags.Add({.name = "--cors-allowed-origins",
             .value = &options.cors_allowed_origins,
             .help = "Origins of web pages that may read answers: regular expressions that pin "
                     "both ends of the host, e.g. //example\\.com(:|$), separated by commas",
             .comma_separated = true});
  flags.Add({.name = "--strict-transport-security-directives",
             .value = &options.hsts_directives,
             .help = "Of the header of that name, e.g. max-age=31536000,includeSubDomains",
             .comma_separated = true});
}

void AddLifecycleFlags(ServerRunOptions& options, FlagSet& flags) {
  flags.Add({.name = "--livez-grace-period",
             .value = &options.livez_grace_period,
             .help = "How long after the start post-start hooks may run until /livez fails"});
  flags.Add({.name = "--shutdown-delay-duration",
             .value = &options.shutdown_delay_duration,
             .help = "How long the server still serves as before when /readyz fails already"});
  flags.Add({.name = "--shutdown-watch-termination-grace-period",
             .value = &options.shutdown_watch_termination_grace_period,
             .help = "Over how long watches are ended when the server stops; 0: all at once"});
  flags.Add({.name = "--shutdown-send-retry-after",
             .value = &options.shutdown_send_retry_after,
             .help = "Answer new requests 429 while those in progress are finished, and stop "
                     "listening last"});
}

}  // namespace

void ServerRunOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Generic");
  AddRequestFlags(*this, flags);
  AddAnswerFlags(*this, flags);
  AddLifecycleFlags(*this, flags);
}

std::vector<std::string> ServerRunOptions::Validate() const {
  if (request_timeout > std::chrono::milliseconds(0)) return {};
  return {"--request-timeout must be positive, e.g. 60s"};
}

Status ServerRunOptions::ApplyTo(server::Config& config) const {
  config.request_timeout = request_timeout;
  config.min_request_timeout = std::chrono::seconds(min_request_timeout);
  config.goaway_chance = goaway_chance;
  config.cors_allowed_origins = cors_allowed_origins;
  config.hsts_directives = hsts_directives;
  config.livez_grace = livez_grace_period;
  config.shutdown_delay = shutdown_delay_duration;
  config.shutdown_watch_termination_grace = shutdown_watch_termination_grace_period;
  config.shutdown_send_retry_after = shutdown_send_retry_after;
  config.flow_control.max_requests_in_flight = max_requests_in_flight;
  config.flow_control.max_mutating_requests_in_flight = max_mutating_requests_in_flight;
  // One list, so that the gates keep their order: the last word counts.
  std::string gates;
  for (const std::string& gate : feature_gates) gates += gate + ",";
  Status set = config.features.Set(gates);
  if (set.ok()) return set;
  return set.WithMessage("--feature-gates: " + std::string(set.message()));
}

}  // namespace apiserver::v0::options
