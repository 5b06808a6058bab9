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
#include "apiserver/storage/value/encryption.h"
#include "cluster.h"
#include "common/run_until_signal.h"

namespace sample {

namespace {

using apiserver::Result;
using apiserver::Status;
namespace registry = apiserver::registry;
namespace server = apiserver::server;
namespace storage = apiserver::storage;

// Early return; the library's own macro is private to it.
#define RETURN_IF_NOT_OK(expr) \
  if (Status status_ = (expr); !status_.ok()) return status_

Result<std::unique_ptr<storage::kv::Engine>> OpenEngine(const Options& options,
                                                        apiserver::LogSink& log) {
  if (options.storage == "memory") return storage::memory::NewEngine();
  if (options.storage == "etcd") {
    return storage::etcd::Open({.servers = options.etcd_servers,
                                .ca_file = options.etcd_cafile,
                                .cert_file = options.etcd_certfile,
                                .key_file = options.etcd_keyfile,
                                .health_timeout = options.etcd_healthcheck_timeout,
                                .compaction_interval = options.etcd_compaction_interval,
                                .log = log});
  }
  return storage::rocks::Open({.path = options.data_dir + "/rocks"});
}

// Null without --encryption-provider-config.
Result<std::unique_ptr<storage::value::Encryption>> OpenEncryption(const Options& options,
                                                                   server::GenericAPIServer& api,
                                                                   apiserver::LogSink& log) {
  if (options.encryption_provider_config.empty()) {
    return std::unique_ptr<storage::value::Encryption>();
  }
  auto encryption = storage::value::LoadEncryption(
      {.path = options.encryption_provider_config,
       .reload = options.encryption_provider_config_automatic_reload,
       .new_kms_provider = storage::kms::NewProviders({.executor = &api.pool(), .log = &log}),
       .executor = &api.pool(),
       .log = &log});
  if (!encryption.ok()) {
    return encryption.status().WithMessage("--encryption-provider-config: " +
                                           std::string(encryption.status().message()));
  }
  if (options.encryption_provider_config_automatic_reload || (*encryption)->uses_kms()) {
    RETURN_IF_NOT_OK(api.AddHealthCheck(
        {.name = "kms-providers",
         .check = [encryption = encryption->get()](
                      const apiserver::Context&) { return encryption->Health(); },
         .livez = false}));
  }
  return encryption;
}

void Encrypt(const storage::value::Encryption* encryption, registry::StorageConfig& config) {
  if (encryption != nullptr) {
    config.transformer_for = [encryption](const apiserver::runtime::GroupResource& resource) {
      return encryption->TransformerFor(resource);
    };
  }
}

using ClientAuthorities = std::shared_ptr<apiserver::Variable<std::string>>;

Result<server::Standalone> NewStandalone(const Options& options,
                                         const ClientAuthorities& client_ca) {
  return server::NewStandalone({.data_dir = options.cert_dir,
                                .address = options.bind_address,
                                .port = options.secure_port,
                                .tls_cert_file = options.tls_cert_file,
                                .tls_key_file = options.tls_private_key_file,
                                .sni = options.tls_sni_cert_keys,
                                .tls = {options.tls_cipher_suites, options.tls_min_version},
                                .client_ca = options.client_ca_file.empty() ? nullptr : client_ca});
}

// Null without --client-ca-file. Follows the file into `bundle`.
Result<std::unique_ptr<apiserver::WatchedFiles>> FollowClientAuthorities(
    const Options& options, const std::string& own_ca, const ClientAuthorities& bundle,
    server::GenericAPIServer& api, apiserver::LogSink& log) {
  if (options.client_ca_file.empty()) return std::unique_ptr<apiserver::WatchedFiles>();
  return server::FollowClientCa(
      options.client_ca_file, own_ca, std::chrono::seconds(1), bundle,
      {.files = apiserver::RealFileSystem(), .executor = api.pool(), .log = log});
}

// Before the server is made.
Status Configure(const Environment& environment, const Parts& parts, server::Config& config) {
  for (const auto& part : parts) {
    RETURN_IF_NOT_OK(part->Configure(environment, config));
  }
  return {};
}

// After it: what the parts serve, then what the program does.
Status Install(const Environment& environment, const Parts& parts, const Program& program,
               server::GenericAPIServer& api, const registry::StorageConfig& storage) {
  for (const auto& part : parts) {
    RETURN_IF_NOT_OK(part->Install(environment, api, storage));
  }
  RETURN_IF_NOT_OK(program.install(api, storage));
  return api.PrepareRun();
}

// Writes the kubeconfig and says what to do with it. Behind an aggregator there is none: its users
// have the cluster's.
void Announce(const Options& options, const server::Standalone& standalone, int port) {
  if (!options.standalone) {
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
  if (options.storage == "etcd") place = options.etcd_servers[0] + options.etcd_prefix;
  std::printf("ready: %s (%s in %s)\ntry:\n", standalone.Url(port).c_str(), options.storage.c_str(),
              place.c_str());
  std::printf("%s api-resources\n", kubectl.c_str());
  std::printf("%s apply -f examples/sample-apiserver/flunder.yaml\n", kubectl.c_str());
  std::printf("%s get flunders -w\n", kubectl.c_str());
  std::fflush(stdout);
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
  const Options& options = parsed.options;
  const auto standard_error = apiserver::NewStderrLogSink(apiserver::LogLevel::kDebug);
  const auto log = std::make_unique<apiserver::VerbositySink>(*standard_error, options.v);
  // They log, and the server uses what they own: they go after it and before the log.
  const Parts parts = std::move(parsed.parts);
  const Status made = apiserver::RealFileSystem().MakeDirectories(options.data_dir, 0700);
  if (!made.ok()) return examples::Fail(made);
  // Before anything in it is written: the kubeconfig there is another server's while that runs.
  const auto lock = LockDataDir(options);
  if (!lock.ok()) return examples::Fail(lock.status());
  const auto client_ca = std::make_shared<apiserver::Variable<std::string>>("");
  const auto standalone = NewStandalone(options, client_ca);
  if (!standalone.ok()) return examples::Fail(standalone.status());
  const auto engine = OpenEngine(options, *log);
  if (!engine.ok()) return examples::Fail(engine.status());

  server::Config config;
  config.name = program.name;
  config.admission = program.admission;
  config.openapi_title = program.openapi_title;
  config.openapi_version = "0.1";
  config.shutdown_grace = std::chrono::seconds(4);
  config.log = log.get();
  config.set_verbosity = [sink = log.get()](std::uint32_t verbosity) {
    sink->SetVerbosity(verbosity);
    return Status();
  };
  standalone->Apply(config);
  config.serving->streams_max = static_cast<std::size_t>(options.http2_max_streams);
  const Environment environment{
      .options = options,
      .log = *log,
      .around = {.standalone = options.standalone, .in_cluster = InPod(), .log = log.get()}};
  const Status configured = Configure(environment, parts, config);
  if (!configured.ok()) return examples::Fail(configured);
  auto completed = std::move(config).Complete();
  if (!completed.ok()) return examples::Fail(completed.status());
  auto api = std::move(*completed).New();
  if (!api.ok()) return examples::Fail(api.status());
  const auto authorities =
      FollowClientAuthorities(options, standalone->ca_pem, client_ca, **api, *log);
  if (!authorities.ok()) return examples::Fail(authorities.status());
  const auto encryption = OpenEncryption(options, **api, *log);
  if (!encryption.ok()) return examples::Fail(encryption.status());
  registry::StorageConfig storage_config{
      .engine = engine->get(),
      .executor = &(*api)->pool(),
      .prefix = options.etcd_prefix,
      .watch_cache = options.watch_cache,
      .delete_collection_workers = options.delete_collection_workers,
      .enable_garbage_collection = options.enable_garbage_collector,
      .memory = (*api)->memory(),
      .metrics = (*api)->metrics(),
      .log = log.get()};
  Encrypt(encryption->get(), storage_config);
  const Status installed = Install(environment, parts, program, **api, storage_config);
  if (!installed.ok()) return examples::Fail(installed);

  return examples::RunUntilSignal(**api, [&] { Announce(options, *standalone, (*api)->port()); });
}

}  // namespace sample
