// CBOR behind its feature gate: bodies, answers, watches, errors.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/codec/cbor.h"
#include "apiserver/codec/json.h"
#include "dialled.h"
#include "widget_server.h"

namespace {

namespace codec = apiserver::codec;
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::TestServer;
using apiserver::testing::Widget;

constexpr const char* kCbor = "application/cbor";

std::unique_ptr<TestServer> StartCborServer(bool cbor) {
  apiserver::testing::TestServerOptions options;
  options.resources = {{.kind = apiserver::testing::WidgetKind(),
                        .strategy = std::make_shared<apiserver::testing::WidgetStrategy>()}};
  if (cbor) REQUIRE(options.features.Set("CBORServingAndStorage=true").ok());
  return apiserver::testing::StartTestServer(std::move(options)).value();
}

std::string Cbor(const std::string& json) {
  return std::string(codec::kSelfDescribedCbor) + codec::CborOfJson(json);
}

// The JSON of an answer in CBOR; every whole message says that it is CBOR.
std::string Json(const std::string& cbor) {
  REQUIRE(cbor.starts_with(codec::kSelfDescribedCbor));
  apiserver::runtime::Arena arena;
  const auto value = codec::ParseCbor(cbor, arena);
  REQUIRE(value.ok());
  std::string json;
  codec::AppendJson(*value, json);
  return json;
}

// The JSON of `json` with its members in CBOR's order.
std::string Sorted(const std::string& json) { return Json(Cbor(json)); }

}  // namespace

TEST_CASE("endpoints: CBOR is neither read nor written unless its gate is on", "[endpoints]") {
  const auto server = StartCborServer(/*cbor=*/false);

  const auto read = server->Call("GET", kWidgets, "", {{"Accept", kCbor}});
  CHECK(read.code == 406);
  CHECK(Contains(read.body,
                 "only the following media types are accepted: application/json, "
                 "application/yaml, application/vnd.kubernetes.protobuf\""));
  const auto written =
      server->Call("POST", kWidgets, Cbor(Widget("a", 1)), {{"Content-Type", kCbor}});
  CHECK(written.code == 415);
  CHECK(Contains(written.body,
                 "accepted media types include: application/json, application/yaml, "
                 "application/vnd.kubernetes.protobuf\""));
}

TEST_CASE("endpoints: objects and lists go in and out as CBOR", "[endpoints]") {
  const auto server = StartCborServer(/*cbor=*/true);

  const auto created = server->Call("POST", kWidgets, Cbor(Widget("a", 3)),
                                    {{"Content-Type", kCbor}, {"Accept", kCbor}});
  REQUIRE(created.code == 201);
  CHECK(created.headers.Get("Content-Type") == kCbor);
  const std::string item = std::string(kWidgets) + "/a";
  CHECK(Json(created.body) == Sorted(server->Call("GET", item).body));
  CHECK(Json(server->Call("GET", item, "", {{"Accept", kCbor}}).body) ==
        Sorted(server->Call("GET", item).body));
  CHECK(Json(server->Call("GET", kWidgets, "", {{"Accept", kCbor}}).body) ==
        Sorted(server->Call("GET", kWidgets).body));
  const std::string table = "application/cbor;as=Table;v=v1;g=meta.k8s.io";
  CHECK(Contains(Json(server->Call("GET", kWidgets, "", {{"Accept", table}}).body),
                 R"("kind":"Table")"));
}

TEST_CASE("endpoints: what is wrong with a CBOR body is said in CBOR", "[endpoints]") {
  const auto server = StartCborServer(/*cbor=*/true);
  const apiserver::http::Headers headers{{"Content-Type", kCbor}, {"Accept", kCbor}};

  const auto malformed = server->Call("POST", kWidgets, "\xa1", headers);
  CHECK(malformed.code == 400);
  CHECK(malformed.headers.Get("Content-Type") == kCbor);
  CHECK(Contains(Json(malformed.body),
                 "unable to determine group/version/kind: unexpected EOF (a1)"));
  const std::string twice = "\xd9\xd9\xf7\xa2\x41\x61\x01\x41\x61\x02";
  CHECK(Contains(Json(server->Call("POST", kWidgets, twice, headers).body),
                 R"(cbor: found duplicate map key \"a\" at map element index 1)"));
  const auto unknown = server->Call("POST", std::string(kWidgets) + "?fieldValidation=Strict",
                                    Cbor(R"({"apiVersion":"example.com/v1","kind":"Widget",)"
                                         R"("metadata":{"name":"b"},"spec":{"typo":1}})"),
                                    headers);
  CHECK(unknown.code == 400);
  CHECK(Contains(Json(unknown.body), R"(strict decoding error: unknown field \"spec.typo\")"));
  const auto absent = server->Call("GET", std::string(kWidgets) + "/none", "", {{"Accept", kCbor}});
  CHECK(absent.code == 404);
  CHECK(Contains(Json(absent.body), R"("reason":"NotFound")"));
}

TEST_CASE("endpoints: an apply may be CBOR", "[endpoints]") {
  const std::string target = std::string(kWidgets) + "/a?fieldManager=m";
  const apiserver::http::Headers headers{{"Content-Type", "application/apply-patch+cbor"}};
  const auto plain = StartCborServer(/*cbor=*/false);
  CHECK(plain->Call("PATCH", target, Cbor(Widget("a", 3)), headers).code == 415);
  const auto server = StartCborServer(/*cbor=*/true);

  const auto applied = server->Call("PATCH", target, Cbor(Widget("a", 3)), headers);
  CHECK(applied.code == 201);
  CHECK(Contains(applied.body, R"("manager":"m","operation":"Apply")"));
  CHECK(Contains(applied.body, R"("size":3)"));
  const auto malformed = server->Call("PATCH", target, "\xa1", headers);
  CHECK(malformed.code == 400);
  CHECK(Contains(malformed.body, "error decoding patch: unexpected EOF"));
  const auto unknown = server->Call("PATCH", target, "", {{"Content-Type", "text/plain"}});
  CHECK(Contains(unknown.body, "application/apply-patch+yaml, application/apply-patch+cbor\""));
}

TEST_CASE("endpoints: DeleteOptions may be CBOR", "[endpoints]") {
  const auto server = StartCborServer(/*cbor=*/true);
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);
  const std::string item = std::string(kWidgets) + "/a";

  const auto kept = server->Call(
      "DELETE", item,
      Cbor(R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"other"}})"),
      {{"Content-Type", kCbor}});
  CHECK(kept.code == 409);
  const auto gone =
      server->Call("DELETE", item, Cbor(R"({"kind":"DeleteOptions","apiVersion":"v1"})"),
                   {{"Content-Type", kCbor}});
  CHECK(gone.code == 200);
}

// RFC 8742; what an event holds is a whole message of its own, as watch.Event's RawExtension is.
TEST_CASE("endpoints: a watch in CBOR is a sequence of self-described items", "[endpoints]") {
  const auto server = StartCborServer(/*cbor=*/true);
  const auto connection = server->server().LoopbackConnection();
  const auto deadline = [] {
    return apiserver::Context::Child(apiserver::Context::Background(),
                                     apiserver::RealClock().Now() + std::chrono::seconds(60));
  };
  apiserver::http::ClientRequest request{
      .target = std::string(kWidgets) +
                "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                "&resourceVersionMatch=NotOlderThan"};
  request.headers.Add("Accept", kCbor);
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);
  auto stream = connection->Open(request).value();
  const auto head = stream->Head(deadline()).value();
  CHECK(head.headers.Get("Content-Type") == "application/cbor-seq");

  const std::string object = Cbor(server->Call("GET", std::string(kWidgets) + "/a").body);
  const std::string added =
      std::string(codec::kSelfDescribedCbor) + "\xa2" + "Dtype" + "EADDED" + "Fobject" + object;
  std::string received;
  while (received.size() < added.size()) {
    auto more = stream->Read(deadline());
    REQUIRE(more.ok());
    REQUIRE(!more->empty());
    received += *more;
  }
  CHECK(received.starts_with(added));

  const auto refused =
      server->Call("GET", std::string(kWidgets) + "?watch=1", "", {{"Accept", "application/yaml"}});
  CHECK(refused.code == 406);
  CHECK(refused.headers.Get("Content-Type") == "application/yaml");
  CHECK(Contains(refused.body, "application/vnd.kubernetes.protobuf;stream=watch"));
  CHECK(Contains(refused.body, "application/cbor-seq'\n"));
}

TEST_CASE("endpoints: over a WebSocket each event in CBOR is a binary message", "[endpoints]") {
  apiserver::testing::TestServerOptions options{.listen = true};
  REQUIRE(options.features.Set("CBORServingAndStorage=true").ok());
  const auto server = apiserver::testing::StartWidgetServer(std::move(options));
  apiserver::testing::Dialled dialled(*server);
  apiserver::testing::WebSocketClient watch(dialled.connection(),
                                            std::string(kWidgets) + "?watch=1&resourceVersion=0",
                                            "", {{"Accept", kCbor}});
  REQUIRE(watch.head().code == 101);
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 3)).code == 201);

  const apiserver::testing::ServerFrame frame = watch.Read();
  CHECK(frame.first == 0x82);
  CHECK(frame.payload == std::string(codec::kSelfDescribedCbor) + "\xa2" + "Dtype" + "EADDED" +
                             "Fobject" +
                             Cbor(server->Call("GET", std::string(kWidgets) + "/a").body));
}
