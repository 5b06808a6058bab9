// How much is told about bodies that are wrong in as many ways as three megabytes can be.
#include "hostile_bodies.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/authz/builtin.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/groups/admissionregistration.h"
#include "apiserver/groups/apps.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/flowcontrol.h"
#include "apiserver/groups/rbac.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/test_server.h"

using namespace apiserver;  // NOLINT: tests only.

namespace {

constexpr std::size_t kAnswerBytesMax = 400'000;
constexpr std::size_t kHeadersBytesMax = 16'000;
const hostile_bodies::Plain kPlain = {"/api/v1/namespaces/default/configmaps", "v1", "ConfigMap"};

class AnythingGoes final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

class Nobody final : public auth::Authenticator {
 public:
  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context& /*ctx*/, const http::Request& /*request*/) const override {
    return std::optional<auth::AuthenticateResponse>();
  }
};

// A server with all groups that there are.
class HostedServer {
 public:
  HostedServer() : engine_(storage::memory::NewEngine()) {
    testing::TestServerOptions options;
    for (const auto& kinds : {groups::core::Kinds(), groups::apps::Kinds()}) {
      REQUIRE(kinds.ok());
      for (const runtime::KindPtr& kind : *kinds) {
        if (kind->kind() != "ConfigMap" && kind->kind() != "Deployment") continue;
        options.resources.push_back({kind, std::make_shared<AnythingGoes>()});
      }
    }
    options.install = [this](server::GenericAPIServer& server) { return Install(server); };
    auto started = testing::StartTestServer(std::move(options));
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server_ = std::move(*started);
    const auto made =
        Call("POST", kPlain.collection, hostile_bodies::kJson,
             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"victim"}})");
    REQUIRE(made.code == 201);
  }

  http::ClientResponse Call(const std::string& method, const std::string& target,
                            const std::string& type, std::string body) {
    return server_->Call(method, target, std::move(body), {{"Content-Type", type}});
  }

 private:
  Status Install(server::GenericAPIServer& server) {
    const registry::StorageConfig storage{.engine = engine_.get(), .executor = &server.pool()};
    const std::shared_ptr<const auth::Authorizer> authorizer = authz::NewAlwaysAllow();
    const std::shared_ptr<authz::rbac::RbacAuthorizer> rbac = authz::rbac::NewRbacAuthorizer();
    for (Status installed :
         {groups::admissionregistration::Install(server, {.storage = storage}),
          groups::flowcontrol::Install(server, {.storage = storage}),
          groups::authentication::Install(server, {.authenticator = std::make_shared<Nobody>()}),
          groups::authorization::Install(server, authorizer, rbac),
          groups::rbac::Install(
              server,
              {.storage = storage, .rbac = rbac, .authorizer = authorizer, .bootstrap = false})}) {
      if (!installed.ok()) return installed;
    }
    return {};
  }

  std::unique_ptr<storage::kv::Engine> engine_;
  std::unique_ptr<testing::TestServer> server_;
};

std::size_t HeaderBytes(const http::Headers& headers) {
  std::size_t bytes = 0;
  for (const auto& header : headers) bytes += header.name.size() + header.value.size();
  return bytes;
}

void CheckAnswer(const http::ClientResponse& answer, int code, const std::string& reason) {
  INFO("begins " << answer.body.substr(0, 600));
  if (code != 0) CHECK(answer.code == code);
  if (answer.code >= 400) CHECK(answer.body.size() <= kAnswerBytesMax);
  CHECK(HeaderBytes(answer.headers) <= kHeadersBytesMax);
  if (!reason.empty()) {
    CHECK(answer.body.find(R"("reason":")" + reason + '"') != std::string::npos);
  }
}

// Row 84.
TEST_CASE("groups: no wrong body of three megabytes is answered with more than 400 KB",
          "[groups]") {
  HostedServer server;
  std::size_t shapes = 0;
  for (const hostile_bodies::Shape& shape : hostile_bodies::All(kPlain)) {
    INFO(shape.name);
    const std::string body = shape.body();
    REQUIRE(body.size() <= 3 << 20);
    CheckAnswer(server.Call(shape.method, shape.target, shape.content_type, body), shape.code,
                shape.reason);
    ++shapes;
  }
  CHECK(shapes >= 40);
}

TEST_CASE("groups: a pretty answer, and one in protobuf or CBOR, is no longer", "[groups]") {
  HostedServer server;
  const auto shapes = hostile_bodies::OfMetadata(kPlain);
  for (const hostile_bodies::Shape& shape : shapes) {
    INFO(shape.name);
    CheckAnswer(
        server.Call(shape.method, shape.target + "?pretty=true", shape.content_type, shape.body()),
        422, "");
  }
}

TEST_CASE("groups: owners that are wrong in the same way are told of as in Go", "[groups]") {
  HostedServer server;
  const auto shapes = hostile_bodies::OfMetadata(kPlain);
  const auto owners =
      std::ranges::find(shapes, "owners without anything", &hostile_bodies::Shape::name);
  REQUIRE(owners != shapes.end());

  const auto answer = server.Call("POST", kPlain.collection, hostile_bodies::kJson, owners->body());

  CHECK(answer.code == 422);
  CHECK(
      answer.body ==
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
      R"("message":"ConfigMap \"x\" is invalid: [)"
      R"(metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty, )"
      R"(metadata.ownerReferences.kind: Invalid value: \"\": must not be empty, )"
      R"(metadata.ownerReferences.name: Invalid value: \"\": must not be empty, )"
      R"(metadata.ownerReferences.uid: Invalid value: \"\": must not be empty]",)"
      R"("reason":"Invalid","details":{"name":"x","kind":"ConfigMap","causes":[)"
      R"({"reason":"FieldValueInvalid","message":"Invalid value: \"\": version must not be empty",)"
      R"("field":"metadata.ownerReferences.apiVersion"},)"
      R"({"reason":"FieldValueInvalid","message":"Invalid value: \"\": must not be empty",)"
      R"("field":"metadata.ownerReferences.kind"},)"
      R"({"reason":"FieldValueInvalid","message":"Invalid value: \"\": must not be empty",)"
      R"("field":"metadata.ownerReferences.name"},)"
      R"({"reason":"FieldValueInvalid","message":"Invalid value: \"\": must not be empty",)"
      R"("field":"metadata.ownerReferences.uid"}]},"code":422})"
      "\n");
}

TEST_CASE("groups: warnings of a body of three megabytes fit in a head", "[groups]") {
  HostedServer server;
  for (const hostile_bodies::Shape& shape : hostile_bodies::OfDecoding(kPlain)) {
    if (shape.name != "unknown fields" && !shape.name.starts_with("duplicate")) continue;
    INFO(shape.name);
    const auto answer =
        server.Call("POST", kPlain.collection + "?dryRun=All", shape.content_type, shape.body());
    CHECK(answer.code == 201);
    CHECK(HeaderBytes(answer.headers) <= kHeadersBytesMax);
    CHECK(answer.headers.Has("Warning"));
  }
}

TEST_CASE("groups: of thousands of conflicts of an apply the first are told", "[groups]") {
  HostedServer server;
  const auto apply = [&](const std::string& manager, const std::string& value) {
    return server.Call(
        "PATCH", kPlain.collection + "/applied?fieldManager=" + manager,
        "application/apply-patch+yaml",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied","annotations":{)" +
            hostile_bodies::Many(hostile_bodies::Each("\"k", "\":\"" + value + "\""), 200'000) +
            "}}}");
  };
  const auto first = apply("one", "a");
  INFO(first.body.substr(0, 500));
  REQUIRE(first.code == 201);

  const auto second = apply("two", "b");

  CheckAnswer(second, 409, "Conflict");
  CHECK(second.body.find("Apply failed with ") != std::string::npos);
  CHECK(second.body.find("\\nand ") != std::string::npos);
}

TEST_CASE("groups: wrong types and quantities of a Deployment are told of shortly", "[groups]") {
  HostedServer server;
  const auto deployment = [&](const std::string& container) {
    return server.Call("POST", "/apis/apps/v1/namespaces/default/deployments",
                       hostile_bodies::kJson,
                       R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},)"
                       R"("spec":{"template":{"spec":{"containers":[)" +
                           container + "]}}}}");
  };
  const std::string long_text(hostile_bodies::kBodyBytes, 'q');
  CheckAnswer(deployment(R"({"resources":{"limits":{"cpu":")" + long_text + R"("}}})"), 400,
              "BadRequest");
  CheckAnswer(deployment(R"({"ports":[{"containerPort":")" + long_text + R"("}]})"), 400,
              "BadRequest");
  CheckAnswer(deployment(hostile_bodies::Many("7")), 400, "BadRequest");
}

TEST_CASE("groups: an apply that no type fits is refused in upstream's words", "[groups]") {
  HostedServer server;

  const auto answer =
      server.Call("PATCH", "/apis/apps/v1/namespaces/default/deployments/a?fieldManager=m",
                  "application/apply-patch+yaml",
                  R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a",)"
                  R"("namespace":"default"},"spec":{"template":{"spec":)"
                  R"({"containers":[{"name":"c","resources":{"limits":{"cpu":true}}}]}}}})");

  CHECK(answer.code == 500);
  const char* const words =
      "failed to convert new object (default/a; apps/v1, Kind=Deployment) to proper version: "
      "unable to convert unstructured object to apps/v1, Kind=Deployment: ";
  CHECK(answer.body.find(words) != std::string::npos);
}

}  // namespace
