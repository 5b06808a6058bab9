#include "apiserver/audit/options.h"

#include <utility>

#include "apiserver/audit/webhook_backend.h"
#include "base/status_macros.h"

namespace apiserver::v0::audit {

namespace {

// Follows AuditOptions.Validate of apiserver/server/options; returns why the sink cannot be used,
// or an empty text.
std::string ProblemOfSink(const std::string& prefix, const SinkOptions& sink) {
  if (sink.mode != "batch" && sink.mode != "blocking" && sink.mode != "blocking-strict") {
    return prefix + "mode=" + sink.mode + " is unknown; use batch, blocking or blocking-strict";
  }
  if (sink.version != "audit.k8s.io/v1") {
    return prefix + "version=" + sink.version + " is unknown; use audit.k8s.io/v1";
  }
  if (sink.truncation.max_event_size == 0) {
    return prefix + "truncate-max-event-size must be a positive number";
  }
  if (sink.truncation.max_batch_size < sink.truncation.max_event_size) {
    return prefix + "truncate-max-batch-size must not be less than " + prefix +
           "truncate-max-event-size";
  }
  if (sink.mode != "batch") return "";  // Unused settings are not checked.
  if (sink.batch.buffer_size == 0) return prefix + "batch-buffer-size must be a positive number";
  if (sink.batch.max_batch_size == 0) return prefix + "batch-max-size must be a positive number";
  if (!sink.batch.throttle) return "";
  if (sink.batch.throttle_qps <= 0) return prefix + "batch-throttle-qps must be a positive number";
  if (sink.batch.throttle_burst <= 0) {
    return prefix + "batch-throttle-burst must be a positive number";
  }
  return "";
}

// Wraps a backend by mode and truncation, as AuditBatchOptions.wrapBackend and that of
// AuditTruncateOptions.
BackendPtr Wrap(BackendPtr backend, const SinkOptions& sink) {
  if (sink.mode == "batch") {
    backend = NewBufferedBackend(std::move(backend), sink.batch);
  } else if (sink.mode == "blocking") {
    // Only blocking-strict lets a backend's failure refuse requests.
    backend = NewIgnoreErrors(std::move(backend));
  }
  return sink.truncate ? NewTruncatingBackend(std::move(backend), sink.truncation) : backend;
}

Result<BackendPtr> NewLog(const Options& options) {
  if (options.log_path.empty()) return BackendPtr();
  std::unique_ptr<LineWriter> writer;
  if (options.log_path == "-") {
    writer = options.standard_output();
  } else {
    auto file = NewRotatingFile({.path = options.log_path,
                                 // --audit-log-maxsize is in MiB, as lumberjack's MaxSize.
                                 .bytes_max = static_cast<std::uint64_t>(options.log_maxsize) << 20,
                                 .max_age_days = options.log_maxage,
                                 .max_backups = options.log_maxbackup,
                                 .compress = options.log_compress,
                                 .files = options.files,
                                 .clock = options.clock});
    if (!file.ok()) {
      return Status(Reason::kInvalid,
                    "--audit-log-path: " + std::string(file.status().message()) +
                        "; name a file in a directory that this server may write to");
    }
    writer = *std::move(file);
  }
  const LogFormat format = options.log_format == "json" ? LogFormat::kJson : LogFormat::kLegacy;
  return Wrap(NewLogBackend(std::move(writer),
                            {.format = format, .strict = options.log.mode == "blocking-strict"}),
              options.log);
}

Result<BackendPtr> NewWebhook(const Options& options) {
  if (options.webhook_config_file.empty()) return BackendPtr();
  auto config = client::ReadClientConfigFile(*options.files, options.webhook_config_file,
                                             client::Cleartext::kAllowed, options.exec_plug_ins);
  if (!config.ok()) {
    return Status(Reason::kInvalid,
                  "--audit-webhook-config-file: " + std::string(config.status().message()));
  }
  client::WarnOfCleartext(*config, "--audit-webhook-config-file", *options.log_sink);
  auto backend = NewWebhookBackend({.config = *std::move(config),
                                    .new_client = options.new_client,
                                    .initial_backoff = options.webhook_initial_backoff,
                                    .files = options.files,
                                    .clock = options.clock});
  if (!backend.ok()) {
    return Status(Reason::kInvalid, "--audit-webhook-config-file: " + options.webhook_config_file +
                                        ": " + std::string(backend.status().message()));
  }
  return Wrap(*std::move(backend), options.webhook);
}

}  // namespace

// Checked before any file is opened, so that a wrong flag leaves no empty log behind.
std::string ProblemOf(const Options& options) {
  const bool log = !options.log_path.empty();
  const bool webhook = !options.webhook_config_file.empty();
  if (options.policy_file.empty() && (log || webhook)) {
    return std::string(log ? "--audit-log-path" : "--audit-webhook-config-file") +
           " records nothing without --audit-policy-file; give a policy, or leave it out";
  }
  if (log) {
    if (options.log_path == "-" && !options.standard_output) {
      return "--audit-log-path=- is not supported here; name a file";
    }
    if (options.log_format != "json" && options.log_format != "legacy") {
      return "--audit-log-format=" + options.log_format + " is unknown; use json or legacy";
    }
    for (const auto& [flag, value] : {std::pair("--audit-log-maxage", options.log_maxage),
                                      {"--audit-log-maxbackup", options.log_maxbackup},
                                      {"--audit-log-maxsize", options.log_maxsize}}) {
      if (value < 0) return std::string(flag) + " can't be a negative number";
    }
    std::string problem = ProblemOfSink("--audit-log-", options.log);
    if (!problem.empty()) return problem;
  }
  if (!webhook) return "";
  return ProblemOfSink("--audit-webhook-", options.webhook);
}

Result<Audit> NewAudit(const Options& options) {
  if (std::string problem = ProblemOf(options); !problem.empty()) {
    return Status(Reason::kInvalid, std::move(problem));
  }
  if (options.policy_file.empty()) return Audit();
  auto policy = LoadPolicyFile(*options.files, options.policy_file);
  if (!policy.ok()) {
    return policy.status().WithMessage("--audit-policy-file: " +
                                       std::string(policy.status().message()));
  }
  ASSIGN_OR_RETURN(BackendPtr log, NewLog(options));
  ASSIGN_OR_RETURN(BackendPtr webhook, NewWebhook(options));
  return Audit{.policy = NewPolicyRuleEvaluator(*std::move(policy)),
               .backend = NewUnion({std::move(log), std::move(webhook)})};
}

}  // namespace apiserver::v0::audit
