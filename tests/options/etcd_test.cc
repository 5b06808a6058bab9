// Literal defaults are those of k8s.io/apiserver/pkg/server/options/etcd.go and
// k8s.io/apiserver/pkg/storage/storagebackend/config.go.
#include "apiserver/options/etcd.h"

#include <catch2/catch.hpp>
#include <memory>

#include "apiserver/base/file_system.h"
#include "apiserver/testing/server/test_server.h"
#include "read_flags.h"

namespace apiserver::inline v0::options {
namespace {

using testing::ReadFlags;
using Texts = std::vector<std::string>;
using Words = ReadFlags::Words;

EtcdOptions ReadEtcd(const Words& words) {
  EtcdOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Read(words).empty());
  return options;
}

constexpr char kEncryption[] = R"(apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aescbc: {keys: [{name: one, secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}]}
)";

}  // namespace

TEST_CASE("options: storage has upstream's defaults", "[options]") {
  const EtcdOptions options = ReadEtcd({});
  CHECK(options.servers.empty());
  CHECK(options.prefix == "/registry");
  CHECK(options.ca_file.empty());
  CHECK(options.cert_file.empty());
  CHECK(options.key_file.empty());
  CHECK(options.compaction_interval == std::chrono::minutes(5));
  CHECK(options.healthcheck_timeout == std::chrono::seconds(2));
  CHECK(options.enable_watch_cache);
  CHECK(options.delete_collection_workers == 1);
  CHECK(options.enable_garbage_collection);
  CHECK(options.encryption_provider_config.empty());
  CHECK_FALSE(options.encryption_provider_config_automatic_reload);
  CHECK(options.Validate().empty());
}

TEST_CASE("options: each flag of storage sets its field", "[options]") {
  const EtcdOptions options = ReadEtcd({{"--etcd-servers", "http://a,http://b"},
                                        {"--etcd-prefix", "/elsewhere"},
                                        {"--etcd-cafile", "/ca"},
                                        {"--etcd-certfile", "/cert"},
                                        {"--etcd-keyfile", "/key"},
                                        {"--etcd-compaction-interval", "0"},
                                        {"--etcd-healthcheck-timeout", "3s"},
                                        {"--watch-cache", "false"},
                                        {"--delete-collection-workers", "4"},
                                        {"--enable-garbage-collector", "false"},
                                        {"--encryption-provider-config", "/encryption"},
                                        {"--encryption-provider-config-automatic-reload", "true"}});
  CHECK(options.servers == Texts{"http://a", "http://b"});
  CHECK(options.prefix == "/elsewhere");
  CHECK(options.ca_file == "/ca");
  CHECK(options.cert_file == "/cert");
  CHECK(options.key_file == "/key");
  CHECK(options.compaction_interval == std::chrono::seconds(0));
  CHECK(options.healthcheck_timeout == std::chrono::seconds(3));
  CHECK_FALSE(options.enable_watch_cache);
  CHECK(options.delete_collection_workers == 4);
  CHECK_FALSE(options.enable_garbage_collection);
  CHECK(options.encryption_provider_config == "/encryption");
  CHECK(options.encryption_provider_config_automatic_reload);
  CHECK(options.Validate().empty());
}

TEST_CASE("options: what is wrong with flags of storage is a line each", "[options]") {
  CHECK(ReadEtcd({{"--etcd-certfile", "/cert"},
                  {"--etcd-prefix", "registry"},
                  {"--etcd-healthcheck-timeout", "0"},
                  {"--encryption-provider-config-automatic-reload", "true"}})
            .Validate() == Texts{"--etcd-certfile and --etcd-keyfile go together",
                                 "--etcd-prefix must begin with a slash",
                                 "--etcd-healthcheck-timeout must be positive",
                                 "--encryption-provider-config-automatic-reload must be set with "
                                 "--encryption-provider-config"});
  CHECK(ReadEtcd({{"--etcd-prefix", ""}}).Validate() ==
        Texts{"--etcd-prefix must begin with a slash"});
}

TEST_CASE("options: stores are told of their server, and which resources are encrypted",
          "[options]") {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->WriteAtomically("/encryption", kEncryption, 0600).ok());
  const auto running = testing::StartTestServer({});
  REQUIRE(running.ok());
  server::GenericAPIServer& server = (*running)->server();
  const Environment environment{.files = files.get()};

  registry::StorageConfig plain;
  const auto none = ReadEtcd({{"--etcd-prefix", "/elsewhere"},
                              {"--watch-cache", "false"},
                              {"--delete-collection-workers", "4"},
                              {"--enable-garbage-collector", "false"}})
                        .ApplyTo(plain, server, nullptr, environment);
  REQUIRE(none.ok());
  CHECK(*none == nullptr);
  CHECK(plain.executor == &server.pool());
  CHECK(plain.memory == server.memory());
  CHECK(plain.metrics == server.metrics());
  CHECK(plain.prefix == "/elsewhere");
  CHECK_FALSE(plain.watch_cache);
  CHECK(plain.delete_collection_workers == 4);
  CHECK_FALSE(plain.enable_garbage_collection);
  CHECK_FALSE(plain.transformer_for);

  registry::StorageConfig encrypted;
  const auto encryption = ReadEtcd({{"--encryption-provider-config", "/encryption"}})
                              .ApplyTo(encrypted, server, nullptr, environment);
  REQUIRE(encryption.ok());
  REQUIRE(encrypted.transformer_for);
  const auto secrets = encrypted.transformer_for({.group = "", .resource = "secrets"});
  REQUIRE(secrets);
  CHECK(*encryption != nullptr);
}

TEST_CASE("options: an encryption configuration that is missing names its flag", "[options]") {
  const auto files = NewMemoryFileSystem();
  const auto running = testing::StartTestServer({});
  REQUIRE(running.ok());
  registry::StorageConfig storage;
  const auto encryption =
      ReadEtcd({{"--encryption-provider-config", "/missing"}})
          .ApplyTo(storage, (*running)->server(), nullptr, {.files = files.get()});
  REQUIRE_FALSE(encryption.ok());
  CHECK(encryption.status().message().starts_with("--encryption-provider-config: "));
}

}  // namespace apiserver::inline v0::options
