// Literal defaults are those of k8s.io/apiserver/pkg/server/options/audit.go.
#include "apiserver/options/audit.h"

#include <catch2/catch.hpp>
#include <memory>

#include "apiserver/base/file_system.h"
#include "read_flags.h"
#include "warnings.h"

using apiserver::Status;
using apiserver::audit::SinkOptions;
using apiserver::options::AuditOptions;
using apiserver::server::Config;
using apiserver::testing::ReadFlags;
using apiserver::testing::Warnings;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Texts = std::vector<std::string>;
using Words = ReadFlags::Words;

namespace {

AuditOptions Read(const Words& words) {
  AuditOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Read(words).empty());
  return options;
}

// Words of a sink's flags whose values are nobody's defaults.
Words OfSink(const std::string& prefix) {
  return {{prefix + "mode", "blocking-strict"},      {prefix + "version", "audit.k8s.io/v2"},
          {prefix + "batch-buffer-size", "11"},      {prefix + "batch-max-size", "12"},
          {prefix + "batch-max-wait", "13ms"},       {prefix + "batch-throttle-enable", "true"},
          {prefix + "batch-throttle-qps", "1.5"},    {prefix + "batch-throttle-burst", "14"},
          {prefix + "truncate-enabled", "true"},     {prefix + "truncate-max-event-size", "15"},
          {prefix + "truncate-max-batch-size", "16"}};
}

void CheckSink(const SinkOptions& sink) {
  CHECK(sink.mode == "blocking-strict");
  CHECK(sink.version == "audit.k8s.io/v2");
  CHECK(sink.batch.buffer_size == 11);
  CHECK(sink.batch.max_batch_size == 12);
  CHECK(sink.batch.max_batch_wait == milliseconds(13));
  CHECK(sink.batch.throttle);
  CHECK(sink.batch.throttle_qps == 1.5);
  CHECK(sink.batch.throttle_burst == 14);
  CHECK(sink.truncate);
  CHECK(sink.truncation.max_event_size == 15);
  CHECK(sink.truncation.max_batch_size == 16);
}

std::unique_ptr<apiserver::FileSystem> WithPolicy() {
  auto files = apiserver::NewMemoryFileSystem();
  CHECK(files
            ->WriteAtomically("/policy",
                              "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: "
                              "Metadata\n",
                              0600)
            .ok());
  return files;
}

}  // namespace

TEST_CASE("options: audit has upstream's defaults, and records nothing", "[options]") {
  const AuditOptions options = Read({});
  CHECK(options.Validate().empty());
  CHECK(options.values.policy_file.empty());
  CHECK(options.values.log_path.empty());
  CHECK(options.values.log_format == "json");
  CHECK(options.values.log_maxage == 366);
  CHECK(options.values.log_maxbackup == 100);
  CHECK(options.values.log_maxsize == 100);
  CHECK_FALSE(options.values.log_compress);
  CHECK(options.values.log.mode == "blocking");
  CHECK(options.values.log.batch.buffer_size == 10'000);
  CHECK(options.values.log.batch.max_batch_size == 1);
  CHECK_FALSE(options.values.log.batch.throttle);
  CHECK(options.values.webhook.mode == "batch");
  CHECK(options.values.webhook.batch.buffer_size == 10'000);
  CHECK(options.values.webhook.batch.max_batch_size == 400);
  CHECK(options.values.webhook.batch.max_batch_wait == seconds(30));
  CHECK(options.values.webhook.batch.throttle);
  CHECK(options.values.webhook.batch.throttle_qps == 10);
  CHECK(options.values.webhook.batch.throttle_burst == 15);
  CHECK(options.values.webhook_initial_backoff == seconds(10));
  for (const SinkOptions& sink : {options.values.log, options.values.webhook}) {
    CHECK(sink.version == "audit.k8s.io/v1");
    CHECK_FALSE(sink.truncate);
    CHECK(sink.truncation.max_event_size == 102'400);
    CHECK(sink.truncation.max_batch_size == 10'485'760);
  }

  Config config;
  Warnings log;
  REQUIRE(options.ApplyTo(config, log).ok());
  CHECK_FALSE(config.audit_policy);
  CHECK_FALSE(config.audit_backend);
  CHECK(log.lines.empty());
}

TEST_CASE("options: each flag of audit sets its field, of the log and of the webhook apart",
          "[options]") {
  Words words = {
      {"--audit-policy-file", "/policy"},       {"--audit-log-path", "/log"},
      {"--audit-log-format", "legacy"},         {"--audit-log-maxage", "1"},
      {"--audit-log-maxbackup", "2"},           {"--audit-log-maxsize", "3"},
      {"--audit-log-compress", "true"},         {"--audit-webhook-config-file", "/webhook"},
      {"--audit-webhook-initial-backoff", "4s"}};
  const AuditOptions plain = Read(words);
  CHECK(plain.values.policy_file == "/policy");
  CHECK(plain.values.log_path == "/log");
  CHECK(plain.values.log_format == "legacy");
  CHECK(plain.values.log_maxage == 1);
  CHECK(plain.values.log_maxbackup == 2);
  CHECK(plain.values.log_maxsize == 3);
  CHECK(plain.values.log_compress);
  CHECK(plain.values.webhook_config_file == "/webhook");
  CHECK(plain.values.webhook_initial_backoff == seconds(4));

  const AuditOptions log = Read(OfSink("--audit-log-"));
  CheckSink(log.values.log);
  CHECK(log.values.webhook.mode == "batch");
  const AuditOptions webhook = Read(OfSink("--audit-webhook-"));
  CheckSink(webhook.values.webhook);
  CHECK(webhook.values.log.mode == "blocking");
}

TEST_CASE("options: what is wrong with flags of audit is a line that names them", "[options]") {
  CHECK(Read({{"--audit-log-path", "/log"}}).Validate() ==
        Texts{"--audit-log-path records nothing without --audit-policy-file; give a policy, or "
              "leave it out"});
  const Words no_stream = {{"--audit-policy-file", "/policy"}, {"--audit-log-path", "-"}};
  CHECK(Read(no_stream).Validate() ==
        Texts{"--audit-log-path=- is not supported here; name a file"});
}

// Upstream starts too, and says nothing.
TEST_CASE("options: an audit policy that nothing is written by is a warning", "[options]") {
  const auto files = WithPolicy();
  AuditOptions alone = Read({{"--audit-policy-file", "/policy"}});
  alone.values.files = files.get();
  Config config;
  Warnings log;
  REQUIRE(alone.ApplyTo(config, log).ok());
  CHECK(config.audit_policy);
  CHECK(log.lines == Texts{"--audit-policy-file records nothing without --audit-log-path or "
                           "--audit-webhook-config-file"});

  AuditOptions written = Read({{"--audit-policy-file", "/policy"}, {"--audit-log-path", "/log"}});
  written.values.files = files.get();
  Config other;
  Warnings quiet;
  REQUIRE(written.ApplyTo(other, quiet).ok());
  CHECK(other.audit_policy);
  CHECK(other.audit_backend);
  CHECK(quiet.lines.empty());
}
