// Literal defaults are those of k8s.io/apiserver/pkg/server/options/etcd.go and
// k8s.io/apiserver/pkg/storage/storagebackend/config.go.
#include "apiserver/options/etcd.h"

#include <catch2/catch.hpp>
#include <memory>

#include "apiserver/base/file_system.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"
#include "apiserver/testing/storage/widget.h"
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

// A configuration is the head and its providers in order.
const std::string kHead = R"(apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, widgets.test.example.com]
  providers:
)";
const std::string kOne = R"(
  - aescbc: {keys: [{name: one, secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}]}
)";
const std::string kTwo = R"(
  - aesgcm: {keys: [{name: two, secret: "MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}]}
)";
constexpr char kWithOne[] = "k8s:enc:aescbc:v1:one:";
constexpr char kWithTwo[] = "k8s:enc:aesgcm:v1:two:";

constexpr char kKey[] = "/registry/test.example.com/widgets/ns/one";

// The engine's bytes of the widget "one".
std::string Stored(storage::kv::Engine& engine) {
  const auto response = engine.Range(Context::Background(), {.key = kKey});
  REQUIRE((response.ok() && response->kvs.size() == 1));
  return *response->kvs[0].value;
}
bool Becomes(storage::kv::Engine& engine, std::string_view prefix) {
  const auto until = RealClock().Now() + std::chrono::seconds(60);
  while (!Stored(engine).starts_with(prefix)) {
    if (RealClock().Now() > until) return false;
    (void)Notification().WaitFor(std::chrono::milliseconds(5));
  }
  return true;
}

// A server whose widgets are encrypted by the file /encryption.
struct EncryptedServer {
  EncryptedServer(storage::kv::Engine& engine, const EtcdOptions& options, FileSystem& files) {
    const auto install = [&](server::GenericAPIServer& server) -> Status {
      registry::StorageConfig config{.engine = &engine};
      auto applied = options.ApplyTo(config, server, nullptr, {.files = &files});
      if (!applied.ok()) return applied.status();
      encryption = *std::move(applied);
      CHECK(config.progress == server.Storage(engine).progress);
      auto opened = registry::OpenStorage(config, testing::NewWidgetKind());
      if (!opened.ok()) return opened.status();
      widgets = *std::move(opened);
      return {};
    };
    auto started = testing::StartTestServer({.install = install, .engine = &engine});
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    running = *std::move(started);
  }
  ~EncryptedServer() {
    running.reset();
    widgets.reset();
  }

  std::unique_ptr<storage::value::Encryption> encryption;
  std::shared_ptr<storage::Interface> widgets;
  std::unique_ptr<testing::TestServer> running;
};

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
  CHECK_FALSE(options.encryption_provider_config_rewrite_stale);
  CHECK(options.encryption_provider_config_rewrites_per_second == 200);
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
                                        {"--encryption-provider-config-automatic-reload", "true"},
                                        {"--encryption-provider-config-rewrite-stale", "true"},
                                        {"--encryption-provider-config-rewrites-per-second", "7"}});
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
  CHECK(options.encryption_provider_config_rewrite_stale);
  CHECK(options.encryption_provider_config_rewrites_per_second == 7);
  CHECK(options.Validate().empty());
}

TEST_CASE("options: what is wrong with flags of storage is a line each", "[options]") {
  CHECK(ReadEtcd({{"--etcd-certfile", "/cert"},
                  {"--etcd-prefix", "registry"},
                  {"--etcd-healthcheck-timeout", "0"},
                  {"--encryption-provider-config-automatic-reload", "true"},
                  {"--encryption-provider-config-rewrite-stale", "true"}})
            .Validate() == Texts{"--etcd-certfile and --etcd-keyfile go together",
                                 "--etcd-prefix must begin with a slash",
                                 "--etcd-healthcheck-timeout must be positive",
                                 "--encryption-provider-config-automatic-reload must be set with "
                                 "--encryption-provider-config",
                                 "--encryption-provider-config-rewrite-stale must be set with "
                                 "--encryption-provider-config"});
  CHECK(ReadEtcd({{"--etcd-prefix", ""}}).Validate() ==
        Texts{"--etcd-prefix must begin with a slash"});
}

TEST_CASE("options: stores are told of their server, and which resources are encrypted",
          "[options]") {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->WriteAtomically("/encryption", kHead + kOne, 0600).ok());
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

TEST_CASE(
    "options: what is stored with an older key is written anew after the start, and once "
    "the keys have changed",
    "[options]") {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->WriteAtomically("/encryption", kHead + kOne, 0600).ok());
  const auto engine = storage::memory::NewEngine();
  EtcdOptions options;
  options.encryption_provider_config = "/encryption";
  {
    EncryptedServer server(*engine, options, *files);
    const auto widget = testing::NewWidget(testing::NewWidgetKind(), "one");
    REQUIRE(server.widgets->Create(Context::Background(), "/ns/one", *widget, {}).ok());
    CHECK(Stored(*engine).starts_with(kWithOne));
  }
  REQUIRE(files->WriteAtomically("/encryption", kHead + kTwo + kOne, 0600).ok());
  {
    // The option is off.
    EncryptedServer server(*engine, options, *files);
    CHECK(server.widgets->Get(Context::Background(), "/ns/one", {}).ok());
    CHECK(Stored(*engine).starts_with(kWithOne));
  }
  options.encryption_provider_config_rewrite_stale = true;
  options.encryption_provider_config_automatic_reload = true;
  EncryptedServer server(*engine, options, *files);
  CHECK(Becomes(*engine, kWithTwo));
  REQUIRE(files->WriteAtomically("/encryption", kHead + kOne + kTwo, 0600).ok());
  CHECK(server.encryption->CheckFile().ok());
  CHECK(Becomes(*engine, kWithOne));
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
