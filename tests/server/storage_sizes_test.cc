// The metric of the size of a server's engines.
#include "server/storage_sizes.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/storage/memory/engine.h"
#include "contains.h"
#include "storage/forwarding_engine.h"
#include "widget_server.h"

namespace apiserver::inline v0::testing {

namespace {

// An engine whose files a test lets grow.
class SizedEngine final : public ForwardingEngine {
 public:
  SizedEngine(apiserver::storage::kv::Engine& inner, std::string name)
      : ForwardingEngine(inner), name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  apiserver::storage::kv::Stats GetStats() const override { return {.file_bytes = file_bytes}; }

  std::size_t file_bytes = 0;

 private:
  const std::string name_;
};

std::string SizeOf(const std::string& id, const std::string& bytes) {
  return "apiserver_storage_size_bytes{storage_cluster_id=\"" + id + "\"} " + bytes + "\n";
}

}  // namespace

TEST_CASE("server: the sizes of engines are shown, each by its name and number", "[server]") {
  const auto memory = apiserver::storage::memory::NewEngine();
  SizedEngine first(*memory, "etcd");
  SizedEngine second(*memory, "etcd");
  SizedEngine other(*memory, "rocks");
  const std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  server::StorageSizes sizes(registry);
  for (const SizedEngine* engine : {&first, &second, &first, &other}) sizes.Show(*engine);
  CHECK_FALSE(Contains(registry->Serialize(), "apiserver_storage_size_bytes{"));

  first.file_bytes = 4096;
  second.file_bytes = 8192;
  other.file_bytes = 123;
  const std::string text = registry->Serialize();
  CHECK(Contains(text, SizeOf("etcd-0", "4096")));
  CHECK(Contains(text, SizeOf("etcd-1", "8192")));
  CHECK(Contains(text, SizeOf("rocks-0", "123")));

  first.file_bytes = 5000;
  CHECK(Contains(registry->Serialize(), SizeOf("etcd-0", "5000")));
}

TEST_CASE("server: the size of the engine that a server's storage has is shown", "[server]") {
  const auto memory = apiserver::storage::memory::NewEngine();
  SizedEngine engine(*memory, "etcd");
  engine.file_bytes = 4096;
  const auto server = StartWidgetServer({.engine = &engine});
  CHECK(Contains(server->Call("GET", "/metrics").body, SizeOf("etcd-0", "4096")));
}

}  // namespace apiserver::inline v0::testing
