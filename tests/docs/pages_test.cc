// The code that pages of the documentation quote, as it runs. A comment in brackets begins a region
// that a page quotes (tests/docs/snippets.py), one with a slash ends it.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/client/pooled_client.h"
#include "apiserver/client/wait.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/http/dialer.h"
#include "apiserver/server/tracing.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): as in a program of a reader.

namespace {

// [pet]
constexpr char kPetCrd[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pets.zoo.example.com}
spec:
  group: zoo.example.com
  scope: Namespaced
  names: {kind: Pet, plural: pets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {species: {type: string, enum: [cat, dog]}}}
)";

// The schema validates; there is nothing to add for this kind.
class PetStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

std::unique_ptr<testing::TestServer> StartPetServer() {
  const auto kind = runtime::Kind::New(codec::KindOptionsFromCrd(kPetCrd).value()).value();
  return testing::StartTestServer(
             {.resources = {{.kind = kind, .strategy = std::make_shared<PetStrategy>()}},
              .listen = true})
      .value();
}
// [/pet]

constexpr char kPets[] = "/apis/zoo.example.com/v1/namespaces/default/pets";

}  // namespace

TEST_CASE("docs: a unit test against a whole server, in process and over TLS", "[docs]") {
  // [test]
  const auto server = StartPetServer();
  // In process:
  const std::string tom = R"({"apiVersion":"zoo.example.com/v1","kind":"Pet",)"
                          R"("metadata":{"name":"tom"},"spec":{"species":"cat"}})";
  CHECK(server->Call("POST", kPets, tom).code == 201);
  CHECK(server
            ->Call("PATCH", std::string(kPets) + "/tom", R"({"spec":{"species":"dragon"}})",
                   {{"Content-Type", "application/merge-patch+json"}})
            .code == 422);
  // For any other client, over TLS on a free port of 127.0.0.1:
  const std::string kubeconfig = client::WriteKubeconfig(server->kubeconfig());
  // [/test]
  CHECK(client::ReadKubeconfig(kubeconfig).ok());
  CHECK(server->Call("GET", std::string(kPets) + "/tom").body.find("cat") != std::string::npos);
}

TEST_CASE("docs: a client creates, reads, patches and watches", "[docs]") {
  const auto server = StartPetServer();
  const client::Kubeconfig kubeconfig = server->kubeconfig();

  // [client]
  const auto dialer = http::NewDialer();
  const auto client = client::NewClient(kubeconfig, *dialer).value();
  const Context ctx = Context::Background();
  const client::Target pets{.resource = {"zoo.example.com", "v1", "pets"}, .namespace_ = "default"};
  client::Target tom = pets;
  tom.name = "tom";

  runtime::Object pet(runtime::Kind::Untyped({"zoo.example.com", "v1", "Pet"}), "v1");
  pet.Edit("metadata", "name") = "tom";
  pet.Edit("spec", "species") = "cat";
  const auto created = client->Create(ctx, pets, pet);
  REQUIRE(created.ok());  // Else created.status() has Kubernetes' reason, code and message.

  const auto watch =
      client->Watch(ctx, pets, {.resource_version = std::string((*created)->resource_version())});
  const auto patched = client->Patch(
      ctx, tom,
      {.media_type = "application/merge-patch+json", .text = R"({"spec":{"species":"dog"}})"});

  const auto event = (*watch)->Next(ctx);  // Waits; nullopt: the server has ended the watch.
  CHECK((*event)->type == watch::EventType::kModified);
  CHECK((*(*event)->object)["spec"]["species"].AsString() == "dog");
  CHECK(client->List(ctx, pets)->items.size() == 1);
  CHECK(client->Delete(ctx, tom).ok());
  // [/client]
  CHECK(patched.ok());
  CHECK(client->Get(ctx, tom).status().reason() == Reason::kNotFound);
}

TEST_CASE("docs: an informer keeps a copy of a collection and calls its handlers", "[docs]") {
  const auto server = StartPetServer();
  Notification seen;

  // [informer]
  client::InformerOptions options{.target = {.resource = {"zoo.example.com", "v1", "pets"}}};
  options.handlers.push_back({
      .on_add =
          [&seen](const runtime::ObjectPtr& pet) {
            // On the informer's thread, in order: hand work that takes long to a thread of your
            // own.
            if (pet->name() == "tom") seen.Notify();
          },
  });
  const auto informer = client::NewInformer(server->client(), std::move(options));
  informer->Start();
  CHECK(informer->WaitForSync(std::chrono::seconds(30)));
  // [/informer]

  server->Call("POST", kPets,
               R"({"apiVersion":"zoo.example.com/v1","kind":"Pet",)"
               R"("metadata":{"name":"tom"},"spec":{"species":"cat"}})");
  CHECK(seen.WaitFor(std::chrono::seconds(30)));
  // [eventually]
  CHECK(testing::Eventually([&] { return informer->Get("default", "tom") != nullptr; }));
  CHECK(testing::Consistently([&] { return informer->List().size() == 1; },
                              {.duration = std::chrono::milliseconds(50)}));
  // [/eventually]
  informer->Stop();
}

TEST_CASE("docs: a program waits for objects, and reads many in pages", "[docs]") {
  const auto server = StartPetServer();
  client::Client& client = server->client();
  const client::Target pets{.resource = {"zoo.example.com", "v1", "pets"}, .namespace_ = "default"};
  client::Target tom = pets;
  tom.name = "tom";
  int seen = 0;
  Thread other("other", [&server] {
    for (const char* name : {"kit", "tom"}) {
      server->Call("POST", kPets,
                   std::string(R"({"apiVersion":"zoo.example.com/v1","kind":"Pet",)") +
                       R"("metadata":{"name":")" + name + R"("},"spec":{"species":"cat"}})");
    }
  });

  // [wait]
  const Context ctx =
      Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(30));
  // Until tom is there, and a cat.
  const auto found = client::WaitFor(ctx, client, tom, [](const runtime::ObjectPtr& pet) {
    return pet && (*pet)["spec"]["species"].AsString() == "cat";
  });
  REQUIRE(found.ok());  // Else, for example, kTimeout.
  // All pets, a hundred at a time.
  const Status read =
      client::ForEachObject(ctx, client, pets, {.limit = 100}, [&](const runtime::ObjectPtr&) {
        ++seen;
        return Status();  // An error ends it.
      });
  // [/wait]
  CHECK((*found)->name() == "tom");
  CHECK(read.ok());
  CHECK(seen == 2);
  REQUIRE(client.Delete(ctx, tom).ok());
  CHECK(client::WaitFor(ctx, client, tom, client::IsGone()).value() == nullptr);
}

TEST_CASE("docs: a server's configuration has a tracer that asks for one request in a hundred",
          "[docs]") {
  server::Config config;
  // [tracing]
  const server::TracingConfiguration tracing{.endpoint = "http://localhost:4318",
                                             .sampling_rate_per_million = 10'000};
  config.metrics = metrics::NewRegistry();
  auto tracer = server::NewTracer(
      tracing, {.new_client = client::NewHttpClientFactory(), .metrics = config.metrics});
  REQUIRE(tracer.ok());
  config.tracer = *tracer;
  // [/tracing]
  CHECK(config.tracer != nullptr);
}
