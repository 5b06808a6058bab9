// POST, PUT and PATCH over HTTP.
#include <catch2/catch.hpp>

#include "media_types.h"
#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::kJsonPatch;
using apiserver::testing::kMerge;
using apiserver::testing::kWidgetA;
using apiserver::testing::kWidgets;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::Widget;

TEST_CASE("endpoints: bad bodies are refused and nothing is stored", "[endpoints]") {
  const auto server = StartWidgetServer();
  struct Row {
    std::string body;
    int code;
    std::string text;
  };
  const std::vector<Row> rows{
      {"{", 400, "unexpected"},
      {R"({"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"}})", 400, "Gadget"},
      {R"({"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"a"}})", 400,
       "the API version in the data (example.com/v1alpha1) does not match the expected API version "
       "(example.com/v1)"},
      {R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"b"}})",
       400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{}})", 422,
       "name or generateName is required"},
      {R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},)"
       R"("spec":{"size":"x"}})",
       400, "cannot unmarshal string into Go struct field WidgetSpec.spec.size of type int32"},
      {Widget("a", 11), 422,
       R"(Widget.example.com \"a\" is invalid: spec.size: Invalid value: 11: must be at most 10)"},
  };
  for (const Row& row : rows) {
    INFO(row.body);

    const auto answer = server->Call("POST", kWidgets, row.body);

    INFO(answer.body);
    CHECK(answer.code == row.code);
    CHECK(Contains(answer.body, row.text));
  }
  CHECK(Contains(server->Call("GET", kWidgets).body, R"("items":[])"));
}

TEST_CASE("endpoints: an unknown body type is 415 and a large body is 413", "[endpoints]") {
  const auto server = StartWidgetServer();

  const auto type = server->Call("POST", kWidgets, "x", {{"Content-Type", "text/plain"}});
  const auto large = server->Call("POST", kWidgets, std::string(3 * 1024 * 1024 + 1, ' '));

  CHECK(type.code == 415);
  CHECK(Contains(type.body, "accepted media types include: application/json, application/yaml"));
  CHECK(large.code == 413);
  CHECK(Contains(large.body, "RequestEntityTooLarge"));
}

// As validation.validateOwnerReference, whatever writes them.
TEST_CASE("endpoints: bad owner references are told of as in Go, whatever writes them",
          "[endpoints]") {
  const std::string item = std::string(kWidgets) + "/a";
  const std::string metadata = R"("metadata":{"name":"a","ownerReferences":[)"
                               R"({"apiVersion":"","kind":"","name":"owner","uid":"u"}]})";
  const std::string whole = R"({"apiVersion":"example.com/v1","kind":"Widget",)" + metadata + "}";
  struct Row {
    std::string method;
    std::string target;
    std::string body;
    std::string type;
    bool exists;
  };
  for (const Row& row : std::vector<Row>{
           {"POST", kWidgets, whole, "application/json", false},
           {"PUT", item, whole, "application/json", true},
           {"PATCH", item, "{" + metadata + "}", "application/merge-patch+json", true},
           {"PATCH", item + "?fieldManager=m", whole, "application/apply-patch+yaml", true},
           {"PATCH", item + "?fieldManager=m", whole, "application/apply-patch+yaml", false}}) {
    CAPTURE(row.method, row.type, row.exists);
    const auto server = StartWidgetServer();
    std::string body = row.body;
    if (row.exists) {
      const auto created = server->Call("POST", kWidgets, Widget("a", 3)).body;
      const std::size_t at = created.find(R"("resourceVersion":)");
      const std::string version = created.substr(at, created.find(',', at) - at);
      if (row.method == "PUT") body.replace(body.find(R"("name")"), 0, version + ",");
    }

    const auto answer = server->Call(row.method, row.target, body, {{"Content-Type", row.type}});

    INFO(answer.body);
    CHECK(answer.code == 422);
    CHECK(Contains(
        answer.body,
        R"("message":"Widget.example.com \"a\" is invalid: )"
        R"([metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty, )"
        R"(metadata.ownerReferences.kind: Invalid value: \"\": must not be empty]",)"
        R"("reason":"Invalid")"));
  }
}

// As deprecation.WarningMessage and warning.AddWarningsHandler.
TEST_CASE("endpoints: every answer of a deprecated version warns of it", "[endpoints]") {
  namespace runtime = apiserver::runtime;
  const auto kind =
      runtime::Kind::New(
          {.group = "example.com",
           .kind = "Widget",
           .plural = "widgets",
           .versions = {{.version = "v1", .schema = apiserver::testing::WidgetSchema("v1", "size")},
                        {.version = "v1alpha1",
                         .schema = apiserver::testing::WidgetSchema("v1alpha1", "size"),
                         .deprecation_warning =
                             "example.com/v1alpha1 Widget is deprecated in v1.3+, "
                             "unavailable in v1.10+"}}})
          .value();
  apiserver::testing::TestServerOptions options;
  options.resources = {{kind, std::make_shared<apiserver::testing::WidgetStrategy>()}};
  const auto server = apiserver::testing::StartTestServer(std::move(options)).value();
  const std::string old = "/apis/example.com/v1alpha1/namespaces/default/widgets";
  struct Row {
    std::string method;
    std::string target;
    std::string body;
    int code;
    std::string type = "application/json";
  };
  const std::string merge = "application/merge-patch+json";
  for (const Row& row :
       std::vector<Row>{{"POST", old, R"({"metadata":{"name":"a"}})", 201},
                        {"GET", old + "/a", "", 200},
                        {"GET", old + "/none", "", 404},
                        {"GET", old, "", 200},
                        {"GET", old + "?limit=x", "", 400},
                        {"GET", "/apis/example.com/v1alpha1/widgets", "", 200},
                        {"PUT", old + "/a", "{", 400},
                        {"POST", old, "x", 415, "text/plain"},
                        {"PATCH", old + "/a", R"({"spec":{"size":2}})", 200, merge},
                        {"DELETE", old + "/a", "", 200},
                        {"DELETE", old, "", 200}}) {
    CAPTURE(row.method, row.target);

    const auto answer =
        server->Call(row.method, row.target, row.body, {{"Content-Type", row.type}});

    INFO(answer.body);
    CHECK(answer.code == row.code);
    CHECK(answer.headers.Get("Warning") ==
          R"(299 - "example.com/v1alpha1 Widget is deprecated in v1.3+, unavailable in v1.10+")");
    CHECK(answer.headers.GetAll("Warning").size() == 1);
  }
  CHECK_FALSE(server->Call("GET", kWidgets).headers.Has("Warning"));
  // A subresource that is not served brings no warning.
  CHECK_FALSE(server->Call("GET", old + "/a/status").headers.Has("Warning"));
}

TEST_CASE("endpoints: a Content-Type without a media type is 415, an empty one is JSON",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  for (const char* type : {";charset=utf-8", ";", "application/json;charset"}) {
    const auto answer = server->Call("POST", kWidgets, Widget("a", 3), {{"Content-Type", type}});

    INFO(type << " " << answer.body);
    CHECK(answer.code == 415);
    CHECK(
        Contains(answer.body,
                 R"("message":"the body of the request was in an unknown format - accepted media )"
                 R"(types include: application/json, application/yaml, )"
                 R"(application/vnd.kubernetes.protobuf","reason":"UnsupportedMediaType")"));
  }
  CHECK(server->Call("POST", kWidgets, Widget("a", 3), {{"Content-Type", ""}}).code == 201);
}

TEST_CASE("endpoints: fieldValidation refuses, warns of or ignores unknown fields", "[endpoints]") {
  const auto server = StartWidgetServer();
  const auto body = [](const std::string& name) {
    return R"({"metadata":{"name":")" + name + R"("},"spec":{"typo":1,"size":1,"size":2}})";
  };

  const auto strict =
      server->Call("POST", std::string(kWidgets) + "?fieldValidation=Strict", body("s"));
  const auto warn = server->Call("POST", kWidgets, body("w"));
  const auto ignore =
      server->Call("POST", std::string(kWidgets) + "?fieldValidation=Ignore", body("i"));

  CHECK(strict.code == 400);
  CHECK(Contains(strict.body, R"(strict decoding error: )"));
  CHECK(Contains(strict.body, R"(unknown field \"spec.typo\")"));
  CHECK(warn.code == 201);
  CHECK(warn.headers.GetAll("Warning").size() == 2);
  CHECK(ignore.code == 201);
  CHECK_FALSE(ignore.headers.Has("Warning"));
}

TEST_CASE("endpoints: a strategy's warning reaches the client", "[endpoints]") {
  const auto server = StartWidgetServer();

  const auto answer = server->Call("POST", kWidgets, Widget("a", 7));

  CHECK(answer.headers.Get("Warning") == R"(299 - "seven is a magic size")");
}

TEST_CASE("endpoints: a dry run answers like the write and stores nothing", "[endpoints]") {
  const auto server = StartWidgetServer();

  const auto created = server->Call("POST", std::string(kWidgets) + "?dryRun=All", Widget("a", 3));
  const auto unknown = server->Call("POST", std::string(kWidgets) + "?dryRun=Some", Widget("a", 3));

  CHECK(created.code == 201);
  CHECK(unknown.code == 422);
  CHECK(server->Call("GET", kWidgetA).code == 404);
}

TEST_CASE("endpoints: PUT needs the revision it saw", "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string first = server->Call("POST", kWidgets, Widget("a", 3)).body;
  const auto replaced = [&first](const std::string& size) {
    std::string body = first;
    return body.replace(body.find("\"size\":3"), 8, "\"size\":" + size);
  };

  const auto ok = server->Call("PUT", kWidgetA, replaced("4"));
  const auto stale = server->Call("PUT", kWidgetA, replaced("5"));
  const auto none = server->Call("PUT", kWidgetA, Widget("a", 5));
  const auto other = server->Call("PUT", kWidgetA, Widget("b", 5));

  CHECK(ok.code == 200);
  CHECK(stale.code == 409);
  CHECK(Contains(stale.body,
                 "the object has been modified; please apply your changes to the latest version "
                 "and try again"));
  CHECK(none.code == 422);
  CHECK(Contains(none.body,
                 "metadata.resourceVersion: Invalid value: 0: must be specified for an update"));
  CHECK(other.code == 400);
  CHECK(Contains(other.body, "the name of the object (b) does not match the name on the URL (a)"));
}

TEST_CASE("endpoints: an update that changes nothing keeps the revision", "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string first = server->Call("POST", kWidgets, Widget("a", 3)).body;

  const auto again = server->Call("PUT", kWidgetA, first);

  CHECK(again.body == first);
}

TEST_CASE("endpoints: JSON patch and merge patch change the stored object", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));

  const auto merged = server->Call("PATCH", kWidgetA, R"({"spec":{"color":"red"}})", kMerge);
  const auto patched = server->Call(
      "PATCH", kWidgetA, R"([{"op":"replace","path":"/spec/size","value":4}])", kJsonPatch);
  const auto failed = server->Call("PATCH", kWidgetA,
                                   R"([{"op":"test","path":"/spec/size","value":9}])", kJsonPatch);
  const auto strategic =
      server->Call("PATCH", kWidgetA, R"({"spec":{"$patch":"replace","size":5}})",
                   {{"Content-Type", "application/strategic-merge-patch+json"}});
  const auto missing = server->Call("PATCH", std::string(kWidgets) + "/none", "{}", kMerge);

  CHECK(Contains(merged.body, R"("spec":{"size":3,"color":"red"})"));
  CHECK(Contains(patched.body, R"("spec":{"size":4,"color":"red"})"));
  CHECK(failed.code == 422);
  CHECK(Contains(failed.body, "the server rejected our request due to an error in our request"));
  CHECK(strategic.code == 200);
  CHECK(Contains(strategic.body, R"("spec":{"size":5})"));
  CHECK(missing.code == 404);
}

TEST_CASE("endpoints: generateName makes a name", "[endpoints]") {
  const auto server = StartWidgetServer();

  const auto answer =
      server->Call("POST", kWidgets, R"({"metadata":{"generateName":"w-"},"spec":{}})");

  CHECK(answer.code == 201);
  CHECK(Contains(answer.body, R"("metadata":{"name":"w-)"));
}
