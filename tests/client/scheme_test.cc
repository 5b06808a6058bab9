// Tests that objects of a client are of the kinds of its Scheme, and of untyped kinds otherwise.
#include <catch2/catch.hpp>
#include <deque>
#include <string>

#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "apiserver/codec/message.h"
#include "client/fake_connection.h"
#include "codec/gadget.h"
#include "example/gadget/v1/gadget.pb.h"

namespace client_scheme_test {
namespace {

using namespace apiserver;
using client::Client;
using client::FakeConnection;
using client::FakeStream;
using client::NewClient;
using client::Target;
using Message = ::example::gadget::v1::Gadget;

const Context kCtx = Context::Background();
const Target kGadgets{.resource = {"gadget.example.com", "v1", "gadgets"}, .namespace_ = "ns"};
const Target kGadget{
    .resource = {"gadget.example.com", "v1", "gadgets"}, .namespace_ = "ns", .name = "a"};

constexpr const char* kGadgetJson =
    R"({"kind":"Gadget","apiVersion":"gadget.example.com/v1","metadata":{"name":"a"},)"
    R"("spec":{"replicas":3,"later":true}})";

struct SchemeFixture {
  runtime::Scheme scheme;
  std::shared_ptr<FakeConnection> connection = std::make_shared<FakeConnection>();
  std::unique_ptr<Client> client = NewClient(connection, "", &scheme);

  void Answer(std::string body) {
    connection->answers.push_back({.code = 200, .headers = {}, .body = std::move(body)});
  }
  runtime::ObjectPtr Read(std::string body) {
    connection->answers.clear();
    Answer(std::move(body));
    auto object = client->Get(kCtx, kGadget);
    REQUIRE(object.ok());
    return std::move(*object);
  }
};

int ReplicasOf(const runtime::Object& object) {
  const Result<Message> message = codec::ToMessage<Message>(object);
  REQUIRE(message.ok());
  return message->spec().replicas();
}

TEST_CASE("client: an object of a known kind is read as a message", "[client]") {
  SchemeFixture f;
  REQUIRE(f.scheme.Add(codec::testing::GadgetKind()).ok());

  const auto object = f.Read(kGadgetJson);

  CHECK(ReplicasOf(*object) == 3);
  // A member that the schema does not have is still there, and an update sends it back.
  CHECK((*object)["spec"]["later"].AsBool());
  REQUIRE(f.client->Update(kCtx, kGadget, *object).ok());
  CHECK(f.connection->requests.back().body == kGadgetJson);
}

TEST_CASE("client: kinds and versions that the scheme does not have stay untyped", "[client]") {
  SchemeFixture f;
  const auto before = f.Read(kGadgetJson);
  CHECK(codec::ToMessage<Message>(*before).status().reason() == Reason::kNotAcceptable);

  // A kind may be added while the client is in use.
  REQUIRE(f.scheme.Add(codec::testing::GadgetKind()).ok());
  CHECK(ReplicasOf(*f.Read(kGadgetJson)) == 3);

  const auto later = f.Read(R"({"kind":"Gadget","apiVersion":"gadget.example.com/v2"})");
  CHECK(later->gvk() == runtime::GroupVersionKind{"gadget.example.com", "v2", "Gadget"});
  CHECK(codec::ToMessage<Message>(*later).status().reason() == Reason::kNotAcceptable);
  CHECK(f.Read(R"({"kind":"Status","apiVersion":"v1"})")->gvk().kind == "Status");
}

TEST_CASE("client: a list has the kind whose lists are of that kind", "[client]") {
  SchemeFixture f;
  const auto gadget = codec::testing::GadgetKind();
  REQUIRE(f.scheme
              .Add(runtime::Kind::New({.group = gadget->group(),
                                       .kind = gadget->kind(),
                                       .plural = gadget->plural(),
                                       .list_kind = "Gadgetry",
                                       .versions = gadget->versions()})
                       .value())
              .ok());
  f.Answer(R"({"kind":"Gadgetry","apiVersion":"gadget.example.com/v1","metadata":{},)"
           R"("items":[{"metadata":{"name":"a"},"spec":{"replicas":4}}]})");

  const auto list = f.client->List(kCtx, kGadgets);

  REQUIRE(list.ok());
  CHECK(list->items.front()->gvk().kind == "Gadget");
  CHECK(ReplicasOf(*list->items.front()) == 4);
}

TEST_CASE("client: an informer has objects of the scheme's kind", "[client]") {
  SchemeFixture f;
  REQUIRE(f.scheme.Add(codec::testing::GadgetKind()).ok());
  f.connection->stream = std::make_unique<FakeStream>(
      200, std::deque<std::string>{
               R"({"type":"ADDED","object":)" + std::string(kGadgetJson) + "}\n",
               R"({"type":"BOOKMARK","object":{"kind":"Gadget","apiVersion":)"
               R"("gadget.example.com/v1","metadata":{"resourceVersion":"9","annotations":)"
               R"({"k8s.io/initial-events-end":"true"}}}})"
               "\n"});
  const auto informer = client::NewInformer(*f.client, {.target = kGadgets});
  informer->Start();

  REQUIRE(informer->WaitForSync(std::chrono::seconds(60)));
  CHECK(ReplicasOf(*informer->Get("", "a")) == 3);
}

}  // namespace
}  // namespace client_scheme_test
