// The storage by itself, judged by the cases that the library has for every rest::Storage.
#include "notes.h"

#include <catch2/catch.hpp>

#include "apiserver/testing/server/test_server.h"
#include "apiserver/testing/storage/rest_conformance_catch2.h"

using namespace apiserver;  // NOLINT: a test.
namespace kit = apiserver::testing::storage;

namespace {

// As few as the case about history can bear.
constexpr std::size_t kEventsKept = 500;

// Hands a test the changes that the store gives the source.
class Watched final : public registry::Source {
 public:
  Watched(std::unique_ptr<registry::Source> inner,
          std::shared_ptr<registry::SourceChanges>* changes)
      : inner_(std::move(inner)), changes_(changes) {}
  void Start(std::shared_ptr<registry::SourceChanges> changes) override {
    *changes_ = std::move(changes);
  }
  Result<Objects> List(const Context& ctx) override { return inner_->List(ctx); }
  Result<std::unique_ptr<runtime::Object>> Get(const Context& ctx, std::string_view space,
                                               std::string_view name) override {
    return inner_->Get(ctx, space, name);
  }
  Status Create(const Context& ctx, runtime::Object& note) override {
    return inner_->Create(ctx, note);
  }
  Status Update(const Context& ctx, const runtime::Object& old, runtime::Object& note) override {
    return inner_->Update(ctx, old, note);
  }
  Status Delete(const Context& ctx, const runtime::Object& old) override {
    return inner_->Delete(ctx, old);
  }

 private:
  const std::unique_ptr<registry::Source> inner_;
  std::shared_ptr<registry::SourceChanges>* const changes_;
};

struct Desk {
  ~Desk() {
    store.reset();
    pool->Stop();
  }
  std::unique_ptr<ThreadPool> pool = NewThreadPool({.name = "notes", .threads = 2});
  runtime::KindPtr kind = notes::NewNoteKind().value();
  std::shared_ptr<notes::Texts> texts = std::make_shared<notes::Texts>();
  std::shared_ptr<registry::SourceChanges> changes;
  std::shared_ptr<registry::Store> store;
};

// Pushes what was before out of the history.
Status Forget(Desk& desk) {
  Context ctx = Context::Child(Context::Background());
  ctx.Set(rest::Namespace{"churn"});
  for (std::size_t i = 0; i < kEventsKept; ++i) {
    auto note = desk.store->New();
    note->Edit("metadata", "name") = "churn";
    note->Edit("text") = "x";
    if (auto made = desk.store->Create(ctx, std::move(note), nullptr, {}); !made.ok()) {
      return made.status();
    }
    if (auto gone = desk.store->Delete(ctx, "churn", nullptr, {}); !gone.ok()) {
      return gone.status();
    }
  }
  return {};
}

Result<kit::RestOpened> OpenNotes() {
  auto desk = std::make_shared<Desk>();
  registry::SourceOptions options;
  options.store = {.kind = desk->kind, .strategy = std::make_shared<notes::NoteStrategy>()};
  options.history_events_max = kEventsKept;
  auto store = registry::NewSourceStore(
      {.executor = desk->pool.get()}, options,
      std::make_unique<Watched>(std::make_unique<notes::NoteSource>(desk->kind, desk->texts),
                                &desk->changes));
  if (!store.ok()) return store.status();
  desk->store = *store;
  if (Status listed = desk->changes->Wait(Context::Background()); !listed.ok()) return listed;
  kit::RestOpened opened;
  opened.storage = desk->store;
  opened.forget = [desk = desk.get()](std::string_view) { return Forget(*desk); };
  opened.keep = std::move(desk);
  return opened;
}

// [conformance]
const bool kNotesRegistered = kit::RegisterRestConformance(
    "own-storage", {.open = OpenNotes,
                    .fill = [](runtime::Object& note) { note.Edit("text") = "x"; },
                    .spoil = [](runtime::Object& note) { note.Erase("text"); }});
// [/conformance]

}  // namespace

TEST_CASE("own-storage: a server shows and changes the program's own texts", "[own-storage]") {
  const auto texts = std::make_shared<notes::Texts>();
  (*texts->Lock())[{"default", "hello"}] = "Hello.";
  std::shared_ptr<registry::SourceChanges> changes;
  testing::TestServerOptions options;
  options.install = [&](server::GenericAPIServer& server) -> Status {
    const auto kind = notes::NewNoteKind().value();
    if (Status added = server.scheme().Add(kind); !added.ok()) return added;
    const auto store = registry::NewSourceStore(
        {.executor = &server.pool()},
        {.store = {.kind = kind, .strategy = std::make_shared<notes::NoteStrategy>()}},
        std::make_unique<Watched>(std::make_unique<notes::NoteSource>(kind, texts), &changes));
    if (!store.ok()) return store.status();
    return server.InstallAPIGroup({"desk.example.com", {{"v1", {{"notes", *store}}}}});
  };
  auto server = testing::StartTestServer(std::move(options));
  REQUIRE(server.ok());
  REQUIRE(changes->Wait(Context::Background()).ok());
  const std::string notes = "/apis/desk.example.com/v1/namespaces/default/notes";

  CHECK((*server)->Call("GET", notes + "/hello").body.find(R"("text":"Hello.")") !=
        std::string::npos);
  CHECK((*server)->Call("POST", notes, R"({"metadata":{"name":"a"},"text":"x"})").code == 201);
  CHECK((*server)->Call("POST", notes, R"({"metadata":{"name":"b"}})").code == 422);
  CHECK((*server)->Call("DELETE", notes + "/hello").code == 200);
  CHECK(*texts->Lock() == std::map<notes::Key, std::string>{{{"default", "a"}, "x"}});
}
