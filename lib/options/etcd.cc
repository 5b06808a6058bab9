#include "apiserver/options/etcd.h"

#include <functional>
#include <memory>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/storage/store/rewriter.h"
#include "base/status_macros.h"

namespace apiserver::v0::options {

namespace {

using EncryptionPtr = std::unique_ptr<storage::value::Encryption>;

void AddStorageFlags(EtcdOptions& options, FlagSet& flags) {
  flags.Add({.name = "--watch-cache",
             .value = &options.enable_watch_cache,
             .help = "Answer reads and watches from memory, as far as that may be",
             .show_default = true});
  flags.Add({.name = "--delete-collection-workers",
             .value = &options.delete_collection_workers,
             .help = "Objects that a DELETE of a collection deletes at the same time",
             .show_default = true,
             .range = FlagRange{.min = 1, .max = 1000}});
  flags.Add({.name = "--enable-garbage-collector",
             .value = &options.enable_garbage_collection,
             .help = "Leave owners' finalizers to a garbage collector; off: there is none",
             .show_default = true});
  flags.Add({.name = "--encryption-provider-config",
             .value = &options.encryption_provider_config,
             .help = "File with the providers that encrypt objects at rest"});
  flags.Add({.name = "--encryption-provider-config-automatic-reload",
             .value = &options.encryption_provider_config_automatic_reload,
             .help = "Use the file set by --encryption-provider-config anew when it changes"});
  flags.Add({.name = "--encryption-provider-config-rewrite-stale",
             .value = &options.encryption_provider_config_rewrite_stale,
             .help = "Write what is stored with an older key with the first one, after the start "
                     "and when the keys change"});
  flags.Add({.name = "--encryption-provider-config-rewrites-per-second",
             .value = &options.encryption_provider_config_rewrites_per_second,
             .help = "The most objects that are written so in a second; 0: no limit",
             .show_default = true});
}

// Makes the server unready if encryption fails: without its keys no object can be read.
Status AddHealthCheck(const storage::value::Encryption& encryption,
                      server::GenericAPIServer& server) {
  return server.AddHealthCheck(
      {.name = "kms-providers",
       .check = [&encryption](const Context&) { return encryption.Health(); },
       .livez = false});
}

// Names the rewriter that a change of the keys is told to, once the server has started.
using Told = Guarded<std::weak_ptr<storage::store::Rewriter>>;

// Runs the rewriter once the server answers, until it begins to stop.
Status AddHooks(const std::shared_ptr<storage::store::Rewriter>& rewriter,
                const std::shared_ptr<Told>& told, server::GenericAPIServer& server) {
  RETURN_IF_ERROR(
      server.AddPostStartHook("start-re-encryption", [rewriter, told](const server::HookContext&) {
        *told->Lock() = rewriter;
        rewriter->Start();
        return Status();
      }));
  return server.AddPreShutdownHook("stop-re-encryption", [rewriter](const server::HookContext&) {
    rewriter->Stop();
    return Status();
  });
}

}  // namespace

void EtcdOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Etcd");
  AddStorageFlags(*this, flags);
  flags.Add({.name = "--etcd-servers",
             .value = &servers,
             .help = "The members of one etcd, e.g. http://127.0.0.1:2379, separated by commas",
             .comma_separated = true});
  flags.Add({.name = "--etcd-prefix",
             .value = &prefix,
             .help = "What all keys begin with",
             .show_default = true});
  flags.Add({.name = "--etcd-cafile",
             .value = &ca_file,
             .help = "PEM file of the authorities that https servers of etcd are signed by"});
  flags.Add({.name = "--etcd-certfile",
             .value = &cert_file,
             .help = "PEM file of our certificate for etcd"});
  flags.Add({.name = "--etcd-keyfile", .value = &key_file, .help = "PEM file of its key"});
  flags.Add({.name = "--etcd-user",
             .value = &user,
             .help = "User of etcd's own authentication; without it the certificate names one"});
  flags.Add({.name = "--etcd-password-file",
             .value = &password_file,
             .help = "File with the password of --etcd-user"});
  flags.Add({.name = "--etcd-compaction-interval",
             .value = &compaction_interval,
             .help = "How often etcd's history is compacted; 0: not by this server (default: 5m)"});
  flags.Add({.name = "--etcd-healthcheck-timeout",
             .value = &healthcheck_timeout,
             .help = "Within which etcd must answer for this server to be ready (default: 2s)"});
}

std::vector<std::string> EtcdOptions::Validate() const {
  std::vector<std::string> problems;
  if (cert_file.empty() != key_file.empty()) {
    problems.emplace_back("--etcd-certfile and --etcd-keyfile go together");
  }
  if (user.empty() != password_file.empty()) {
    problems.emplace_back("--etcd-user and --etcd-password-file go together");
  }
  if (prefix.empty() || prefix[0] != '/') {
    problems.emplace_back("--etcd-prefix must begin with a slash");
  }
  if (healthcheck_timeout.count() <= 0) {
    problems.emplace_back("--etcd-healthcheck-timeout must be positive");
  }
  if (encryption_provider_config_automatic_reload && encryption_provider_config.empty()) {
    problems.emplace_back(
        "--encryption-provider-config-automatic-reload must be set with "
        "--encryption-provider-config");
  }
  if (encryption_provider_config_rewrite_stale && encryption_provider_config.empty()) {
    problems.emplace_back(
        "--encryption-provider-config-rewrite-stale must be set with "
        "--encryption-provider-config");
  }
  return problems;
}

Result<EncryptionPtr> EtcdOptions::ApplyTo(registry::StorageConfig& storage,
                                           server::GenericAPIServer& server,
                                           storage::value::NewKmsProvider new_kms_provider,
                                           const Environment& environment) const {
  storage.executor = &server.pool();
  storage.prefix = prefix;
  storage.watch_cache = enable_watch_cache;
  storage.delete_collection_workers = delete_collection_workers;
  storage.enable_garbage_collection = enable_garbage_collection;
  storage.memory = server.memory();
  storage.metrics = server.metrics();
  storage.log = environment.log;
  if (storage.engine != nullptr) storage.progress = server.Storage(*storage.engine).progress;
  if (encryption_provider_config.empty()) return EncryptionPtr();
  const auto told = std::make_shared<Told>();
  auto encryption =
      storage::value::LoadEncryption({.path = encryption_provider_config,
                                      .reload = encryption_provider_config_automatic_reload,
                                      .new_kms_provider = std::move(new_kms_provider),
                                      .files = environment.files,
                                      .executor = &server.pool(),
                                      .on_change =
                                          [told] {
                                            const auto rewriter = told->Lock()->lock();
                                            if (rewriter != nullptr) rewriter->Start();
                                          },
                                      .log = environment.log});
  if (!encryption.ok()) {
    return encryption.status().WithMessage("--encryption-provider-config: " +
                                           std::string(encryption.status().message()));
  }
  if (encryption_provider_config_automatic_reload || (*encryption)->uses_kms()) {
    RETURN_IF_ERROR(AddHealthCheck(**encryption, server));
  }
  storage.transformer_for = [used = encryption->get()](const runtime::GroupResource& resource) {
    return used->TransformerFor(resource);
  };
  if (encryption_provider_config_rewrite_stale) {
    storage.rewriter = storage::store::NewRewriter(
        {.concerns = (*encryption)->Naming(),
         .rewrites_per_second_max = encryption_provider_config_rewrites_per_second,
         .progress = storage.progress,
         .log = environment.log});
    RETURN_IF_ERROR(AddHooks(storage.rewriter, told, server));
  }
  return encryption;
}

}  // namespace apiserver::v0::options
