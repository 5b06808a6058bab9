#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "duration_flag.h"
#include "parts/parts.h"

namespace sample {

namespace {

// How the server is operated; Config::Complete() checks it.
class Operations final : public Part {
 public:
  void AddFlags(CLI::App& app) override {
    app.add_option("--goaway-chance", goaway_chance_,
                   "The chance with which an answer over HTTP/2 sends its client to a new "
                   "connection, 0 ... 0.02")
        ->capture_default_str();
    app.add_option("--cors-allowed-origins", cors_allowed_origins_,
                   "Origins of web pages that may read answers: regular expressions that pin both "
                   "ends of the host, e.g. //example\\.com(:|$), separated by commas")
        ->delimiter(',');
    app.add_option("--strict-transport-security-directives", hsts_directives_,
                   "Of the header of that name, e.g. max-age=31536000,includeSubDomains")
        ->delimiter(',');
    app.add_flag(
           "--profiling,!--no-profiling", profiling_,
           "Serve /debug/pprof/ and /debug/flags/ to those who may, and let them reset /metrics")
        ->capture_default_str();
    app.add_option("--debug-socket-path", debug_socket_path_,
                   "A Unix socket to serve the same on, without authentication, to the user that "
                   "the server runs as");
    AddDuration(app, "--livez-grace-period", livez_grace_,
                "How long after the start post-start hooks may run until /livez fails");
    AddDuration(app, "--shutdown-delay-duration", shutdown_delay_,
                "How long the server still serves as before when /readyz fails already");
    AddDuration(app, "--shutdown-watch-termination-grace-period", watch_termination_grace_,
                "Over how long watches are ended when the server stops; 0: all at once");
    app.add_flag("--shutdown-send-retry-after", send_retry_after_,
                 "Answer new requests 429 while those in progress are finished, and stop listening "
                 "last");
  }

  apiserver::Status Configure(const Environment& /*environment*/,
                              apiserver::server::Config& config) override {
    config.goaway_chance = goaway_chance_;
    config.enable_profiling = profiling_;
    config.debug_socket_path = debug_socket_path_;
    config.cors_allowed_origins = cors_allowed_origins_;
    config.hsts_directives = hsts_directives_;
    config.livez_grace = livez_grace_;
    config.shutdown_delay = shutdown_delay_;
    config.shutdown_watch_termination_grace = watch_termination_grace_;
    config.shutdown_send_retry_after = send_retry_after_;
    return {};
  }

 private:
  double goaway_chance_ = 0;
  std::vector<std::string> cors_allowed_origins_;
  std::vector<std::string> hsts_directives_;
  std::chrono::milliseconds livez_grace_{0};
  std::chrono::milliseconds shutdown_delay_{0};
  std::chrono::milliseconds watch_termination_grace_{0};
  bool send_retry_after_ = false;
  bool profiling_ = true;
  std::string debug_socket_path_;
};

}  // namespace

std::unique_ptr<Part> NewOperations() { return std::make_unique<Operations>(); }

}  // namespace sample
