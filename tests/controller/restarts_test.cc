// An informer of 10,000 objects and 8 workers, while the server is stopped and started again over
// the same store, which another one changes meanwhile: no change is lost, and no key is worked on
// twice at a time. After the first restart the informer goes on where it was, after the others the
// store has forgotten what it has not seen, so that it lists anew.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/shared_informer.h"
#include "apiserver/controller/controller.h"
#include "apiserver/controller/handlers.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"

namespace controller_restarts_test {
namespace {

using namespace apiserver;
using controller::NamespacedName;
using controller::ReconcileResult;
using std::chrono::milliseconds;

constexpr int kObjects = 10'000;
constexpr int kWorkers = 8;
constexpr int kWriters = 2;
constexpr int kRestarts = 3;
constexpr int kChangesEach = 300;  // By each writer around each restart.
constexpr int kUnseen = 300;       // Changes while the server is away.

const client::Target kThings{.resource = {"load.example.com", "v1", "things"}, .namespace_ = "ns"};

runtime::KindPtr ThingKind() {
  const auto spec = runtime::StructBuilder("").Field("turn", runtime::IntegerSchema(64)).Build();
  return runtime::Kind::New(
             {.group = "load.example.com",
              .kind = "Thing",
              .plural = "things",
              .semantics = runtime::Semantics::kCustomResource,
              .versions = {{.version = "v1",
                            .schema = runtime::StructBuilder("")
                                          .Field("metadata", runtime::ObjectMetaSchema())
                                          .Field("spec", spec)
                                          .Build()}}})
      .value();
}

std::string NameOf(std::uint64_t i) { return "thing-" + std::to_string(i); }

std::unique_ptr<runtime::Object> Thing(const std::string& name, std::int64_t turn) {
  auto object = std::make_unique<runtime::Object>(
      runtime::Kind::Untyped({"load.example.com", "v1", "Thing"}), "v1");
  object->Edit("metadata", "name") = name;
  object->Edit("spec", "turn") = turn;
  return object;
}

// Sets the turn of an object that is there. A custom resource is not updated without its version.
bool SetTurn(client::Client& client, const client::Target& target, std::int64_t turn) {
  const std::string text = R"({"spec":{"turn":)" + std::to_string(turn) + "}}";
  return client
      .Patch(Context::Background(), target,
             {.media_type = "application/merge-patch+json", .text = text})
      .ok();
}

// Counts the watches that begin with a list.
class CountingConnection final : public http::Connection {
 public:
  CountingConnection(std::unique_ptr<http::Connection> to, std::atomic<int>& lists)
      : to_(std::move(to)), lists_(lists) {}
  Result<http::ClientResponse> Call(const Context& ctx,
                                    const http::ClientRequest& request) override {
    return to_->Call(ctx, request);
  }
  Result<std::unique_ptr<http::ClientStream>> Open(const http::ClientRequest& request) override {
    if (request.target.find("sendInitialEvents=true") != std::string::npos) ++lists_;
    return to_->Open(request);
  }
  bool closed() const override { return to_->closed(); }

 private:
  const std::unique_ptr<http::Connection> to_;
  std::atomic<int>& lists_;
};

// A server that can be replaced over a store that lives on, and a client that finds the new one.
class Restarting {
 public:
  Restarting() { Start(); }

  // Stops the server, changes objects, and starts another one. `forget`: the store then knows no
  // state before that.
  void Restart(std::uint64_t seed, bool forget) {
    std::shared_ptr<testing::TestServer> old = std::exchange(*server_.Lock(), nullptr);
    old.reset();  // Stopped, unless a connection is being made just now.
    ChangeUnseen(seed);
    if (forget) {
      const auto revision = engine_->CurrentRevision(Context::Background());
      REQUIRE(engine_->Compact(Context::Background(), revision.value()).ok());
    }
    Start();
  }
  // Returns how often somebody has asked for a list that becomes a watch.
  int lists() const { return lists_; }
  client::Client& client() { return *client_; }
  // Returns versions by name, as the store has them.
  std::map<std::string, std::string> Stored() {
    std::map<std::string, std::string> versions;
    const auto list = client_->List(Context::Background(), kThings);
    REQUIRE(list.ok());
    for (const auto& object : list->items) {
      versions.emplace(object->name(), object->resource_version());
    }
    return versions;
  }

 private:
  void Start() {
    auto started = testing::StartTestServer({.kinds = {{.kind = kind_}}, .engine = engine_.get()});
    REQUIRE(started.ok());
    *server_.Lock() = *std::move(started);
  }
  // Deletes, replaces and updates some objects through a server that nobody else knows.
  void ChangeUnseen(std::uint64_t seed) {
    const auto other =
        testing::StartTestServer({.kinds = {{.kind = kind_}}, .engine = engine_.get()});
    REQUIRE(other.ok());
    client::Client& client = (*other)->client();
    const auto random = NewSeededRandom(1000 + seed);
    int updated = 0;
    int deleted = 0;
    for (int i = 0; i < kUnseen; ++i) {
      client::Target target = kThings;
      target.name = NameOf(random->Below(kObjects));
      if (i % 3 == 0) {
        updated += SetTurn(client, target, -i) ? 1 : 0;
        continue;
      }
      deleted += client.Delete(Context::Background(), target).ok() ? 1 : 0;
      if (i % 3 == 1) {
        (void)client.Create(Context::Background(), kThings, *Thing(target.name, -i));
      }
    }
    CHECK(updated > kUnseen / 6);
    CHECK(deleted > kUnseen / 3);
  }
  Result<std::shared_ptr<http::Connection>> Connect() {
    const std::shared_ptr<testing::TestServer> server = *server_.Lock();
    if (!server) return Status(Reason::kServiceUnavailable, "the server is away");
    return std::shared_ptr<http::Connection>(
        std::make_shared<CountingConnection>(server->server().LoopbackConnection(), lists_));
  }

  const runtime::KindPtr kind_ = ThingKind();
  const std::unique_ptr<storage::kv::Engine> engine_ = storage::memory::NewEngine();
  std::atomic<int> lists_{0};
  Guarded<std::shared_ptr<testing::TestServer>> server_;
  const std::unique_ptr<client::Client> client_ =
      client::NewClient({.connect = [this](const Context&) { return Connect(); }});
};

// The states that the workers have seen of each object.
class View {
 public:
  // The turn of a worker; one in seven fails.
  Result<ReconcileResult> Reconcile(const client::Informer& informer, const NamespacedName& key) {
    std::atomic<bool>& busy = busy_[std::stoul(key.name.substr(6))];
    if (busy.exchange(true)) ++doubled;
    const int turn = ++turns;
    const auto object = informer.Get(key.namespace_, key.name);
    if (turn % 7 != 0) {
      const auto versions = versions_.Lock();
      if (object) {
        (*versions)[key.name] = object->resource_version();
      } else {
        versions->erase(key.name);
      }
    }
    busy = false;
    if (turn % 7 == 0) return Status(Reason::kConflict, "try again");
    return ReconcileResult{};
  }
  std::map<std::string, std::string> versions() const { return *versions_.Lock(); }

  std::atomic<int> doubled{0};
  std::atomic<int> turns{0};

 private:
  std::vector<std::atomic<bool>> busy_ = std::vector<std::atomic<bool>>(kObjects);
  Guarded<std::map<std::string, std::string>> versions_;
};

// The objects as a handler has been told of them.
class Ledger {
 public:
  // Handles each change; those that do not follow from the ones before are counted.
  client::InformerHandler Handler() {
    return {.on_add = [this](const runtime::ObjectPtr& object) { Add(*object); },
            .on_update =
                [this](const runtime::ObjectPtr& before, const runtime::ObjectPtr& now) {
                  Remove(*before);
                  Add(*now);
                  if (before->uid() != now->uid()) ++wrong;
                },
            .on_delete = [this](const runtime::ObjectPtr& object) { Remove(*object); }};
  }
  std::map<std::string, std::string> versions() const { return *versions_.Lock(); }

  std::atomic<int> wrong{0};

 private:
  void Add(const runtime::Object& object) {
    const auto version = std::string(object.resource_version());
    if (!versions_.Lock()->emplace(object.name(), version).second) ++wrong;
  }
  void Remove(const runtime::Object& object) {
    if (versions_.Lock()->erase(std::string(object.name())) == 0) ++wrong;
  }

  Guarded<std::map<std::string, std::string>> versions_;
};

// Changes objects, deletes some and makes them again. While the server is away nothing happens.
void Write(client::Client& client, std::uint64_t seed) {
  const auto random = NewSeededRandom(seed);
  for (int i = 0; i < kChangesEach; ++i) {
    client::Target target = kThings;
    target.name = NameOf(random->Below(kObjects));
    if (random->Below(4) == 0) {
      (void)client.Delete(Context::Background(), target);
      if (random->Below(2) == 0) continue;
    }
    const auto turn = static_cast<std::int64_t>(random->Below(1'000'000));
    if (!SetTurn(client, target, turn)) {
      (void)client.Create(Context::Background(), kThings, *Thing(target.name, turn));
    }
  }
}

const testing::EventuallyOptions kPatiently{.timeout = std::chrono::seconds(120),
                                            .interval = milliseconds(20)};

// OK if both have the same versions; else an error that says what `have` lacks.
Status Same(const std::map<std::string, std::string>& have,
            const std::map<std::string, std::string>& stored) {
  if (have == stored) return Status::Ok();
  int missing = 0;
  int stale = 0;
  for (const auto& [name, version] : stored) {
    const auto found = have.find(name);
    if (found == have.end()) {
      ++missing;
    } else if (found->second != version) {
      ++stale;
    }
  }
  const auto gone = have.size() + static_cast<std::size_t>(missing) - stored.size();
  return Status(Reason::kConflict, std::to_string(missing) + " objects are missing, " +
                                       std::to_string(stale) + " are of another version, " +
                                       std::to_string(gone) + " should be gone");
}

TEST_CASE("controller: over restarts of the server no key is lost and none worked on twice",
          "[controller]") {
  Restarting server;
  std::vector<Thread> makers;
  for (int maker = 0; maker < kWriters; ++maker) {
    makers.emplace_back("maker", [&server, maker] {
      for (int i = maker; i < kObjects; i += kWriters) {
        const auto object = Thing(NameOf(static_cast<std::uint64_t>(i)), 0);
        (void)server.client().Create(Context::Background(), kThings, *object);
      }
    });
  }
  client::SharedInformerOptions options;
  options.informer.target.resource = kThings.resource;
  options.informer.backoff = milliseconds(2);
  options.informer.backoff_max = milliseconds(20);
  const auto informer = client::NewSharedInformer(server.client(), std::move(options));
  View view;
  const auto things = controller::NewController(
      {.name = "things",
       .reconcile = [&](const Context&,
                        const NamespacedName& key) { return view.Reconcile(*informer, key); },
       .workers = kWorkers,
       .rate_limiter = controller::NewRateLimiter(
           {.base = milliseconds(1), .max = milliseconds(10), .per_second = 0})});
  const auto registration = informer->AddHandler(controller::EnqueueObject(things->queue()));
  Ledger ledger;
  const auto told = informer->AddHandler(ledger.Handler());
  informer->Start();
  things->Start({informer.get()});
  for (Thread& maker : makers) maker.Join();

  for (std::uint64_t restart = 0; restart <= kRestarts; ++restart) {
    CAPTURE(restart);
    std::vector<Thread> writers;
    for (std::uint64_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back("writer", [&server, seed = restart * kWriters + writer] {
        Write(server.client(), seed);
      });
    }
    if (restart > 0) server.Restart(restart, /*forget=*/restart > 1);
    for (Thread& writer : writers) writer.Join();

    const auto stored = server.Stored();
    CHECK(stored.size() > kObjects / 2);
    CHECK(testing::Eventually(
        [&] {
          std::map<std::string, std::string> copy;
          for (const auto& object : informer->List()) {
            copy.emplace(object->name(), object->resource_version());
          }
          return Same(copy, stored);
        },
        kPatiently));
    CHECK(testing::Eventually([&] { return Same(view.versions(), stored); }, kPatiently));
    CHECK(testing::Eventually([&] { return Same(ledger.versions(), stored); }, kPatiently));
    CHECK(ledger.wrong == 0);
    CHECK(view.doubled == 0);
    // One for each state that the store has forgotten.
    CHECK(server.lists() == (restart > 1 ? static_cast<int>(restart) : 1));
  }
  CHECK(view.turns > kObjects);
  CHECK(registration->HasSynced());
  informer->Stop();
  things->Stop();
}

}  // namespace
}  // namespace controller_restarts_test
