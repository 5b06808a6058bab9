// A kind, its controller and a unit test of both in one file, with a server in process.
#include <catch2/catch.hpp>

#include "apiserver/base/status_macros.h"
#include "apiserver/client/shared_informer.h"
#include "apiserver/controller/controller.h"
#include "apiserver/controller/handlers.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"
#include "apiserver/testing/storage/fault_engine.h"

using namespace apiserver;           // NOLINT: a test.
using namespace apiserver::runtime;  // NOLINT

static KindPtr PetKind() {
  const auto spec = StructBuilder("").Field("species", StringSchema()).Build();
  const auto status = StructBuilder("").Field("mood", StringSchema()).Build();
  StructBuilder schema("");
  schema.Field("metadata", ObjectMetaSchema()).Field("spec", spec).Field("status", status);
  KindOptions pet{.group = "zoo.example.com", .kind = "Pet", .plural = "pets"};
  pet.versions = {{.version = "v1", .schema = schema.Build()}};
  return Kind::New(std::move(pet)).value();
}

// Makes every cat content.
class MoodController {
 public:
  explicit MoodController(client::Client& client)
      : client_(client), pets_(client::NewSharedInformer(client, {.informer = {{kPets}}})) {
    pets_->Start();
    controller_->Start({pets_.get()});
  }

 private:
  inline static const GroupVersionResource kPets{"zoo.example.com", "v1", "pets"};

  Result<controller::ReconcileResult> Reconcile(const Context& ctx,
                                                const controller::NamespacedName& key) {
    const auto pet = pets_->Get(key.namespace_, key.name);
    const bool cat = pet && (*pet)["spec"]["species"].AsString() == "cat";
    if (cat && (*pet)["status"]["mood"].AsString() != "content") {
      const auto changed = pet->Clone();
      changed->Edit("status", "mood") = "content";
      const client::Target status{kPets, key.namespace_, key.name, "status"};
      APISERVER_RETURN_IF_ERROR(client_.Update(ctx, status, *changed).status());
    }
    return controller::ReconcileResult{};
  }

  client::Client& client_;
  const std::unique_ptr<client::SharedInformer> pets_;
  // An error, such as that of a conflict, brings the name back: after 5 ms, 10 ms, 20 ms, …
  const std::unique_ptr<controller::Controller> controller_ = controller::NewController(
      {.name = "moods",
       .reconcile = [this](const auto& ctx, const auto& key) { return Reconcile(ctx, key); }});
  const std::unique_ptr<client::HandlerRegistration> handler_ =
      pets_->AddHandler(controller::EnqueueObject(controller_->queue()));
};

TEST_CASE("example: a cat becomes content, though the disk fails twice", "[examples]") {
  const auto memory = storage::memory::NewEngine();
  const auto disk = testing::storage::NewFaultEngine(*memory);
  const auto kind = PetKind();
  const auto server = testing::StartTestServer({.kinds = {{kind}}, .engine = disk.get()}).value();
  client::Target pets{{"zoo.example.com", "v1", "pets"}, "default"};
  Object tom(kind, "v1");
  tom.Edit("metadata", "name") = "tom";
  tom.Edit("spec", "species") = "cat";
  REQUIRE(server->client().Create(Context::Background(), pets, tom).ok());

  disk->FailTxns(2, Status(Reason::kServiceUnavailable, "the disk is away"));
  const auto begin = RealClock().Now();
  const MoodController moods(server->client());

  pets.name = "tom";
  CHECK(testing::Eventually([&] {
    const auto stored = server->client().Get(Context::Background(), pets);
    return stored.ok() && (**stored)["status"]["mood"].AsString() == "content";
  }));
  CHECK(RealClock().Now() - begin >= std::chrono::milliseconds(5 + 10));
}
