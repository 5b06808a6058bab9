#include "apiserver/options/audit.h"

#include <utility>

#include "base/status_macros.h"
#include "options/calls_out.h"

namespace apiserver::v0::options {

namespace {

void AddBatchFlags(FlagSet& flags, const std::string& prefix, audit::BatchOptions& batch) {
  flags.Add({.name = prefix + "batch-buffer-size",
             .value = &batch.buffer_size,
             .help = "Events that are kept for batches; more are dropped",
             .show_default = true});
  flags.Add({.name = prefix + "batch-max-size",
             .value = &batch.max_batch_size,
             .help = "Events in a batch",
             .show_default = true});
  flags.Add({.name = prefix + "batch-max-wait",
             .value = &batch.max_batch_wait,
             .help = "After which a smaller batch is sent (default: 30s)"});
  flags.Add({.name = prefix + "batch-throttle-enable",
             .value = &batch.throttle,
             .help = "Whether the rate of batches is limited",
             .show_default = true});
  flags.Add({.name = prefix + "batch-throttle-qps",
             .value = &batch.throttle_qps,
             .help = "Batches a second",
             .show_default = true});
  flags.Add({.name = prefix + "batch-throttle-burst",
             .value = &batch.throttle_burst,
             .help = "Batches at once after a quiet time",
             .show_default = true});
}

// Adds the flags that the log and the webhook both have.
void AddSinkFlags(FlagSet& flags, const std::string& prefix, audit::SinkOptions& sink) {
  flags.Add({.name = prefix + "mode",
             .value = &sink.mode,
             .help = "batch: events are written later; blocking: requests wait where they are "
                     "written too slowly; blocking-strict: requests whose first event cannot be "
                     "written fail",
             .show_default = true});
  flags.Add({.name = prefix + "version",
             .value = &sink.version,
             .help = "The version in which events are written",
             .show_default = true});
  AddBatchFlags(flags, prefix, sink.batch);
  flags.Add({.name = prefix + "truncate-enabled",
             .value = &sink.truncate,
             .help = "Whether large events lose their objects and large batches are split",
             .show_default = true});
  flags.Add({.name = prefix + "truncate-max-event-size",
             .value = &sink.truncation.max_event_size,
             .help = "Bytes of an event",
             .show_default = true});
  flags.Add({.name = prefix + "truncate-max-batch-size",
             .value = &sink.truncation.max_batch_size,
             .help = "Bytes of a batch",
             .show_default = true});
}

void AddLogFlags(FlagSet& flags, audit::Options& options) {
  flags.Add({.name = "--audit-log-path",
             .value = &options.log_path,
             .help = "File that events are written to; - is standard output"});
  flags.Add({.name = "--audit-log-format",
             .value = &options.log_format,
             .help = "json or legacy",
             .show_default = true});
  flags.Add({.name = "--audit-log-maxage",
             .value = &options.log_maxage,
             .help = "Days for which old log files are kept; 0: for ever",
             .show_default = true});
  flags.Add({.name = "--audit-log-maxbackup",
             .value = &options.log_maxbackup,
             .help = "Old log files that are kept; 0: all",
             .show_default = true});
  flags.Add({.name = "--audit-log-maxsize",
             .value = &options.log_maxsize,
             .help = "Megabytes of a log file before it becomes an old one; 0: it never does",
             .show_default = true});
  flags.Add({.name = "--audit-log-compress",
             .value = &options.log_compress,
             .help = "Compress old log files"});
  AddSinkFlags(flags, "--audit-log-", options.log);
}

}  // namespace

void AuditOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Auditing");
  flags.Add({.name = "--audit-policy-file",
             .value = &values.policy_file,
             .help = "File that says which requests are recorded, and how much of them"});
  AddLogFlags(flags, values);
  flags.Add({.name = "--audit-webhook-config-file",
             .value = &values.webhook_config_file,
             .help = "Kubeconfig of the server that events are sent to"});
  flags.Add({.name = "--audit-webhook-initial-backoff",
             .value = &values.webhook_initial_backoff,
             .help = "Before events that could not be sent are sent again (default: 10s)"});
  AddSinkFlags(flags, "--audit-webhook-", values.webhook);
}

std::vector<std::string> AuditOptions::Validate() const {
  std::string problem = audit::ProblemOf(values);
  if (problem.empty()) return {};
  return {std::move(problem)};
}

// Runs after all flags are read; opens the files, so that a wrong path ends the start.
Status AuditOptions::ApplyTo(server::Config& config, LogSink& log) const {
  audit::Options options = values;
  options.log_sink = &log;
  options.new_client = CallsOut(config);
  // Upstream starts without an error in this case.
  if (!options.policy_file.empty() && options.log_path.empty() &&
      options.webhook_config_file.empty()) {
    Log(log, LogLevel::kWarning,
        "--audit-policy-file records nothing without --audit-log-path or "
        "--audit-webhook-config-file");
  }
  ASSIGN_OR_RETURN(auto made, audit::NewAudit(options));
  config.audit_policy = std::move(made.policy);
  config.audit_backend = std::move(made.backend);
  return {};
}

}  // namespace apiserver::v0::options
