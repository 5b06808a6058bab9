#include "serve.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/directory_lock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/verbosity.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/etcd/engine.h"
#include "apiserver/storage/kms/provider.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/storage/rocks/engine.h"
#include "cluster.h"
#include "common/run_until_signal.h"
#include "groups.h"

namespace sample {

namespace {

using apiserver::Result;
using apiserver::Status;
namespace registry = apiserver::registry;
namespace server = apiserver::server;
namespace storage = apiserver::storage;

Result<std::unique_ptr<storage::kv::Engine>> OpenEngine(const Options& options,
                                                        apiserver::LogSink& log) {
  if (options.storage == "memory") return storage::memory::NewEngine();
  if (options.storage == "etcd") {
    const apiserver::options::EtcdOptions& etcd = options.recommended.etcd;
    return storage::etcd::Open({.servers = etcd.servers,
                                .ca_file = etcd.ca_file,
                                .cert_file = etcd.cert_file,
                                .key_file = etcd.key_file,
                                .health_timeout = etcd.healthcheck_timeout,
                                .compaction_interval = etcd.compaction_interval,
                                .log = log});
  }
  return storage::rocks::Open({.path = options.data_dir + "/rocks"});
}

using ClientAuthorities = std::shared_ptr<apiserver::Variable<std::string>>;

const std::string& ClientCaFile(const Options& options) {
  return options.recommended.authentication.values.client_ca_file;
}

Result<server::Standalone> NewStandalone(const Options& options,
                                         const ClientAuthorities& client_ca) {
  server::StandaloneOptions standalone;
  options.recommended.secure_serving.ApplyTo(standalone);
  if (!ClientCaFile(options).empty()) standalone.client_ca = client_ca;
  return server::NewStandalone(standalone);
}

// Null without --client-ca-file. Follows the file into `bundle`.
Result<std::unique_ptr<apiserver::WatchedFiles>> FollowClientAuthorities(
    const Options& options, const std::string& own_ca, const ClientAuthorities& bundle,
    server::GenericAPIServer& api, apiserver::LogSink& log) {
  if (ClientCaFile(options).empty()) return std::unique_ptr<apiserver::WatchedFiles>();
  return server::FollowClientCa(
      ClientCaFile(options), own_ca, std::chrono::seconds(1), bundle,
      {.files = apiserver::RealFileSystem(), .executor = api.pool(), .log = log});
}

// Writes the kubeconfig and says what to do with it. Behind an aggregator there is none: its users
// have the cluster's.
void Announce(const Options& options, const server::Standalone& standalone, int port) {
  if (!options.recommended.standalone) {
    std::printf("ready: %s, for the cluster's aggregator\n", standalone.Url(port).c_str());
    std::fflush(stdout);
    return;
  }
  if (!standalone.unverifiable.empty()) {
    std::fprintf(stderr, "warning: %s\n", standalone.unverifiable.c_str());
  }
  const std::string& path = options.kubeconfig_out;
  const Status written = standalone.WriteKubeconfig(path, port);
  if (!written.ok()) {
    examples::Fail(written);
    return;
  }
  const std::string kubectl = "  kubectl --kubeconfig " + path;
  std::string place = options.data_dir;
  if (options.storage == "etcd") {
    place = options.recommended.etcd.servers[0] + options.recommended.etcd.prefix;
  }
  std::printf("ready: %s (%s in %s)\ntry:\n", standalone.Url(port).c_str(), options.storage.c_str(),
              place.c_str());
  std::printf("%s api-resources\n", kubectl.c_str());
  std::printf("%s apply -f examples/sample-apiserver/flunder.yaml\n", kubectl.c_str());
  std::printf("%s get flunders -w\n", kubectl.c_str());
  std::fflush(stdout);
}

// Returns the part of the configuration that no flag changes.
server::Config NewConfig(const Program& program, apiserver::VerbositySink& log) {
  server::Config config;
  config.name = program.name;
  config.admission = program.admission;
  config.openapi_title = program.openapi_title;
  config.openapi_version = "0.1";
  config.shutdown_grace = std::chrono::seconds(4);
  config.log = &log;
  config.set_verbosity = [&log](std::uint32_t verbosity) {
    log.SetVerbosity(verbosity);
    return Status();
  };
  return config;
}

Result<std::unique_ptr<apiserver::DirectoryLock>> LockDataDir(const Options& options) {
  auto lock = apiserver::LockDirectory(options.data_dir);
  if (lock.status().reason() != apiserver::Reason::kConflict) return lock;
  return Status(apiserver::Reason::kConflict,
                "--data-dir: " + std::string(lock.status().message()) +
                    "; give this server a directory of its own, or stop the other one");
}

}  // namespace

int Serve(Parsed parsed, const Program& program) {
  Options& options = parsed.options;
  const auto standard_error = apiserver::NewStderrLogSink(apiserver::LogLevel::kDebug);
  const auto log = std::make_unique<apiserver::VerbositySink>(*standard_error, options.v);
  // They log, and the server uses what they own: they go after it and before the log.
  const auto tokens = std::make_shared<apiserver::groups::TokenObjects>();
  apiserver::options::Recommended made;
  const Status folder = apiserver::RealFileSystem().MakeDirectories(options.data_dir, 0700);
  if (!folder.ok()) return examples::Fail(folder);
  // Before anything in it is written: the kubeconfig there is another server's while that runs.
  const auto lock = LockDataDir(options);
  if (!lock.ok()) return examples::Fail(lock.status());
  const auto client_ca = std::make_shared<apiserver::Variable<std::string>>("");
  const auto standalone = NewStandalone(options, client_ca);
  if (!standalone.ok()) return examples::Fail(standalone.status());
  const auto engine = OpenEngine(options, *log);
  if (!engine.ok()) return examples::Fail(engine.status());

  server::Config config = NewConfig(program, *log);
  standalone->Apply(config);
  options.recommended.built_in_authentication.service_accounts.getter = tokens;
  options.recommended.built_in_authentication.secrets = tokens->BootstrapSecrets();
  const apiserver::options::Environment environment{.in_cluster = InPod(), .log = log.get()};
  const Status applied = options.recommended.ApplyTo(config, environment, made);
  if (!applied.ok()) return examples::Fail(applied);
  auto completed = std::move(config).Complete();
  if (!completed.ok()) return examples::Fail(completed.status());
  auto api = std::move(*completed).New();
  if (!api.ok()) return examples::Fail(api.status());
  const auto authorities =
      FollowClientAuthorities(options, standalone->ca_pem, client_ca, **api, *log);
  if (!authorities.ok()) return examples::Fail(authorities.status());
  registry::StorageConfig stores{.engine = engine->get()};
  const auto encryption = options.recommended.etcd.ApplyTo(
      stores, **api, storage::kms::NewProviders({.executor = &(*api)->pool(), .log = log.get()}),
      environment);
  if (!encryption.ok()) return examples::Fail(encryption.status());
  Status installed = InstallGroups({options.recommended, made, tokens, *log}, **api, stores);
  if (installed.ok()) installed = program.install(**api, stores);
  if (installed.ok()) installed = (*api)->PrepareRun();
  if (!installed.ok()) return examples::Fail(installed);

  return examples::RunUntilSignal(**api, [&] { Announce(options, *standalone, (*api)->port()); });
}

}  // namespace sample
