#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/storage/memory/engine.h"
#include "widget_server.h"

// What reaches an engine, whatever is asked for.
namespace apiserver::inline v0::security {
namespace {

namespace kv = apiserver::storage::kv;
using testing::kWidgets;

// Remembers the keys of ranges, writes and tails.
class KeyRecorder final : public kv::Engine {
 public:
  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override {
    Saw(request.key);
    if (!request.end.empty()) Saw(request.end);
    return engine_->Range(ctx, request);
  }
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& request) override {
    Saw(request.key);
    return engine_->Txn(ctx, request);
  }
  void TxnAsync(const Context& ctx, kv::TxnRequest request,
                UniqueFunction<void(Result<kv::TxnResponse>)> done) override {
    Saw(request.key);
    engine_->TxnAsync(ctx, std::move(request), std::move(done));
  }
  Result<std::unique_ptr<kv::Tail>> NewTail(std::string_view prefix, kv::Revision from) override {
    Saw(std::string(prefix));
    return engine_->NewTail(prefix, from);
  }
  Status RequestProgress(const Context& ctx) override { return engine_->RequestProgress(ctx); }
  Result<kv::Revision> CurrentRevision(const Context& ctx) override {
    return engine_->CurrentRevision(ctx);
  }
  Status Compact(const Context& ctx, kv::Revision revision) override {
    return engine_->Compact(ctx, revision);
  }
  kv::Revision CompactedRevision() const override { return engine_->CompactedRevision(); }
  Result<kv::LeaseId> GrantLease(const Context& ctx, std::chrono::seconds ttl) override {
    return engine_->GrantLease(ctx, ttl);
  }
  kv::Stats GetStats() const override { return engine_->GetStats(); }
  Status Ready() const override { return engine_->Ready(); }
  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view prefix,
                                                   kv::Observer& observer) override {
    Saw(std::string(prefix));
    return engine_->Observe(prefix, observer);
  }
  void Stop() override { engine_->Stop(); }

  std::vector<std::string> Keys() const { return *keys_.Lock(); }

 private:
  void Saw(const std::string& key) { keys_.Lock()->push_back(key); }

  std::unique_ptr<kv::Engine> engine_ = storage::memory::NewEngine();
  Guarded<std::vector<std::string>> keys_;
};

std::string Quoted(const std::string& text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  return quoted;
}

const std::vector<std::string> kHostile = {"..",
                                           ".",
                                           "../x",
                                           "../../secrets/x",
                                           "a/../../b",
                                           "/",
                                           "a/b",
                                           "%2e%2e",
                                           "..%2f",
                                           std::string("a\0b", 3),
                                           "\xc0\xae\xc0\xae/",
                                           "a\nb",
                                           std::string(10'000, '.'),
                                           "a//b",
                                           "x/",
                                           "/x",
                                           "*",
                                           "~"};

}  // namespace

// Every key belongs to the resource that the URL names, so that no other control, such as etcd's
// own roles, has to tell one tenant from another.
TEST_CASE("security: rows 14 and 59, CVE-2015-5305, CVE-2026-33413: no key leaves its resource",
          "[security]") {
  KeyRecorder engine;
  const auto server = testing::StartWidgetServer({.engine = &engine});
  client::Client& client = server->client();
  const Context ctx = Context::Background();
  const auto call = [&](std::string method, std::string target, std::string body = "") {
    http::ClientRequest request{.method = std::move(method), .target = std::move(target)};
    request.headers.Set("Content-Type",
                        method == "PATCH" ? "application/merge-patch+json" : "application/json");
    request.body = std::move(body);
    return client.Call(ctx, std::move(request));
  };
  for (const std::string& name : kHostile) {
    const std::string escaped = http::PercentEncode(name);
    const std::string object = std::string(kWidgets) + "/" + escaped;
    const std::string body = R"({"metadata":{"name":)" + Quoted(name) + "}}";
    for (const std::string& target :
         {object, object + "/status", "/apis/example.com/v1/namespaces/" + escaped + "/widgets",
          "/apis/example.com/v1/namespaces/" + escaped + "/widgets/x",
          std::string(kWidgets) + "?fieldSelector=metadata.name%3D" + escaped,
          std::string(kWidgets) + "?limit=1&continue=" + escaped}) {
      for (const char* method : {"GET", "PUT", "PATCH", "DELETE", "POST"}) {
        (void)call(method, target, body);
      }
      http::ClientRequest watch{.target = target};
      watch.target += target.find('?') == std::string::npos ? "?" : "&";
      watch.target += "watch=1&resourceVersion=1";
      // Long enough to reach the engine, if it is going to.
      (void)client.Call(Context::Child(ctx, RealClock().Now() + std::chrono::milliseconds(20)),
                        std::move(watch));
    }
    (void)call("POST", kWidgets, body);
    (void)call("POST", kWidgets, R"({"metadata":{"generateName":)" + Quoted(name) + "}}");
    (void)call("POST", kWidgets, R"({"metadata":{"name":"x","namespace":)" + Quoted(name) + "}}");
  }

  const std::vector<std::string> keys = engine.Keys();
  CHECK(keys.size() > 20);
  for (const std::string& key : keys) {
    // The end of a range of all of them comes right behind.
    const bool inside = key.starts_with("/registry/example.com/widgets/") ||
                        key == "/registry/example.com/widgets0";
    if (!inside) FAIL_CHECK("a key left its resource: " << key);
    // A NUL is a byte like any other, as upstream: keys are told apart by all of theirs.
    const bool plain = key.find("/../") == std::string::npos && !key.ends_with("/..") &&
                       key.find("/./") == std::string::npos && !key.ends_with("/.") &&
                       key.find("//") == std::string::npos && key.find('%') == std::string::npos;
    if (!plain) FAIL_CHECK("a key is not what it says: " << key);
  }
}

}  // namespace apiserver::inline v0::security
