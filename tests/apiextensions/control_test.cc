// The conditions of definitions: names, establishing, approval. Go: the controllers of
// k8s.io/apiextensions-apiserver/pkg/controller, seen over HTTP.
#include <catch2/catch.hpp>

#include <string>

#include "apiextensions/fixture.h"
#include "apiextensions/serving/table.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::CustomServer;
using testing::Eventually;
using testing::FooDefinition;
using testing::kDefinitions;

namespace {

constexpr char kNone[] = "";

// A definition of a group with these names, and no fields.
std::string Named(const std::string& plural, const std::string& singular, const std::string& kind,
                  const std::string& group = "example.com", const std::string& metadata = "") {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":")" +
         plural + "." + group + "\"" + metadata + R"(},"spec":{"group":")" + group +
         R"(","scope":"Namespaced","names":{"plural":")" + plural + R"(","singular":")" + singular +
         R"(","kind":")" + kind + R"("},
"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
}

}  // namespace

// TestNamespaceScopedCRUD and its neighbours begin with this.
TEST_CASE("apiextensions: a definition is established, with upstream's words", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  CHECK(server.Condition("foos.example.com", "NamesAccepted") ==
        "True/NoConflicts/no conflicts found");
  CHECK(server.Condition("foos.example.com", "Established") ==
        "True/InitialNamesAccepted/the initial names have been accepted");
  CHECK(server.Condition("foos.example.com", "KubernetesAPIApprovalPolicyConformant") == kNone);
  CHECK(server.Condition("foos.example.com", "Terminating") == kNone);
  const auto found = server.Get(std::string(kDefinitions) + "/foos.example.com");
  CHECK(found["status"]["acceptedNames"]["listKind"].AsString() == "FooList");
  CHECK(found["status"]["acceptedNames"]["shortNames"].at(0).AsString() == "fo");
  // The server owns what it has written, as upstream's controllers.
  runtime::Value owner;
  for (const runtime::Value& each : found["metadata"]["managedFields"].items()) {
    if (each["manager"].AsString() == "kube-apiserver") owner = each;
  }
  CHECK(owner["operation"].AsString() == "Update");
  CHECK(owner["subresource"].AsString() == "status");
  const runtime::Value fields = owner["fieldsV1"]["f:status"];
  CHECK(fields["f:acceptedNames"]["f:listKind"].is_map());
  CHECK(fields["f:conditions"][R"(k:{"type":"Established"})"]["f:message"].is_map());
  CHECK(fields["f:storedVersions"].is_null());
}

// Upstream's controllers write one after the other what is one change here.
TEST_CASE("apiextensions: names are accepted and a definition established by one write",
          "[apiextensions]") {
  CustomServer server;
  testing::Lines watch(*server.server, std::string(kDefinitions) + "?watch=1");
  server.Define(FooDefinition());
  CHECK(Contains(watch.Next(), R"("type":"ADDED")"));
  const std::string changed = watch.Next();
  CHECK(Contains(changed, R"("type":"MODIFIED")"));
  CHECK(Contains(changed, R"("acceptedNames":{"plural":"foos")"));
  CHECK(Contains(changed, R"("reason":"InitialNamesAccepted")"));
}

// TestNameConflict
TEST_CASE("apiextensions: the second of a name gets it when the first has gone",
          "[apiextensions]") {
  CustomServer server;
  server.Define(Named("noxus", "nox", "WishIHadChosenNoxu"), "noxus.example.com");
  REQUIRE(server.Call("POST", kDefinitions, Named("others", "nox", "Other")).code == 201);
  REQUIRE(Eventually([&] {
    return server.Condition("others.example.com", "NamesAccepted") ==
           R"(False/SingularConflict/"nox" is already in use)";
  }));
  CHECK(server.Condition("others.example.com", "Established") ==
        "False/NotAccepted/not all names are accepted");
  CHECK(server.Get("/apis/example.com/v1/namespaces/default/others").code == 404);

  CHECK(server.Call("DELETE", std::string(kDefinitions) + "/noxus.example.com").code == 200);
  CHECK(Eventually([&] { return server.IsEstablished("others.example.com"); }));
  CHECK(server.Condition("others.example.com", "NamesAccepted") ==
        "True/NoConflicts/no conflicts found");
  CHECK(server.Get("/apis/example.com/v1/namespaces/default/others").code == 200);
}

TEST_CASE("apiextensions: an established definition stays so although a new name conflicts",
          "[apiextensions]") {
  CustomServer server;
  server.Define(Named("ones", "one", "One"), "ones.example.com");
  server.Define(Named("twos", "two", "Two"), "twos.example.com");
  const std::string twos = std::string(kDefinitions) + "/twos.example.com";
  REQUIRE(server.Patch(twos, R"({"spec":{"names":{"shortNames":["one","t"]}}})").code == 200);
  REQUIRE(Eventually([&] {
    return server.Condition("twos.example.com", "NamesAccepted") ==
           R"(False/ShortNamesConflict/"one" is already in use)";
  }));
  CHECK(server.IsEstablished("twos.example.com"));
  CHECK(server.Get("/apis/example.com/v1/namespaces/default/twos").code == 200);
}

// TestAPIApproval
TEST_CASE("apiextensions: a definition of a group of Kubernetes tells of its approval",
          "[apiextensions]") {
  CustomServer server;
  const std::string type = "KubernetesAPIApprovalPolicyConformant";
  const std::string group = "sigs.k8s.io";
  server.Define(Named("as", "a", "A", group,
                      R"(,"annotations":{"api-approved.kubernetes.io":"unapproved, for tests"})"),
                "as.sigs.k8s.io");
  CHECK(Eventually([&] {
    return server.Condition("as.sigs.k8s.io", type) ==
           R"(False/UnapprovedAnnotation/not approved: "unapproved, for tests")";
  }));
  const std::string url = "https://github.com/kubernetes/kubernetes/pull/78458";
  REQUIRE(
      server
          .Patch(std::string(kDefinitions) + "/as.sigs.k8s.io",
                 R"({"metadata":{"annotations":{"api-approved.kubernetes.io":")" + url + R"("}}})")
          .code == 200);
  CHECK(Eventually([&] {
    return server.Condition("as.sigs.k8s.io", type) == "True/ApprovedAnnotation/approved in " + url;
  }));
}

TEST_CASE("apiextensions: definitions that a server finds stored are served when it is ready",
          "[apiextensions]") {
  const auto engine = storage::memory::NewEngine();
  {
    testing::TestServerOptions options;
    options.engine = engine.get();
    CustomServer server(std::move(options));
    server.Define(FooDefinition());
    REQUIRE(server.Call("POST", testing::kFoos, testing::Foo("one")).code == 201);
  }
  testing::TestServerOptions options;
  options.engine = engine.get();
  CustomServer server(std::move(options));
  CHECK(server.custom->WaitForSync(std::chrono::seconds(10)));
  CHECK(server.Get(std::string(testing::kFoos) + "/one").code == 200);
  CHECK(server.IsEstablished("foos.example.com"));
}

TEST_CASE("apiextensions: many definitions are established, each at once", "[apiextensions]") {
  CustomServer server;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    REQUIRE(server.Call("POST", kDefinitions, Named("k" + n + "s", "k" + n, "K" + n)).code == 201);
  }
  for (int i = 0; i < 60; ++i) {
    const std::string plural = "k" + std::to_string(i) + "s";
    CHECK(Eventually([&] { return server.IsEstablished(plural + ".example.com"); }));
    CHECK(server.Get("/apis/example.com/v1/namespaces/default/" + plural).code == 200);
  }
}

TEST_CASE("apiextensions: until all definitions are read nothing of groups is unknown",
          "[apiextensions]") {
  apiextensions::Table table(nullptr);
  const auto found = [&](const std::string& path) {
    const auto info = request::ResolveRequestInfo("GET", path, http::Query());
    REQUIRE(info.ok());
    return table.Find(*info) != nullptr;
  };
  // The route answers 503: nobody takes what is not read yet for gone.
  CHECK(found("/apis/example.com/v1/foos"));
  CHECK(found("/apis/example.com/v1/namespaces/default/foos/one"));
  CHECK(found("/apis/example.com"));
  CHECK(found("/apis/example.com/v1"));
  CHECK_FALSE(found("/apis"));
  CHECK_FALSE(found("/api/v1/pods"));
  CHECK_FALSE(found("/version"));

  table.SetSynced();
  CHECK_FALSE(found("/apis/example.com/v1/foos"));
  CHECK_FALSE(found("/apis/example.com"));
  CHECK_FALSE(found("/apis/example.com/v1"));
}
