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
#include "apiserver/client/http_client.h"

// A server's audit as its flags describe it: k8s.io/apiserver/pkg/server/options/audit.go.
namespace apiserver::inline v0::audit {

// Where events go; each field is the flag that its comment names, without "--audit-log-" or
// "--audit-webhook-".
struct SinkOptions {
  std::string mode;    // mode: "batch", "blocking" or "blocking-strict".
  BatchOptions batch;  // batch-buffer-size, -max-size, -max-wait, -throttle-enable, -qps, -burst.
  bool truncate = false;                    // truncate-enabled.
  TruncateOptions truncation = {};          // truncate-max-event-size, -max-batch-size.
  std::string version = "audit.k8s.io/v1";  // version.
};

struct Options {
  std::string policy_file = {};  // --audit-policy-file; empty: nothing is recorded.

  std::string log_path = {};        // Empty: no log. "-": what `standard_output` makes.
  std::string log_format = "json";  // Or "legacy".
  int log_maxage = 366;             // Days.
  int log_maxbackup = 100;
  int log_maxsize = 100;  // Megabytes.
  bool log_compress = false;
  SinkOptions log = {.mode = "blocking", .batch = BatchOptions::ForLog()};

  // A kubeconfig; empty: no webhook. Its server may be "http://…", as upstream: events then go in
  // plain text, which `log_sink` is warned of.
  std::string webhook_config_file = {};
  std::chrono::milliseconds webhook_initial_backoff = std::chrono::seconds(10);
  SinkOptions webhook = {.mode = "batch", .batch = {}};

  // The library writes to no stream of the host's: null: a log_path of "-" is refused. Called once,
  // when the backend is made.
  std::function<std::unique_ptr<LineWriter>()> standard_output = {};
  // Calls the webhook. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_client = {};
  FileSystem* files = &RealFileSystem();
  const Clock* clock = &RealClock();
  LogSink* log_sink = &NullLogSink();
};

// One line that says which flag is wrong, and what to do; empty: nothing. Reads no file.
std::string ProblemOf(const Options& options);

// For server::Config; both null: nothing is recorded.
struct Audit {
  std::shared_ptr<const PolicyRuleEvaluator> policy;
  BackendPtr backend;
};
// kInvalid: one line that names flag or file, line and remedy.
Result<Audit> NewAudit(const Options& options);

}  // namespace apiserver::inline v0::audit
