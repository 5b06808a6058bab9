#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/options/environment.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"
#include "apiserver/storage/value/encryption.h"

// k8s.io/apiserver/pkg/server/options/etcd.go.
namespace apiserver::inline v0::options {

// The storage of objects. Most fields apply to every engine. The program opens the engine, and
// gives one of etcd the fields that are about etcd.
struct EtcdOptions {
  std::vector<std::string> servers = {};  // --etcd-servers: the members of one etcd.
  // --etcd-prefix: the beginning of all keys. Upstream has no default; the program gives it.
  std::string prefix = "/registry";
  std::string ca_file = {};    // --etcd-cafile.
  std::string cert_file = {};  // --etcd-certfile.
  std::string key_file = {};   // --etcd-keyfile.
  // --etcd-user, --etcd-password-file: as in storage::etcd::Options. Upstream has neither.
  std::string user = {};
  std::string password_file = {};
  // --etcd-compaction-interval; 0: this server does not compact.
  std::chrono::milliseconds compaction_interval = std::chrono::minutes(5);
  // --etcd-healthcheck-timeout: within which etcd must answer for the server to be ready.
  std::chrono::milliseconds healthcheck_timeout = std::chrono::seconds(2);

  bool enable_watch_cache = true;             // --watch-cache.
  std::size_t delete_collection_workers = 1;  // --delete-collection-workers.
  bool enable_garbage_collection = true;      // --enable-garbage-collector.
  // --encryption-provider-config: an EncryptionConfiguration; empty: objects are stored as they
  // are.
  std::string encryption_provider_config = {};
  bool encryption_provider_config_automatic_reload = false;  // The flag of that name.
  // --encryption-provider-config-rewrite-stale: what is stored with another key than the first of
  // the configuration is written with that, once the server has started and whenever the
  // configuration has changed. Upstream has no such flag, nor the next.
  bool encryption_provider_config_rewrite_stale = false;
  // --encryption-provider-config-rewrites-per-second: see storage::store::RewriterOptions.
  std::size_t encryption_provider_config_rewrites_per_second = 200;

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, which names a flag and the remedy. It asks for no
  // servers, which other engines do not need.
  std::vector<std::string> Validate() const;
  // Sets everything in `storage` but the engine, which must be there for the stores to report their
  // progress to `server`. Adds the health check "kms-providers" and the hooks of the rewriter to
  // `server` if they are needed. The result must outlive the stores. Null: objects are not
  // encrypted. `new_kms_provider`: as in storage::value::EncryptionOptions. kInvalid: the file
  // cannot be used; the message names its flag.
  Result<std::unique_ptr<storage::value::Encryption>> ApplyTo(
      registry::StorageConfig& storage, server::GenericAPIServer& server,
      storage::value::NewKmsProvider new_kms_provider, const Environment& environment) const;
};

}  // namespace apiserver::inline v0::options
