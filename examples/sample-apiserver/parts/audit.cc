#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "apiserver/audit/options.h"
#include "calls_out.h"
#include "duration_flag.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace audit = apiserver::audit;

// This program's standard output, for --audit-log-path=-.
class StandardOutput final : public audit::LineWriter {
 public:
  Status Write(std::string_view lines) override {
    const bool written = std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size() &&
                         std::fflush(stdout) == 0;
    if (written) return {};
    return {apiserver::Reason::kInternalError, "cannot write to standard output"};
  }
};

void AddSinkFlags(CLI::App& app, const std::string& prefix, audit::SinkOptions& sink) {
  app.add_option(prefix + "mode", sink.mode,
                 "batch: events are written later; blocking: requests wait where they are written "
                 "too slowly; blocking-strict: requests whose first event cannot be written fail")
      ->capture_default_str();
  app.add_option(prefix + "version", sink.version, "The version in which events are written")
      ->capture_default_str();
  app.add_option(prefix + "batch-buffer-size", sink.batch.buffer_size,
                 "Events that are kept for batches; more are dropped")
      ->capture_default_str();
  app.add_option(prefix + "batch-max-size", sink.batch.max_batch_size, "Events in a batch")
      ->capture_default_str();
  AddDuration(app, prefix + "batch-max-wait", sink.batch.max_batch_wait,
              "After which a smaller batch is sent (default: 30s)");
  app.add_flag(prefix + "batch-throttle-enable", sink.batch.throttle,
               "Whether the rate of batches is limited")
      ->capture_default_str();
  app.add_option(prefix + "batch-throttle-qps", sink.batch.throttle_qps, "Batches a second")
      ->capture_default_str();
  app.add_option(prefix + "batch-throttle-burst", sink.batch.throttle_burst,
                 "Batches at once after a quiet time")
      ->capture_default_str();
  app.add_flag(prefix + "truncate-enabled", sink.truncate,
               "Whether large events lose their objects and large batches are split")
      ->capture_default_str();
  app.add_option(prefix + "truncate-max-event-size", sink.truncation.max_event_size,
                 "Bytes of an event")
      ->capture_default_str();
  app.add_option(prefix + "truncate-max-batch-size", sink.truncation.max_batch_size,
                 "Bytes of a batch")
      ->capture_default_str();
}

class Audit final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override {
    CLI::App& app = flags.app();
    app.add_option("--audit-policy-file", options_.policy_file,
                   "File that says which requests are recorded, and how much of them");
    app.add_option("--audit-log-path", options_.log_path,
                   "File that events are written to; - is standard output");
    app.add_option("--audit-log-format", options_.log_format, "json or legacy")
        ->capture_default_str();
    app.add_option("--audit-log-maxage", options_.log_maxage,
                   "Days for which old log files are kept; 0: for ever")
        ->capture_default_str();
    app.add_option("--audit-log-maxbackup", options_.log_maxbackup,
                   "Old log files that are kept; 0: all")
        ->capture_default_str();
    app.add_option("--audit-log-maxsize", options_.log_maxsize,
                   "Megabytes of a log file before it becomes an old one; 0: it never does")
        ->capture_default_str();
    app.add_flag("--audit-log-compress", options_.log_compress, "Compress old log files");
    AddSinkFlags(app, "--audit-log-", options_.log);
    app.add_option("--audit-webhook-config-file", options_.webhook_config_file,
                   "Kubeconfig of the server that events are sent to");
    AddDuration(app, "--audit-webhook-initial-backoff", options_.webhook_initial_backoff,
                "Before events that could not be sent are sent again (default: 10s)");
    AddSinkFlags(app, "--audit-webhook-", options_.webhook);
    options_.standard_output = [] { return std::make_unique<StandardOutput>(); };
  }

  std::string Problem(const Options& /*options*/) const override {
    return audit::ProblemOf(options_);
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    options_.log_sink = &environment.log;
    options_.new_client = CallsOut(config);
    if (!options_.policy_file.empty() && options_.log_path.empty() &&
        options_.webhook_config_file.empty()) {
      Log(environment.log, apiserver::LogLevel::kWarning,
          "--audit-policy-file records nothing without --audit-log-path or "
          "--audit-webhook-config-file");
    }
    auto made = audit::NewAudit(options_);
    if (!made.ok()) return made.status();
    config.audit_policy = std::move(made->policy);
    config.audit_backend = std::move(made->backend);
    return {};
  }

 private:
  audit::Options options_;
};

}  // namespace

std::unique_ptr<Part> NewAudit() { return std::make_unique<Audit>(); }

}  // namespace sample
