#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/audit/backend.h"
#include "apiserver/audit/batching.h"
#include "apiserver/audit/log_backend.h"
#include "apiserver/audit/policy.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"
#include "apiserver/client/http_client.h"

// The options of auditing, as a server's flags have them:
// k8s.io/apiserver/pkg/server/options/audit.go.
namespace apiserver::inline v0::audit {

// The options of one destination; each field is the flag that its comment names, without
// "--audit-log-" or "--audit-webhook-".
struct SinkOptions {
  std::string mode;    // mode: "batch", "blocking" or "blocking-strict".
  BatchOptions batch;  // batch-buffer-size, -max-size, -max-wait, -throttle-enable, -qps, -burst.
  bool truncate = false;                    // truncate-enabled.
  TruncateOptions truncation = {};          // truncate-max-event-size, -max-batch-size.
  std::string version = "audit.k8s.io/v1";  // version.
};

// The options of both destinations.
struct Options {
  std::string policy_file = {};  // --audit-policy-file; empty: nothing is recorded.

  std::string log_path = {};        // Empty: no log. "-": the LineWriter of `standard_output`.
  std::string log_format = "json";  // Or "legacy".
  int log_maxage = 366;             // Days.
  int log_maxbackup = 100;
  int log_maxsize = 100;  // Megabytes.
  bool log_compress = false;
  SinkOptions log = {.mode = "blocking", .batch = BatchOptions::ForLog()};

  // A kubeconfig; empty: no webhook. Its server may be "http://…", as upstream: events are then
  // sent in plain text, and `log_sink` gets a warning.
  std::string webhook_config_file = {};
  std::chrono::milliseconds webhook_initial_backoff = std::chrono::seconds(10);
  SinkOptions webhook = {.mode = "batch", .batch = {}};

  // Makes the writer for a log_path of "-". Called once, on the thread of NewAudit(); may block.
  // Null: "-" is refused, since the library writes to no stream of the host's.
  std::function<std::unique_ptr<LineWriter>()> standard_output = {};
  // Makes the client of the webhook. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_client = {};
  // kRefused: a webhook_config_file whose user has a credential plug-in is an error.
  client::ExecPlugIns exec_plug_ins = client::ExecPlugIns::kAllowed;
  FileSystem* files = &RealFileSystem();
  const Clock* clock = &RealClock();
  LogSink* log_sink = &NullLogSink();
};

// Returns one line that names the invalid flag and the remedy. Empty: none is invalid. Reads no
// file.
std::string ProblemOf(const Options& options);

// The policy and backend for server::Config. Both null: nothing is recorded.
struct Audit {
  std::shared_ptr<const PolicyRuleEvaluator> policy;
  BackendPtr backend;
};
// Reads the files and makes the backend. kInvalid: one line that names flag or file, line and
// remedy.
Result<Audit> NewAudit(const Options& options);

}  // namespace apiserver::inline v0::audit
