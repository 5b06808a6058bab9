#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "apiserver/registry/store.h"
#include "apiserver/storage/memory/engine.h"
#include "widget_server.h"

// A server whose chain has two handlers, for tests of what they share.
namespace apiserver::inline v0::testing {

inline constexpr char kPets[] = "/apis/zoo.example.com/v1/namespaces/default/pets";

class PetStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

inline runtime::KindPtr PetKind(const std::string& version) {
  const auto spec = runtime::StructBuilder("com.example.zoo." + version + ".PetSpec", "Its ways.")
                        .Field("food", runtime::StringSchema(), {.description = "What it eats."})
                        .Build();
  const auto schema = runtime::StructBuilder("com.example.zoo." + version + ".Pet", "A pet.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  return runtime::Kind::New({.group = "zoo.example.com",
                             .kind = "Pet",
                             .plural = "pets",
                             .versions = {{.version = version, .schema = schema}}})
      .value();
}

inline std::string Pet(const std::string& name) {
  return R"({"apiVersion":"zoo.example.com/v1","kind":"Pet","metadata":{"name":")" + name +
         R"("},"spec":{"food":"hay"}})";
}

inline std::shared_ptr<rest::Storage> StoreOf(apiserver::storage::kv::Engine& engine,
                                              Executor& pool, runtime::KindPtr kind) {
  return registry::NewStore({.engine = &engine, .executor = &pool},
                            {.kind = std::move(kind),
                             .strategy = std::make_shared<PetStrategy>(),
                             .functions_inline = true})
      .value();
}

// A server of widgets whose chain has a handler "inner" besides, which serves pets.
class PetsBehindWidgets {
 public:
  explicit PetsBehindWidgets(server::HandlerOptions inner = {.name = "inner"},
                             TestServerOptions options = {}) {
    options.install = [this, inner = std::move(inner), install = std::move(options.install)](
                          server::GenericAPIServer& api) -> Status {
      inner_ = api.AddHandler(inner).value();
      if (install) {
        if (Status status = install(api); !status.ok()) return status;
      }
      return InstallPets(api);
    };
    server_ = StartWidgetServer(std::move(options));
  }

  TestServer& server() { return *server_; }
  server::GenericAPIServer& outer() { return server_->server(); }
  server::Handler& inner() { return *inner_; }
  http::ClientResponse Get(const std::string& target) { return server_->Call("GET", target); }

 private:
  Status InstallPets(server::GenericAPIServer& api) {
    const runtime::KindPtr kind = PetKind("v1");
    if (Status status = inner_->scheme().Add(kind); !status.ok()) return status;
    const auto pets = StoreOf(*engine_, api.pool(), kind);
    return inner_->InstallAPIGroup({"zoo.example.com", {{"v1", {{"pets", pets}}}}});
  }

  const std::unique_ptr<apiserver::storage::kv::Engine> engine_ =
      apiserver::storage::memory::NewEngine();
  server::Handler* inner_ = nullptr;
  std::unique_ptr<TestServer> server_;
};

// A watch that has begun.
inline std::unique_ptr<http::ClientStream> WatchOf(http::Connection& connection,
                                                   const std::string& path) {
  auto stream = connection.Open({.target = path + "?watch=1"}).value();
  const auto head = stream->Head(Context::Background());
  if (!head.ok() || head->code != 200) throw std::logic_error("no watch of " + path);
  return stream;
}

}  // namespace apiserver::inline v0::testing
