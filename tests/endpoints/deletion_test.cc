// What DELETE reads and answers: k8s.io/apiserver/pkg/endpoints/handlers/delete_test.go and the
// deletions of pkg/endpoints/apiserver_test.go.
#include <catch2/catch.hpp>

#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"
#include "media_types.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::kJson;
using testing::kMerge;
using testing::kProtobuf;
using testing::kWidgetA;
using testing::kWidgets;
using testing::StartWidgetServer;
using testing::Widget;

namespace {

constexpr char kYaml[] = "application/yaml";

// A DeleteOptions in the envelope, without a content type.
std::string InProtobuf(const std::string& api_version, const std::string& message,
                       const std::string& kind = "DeleteOptions") {
  const auto field = [](char tag, const std::string& bytes) {
    return std::string(1, tag) + static_cast<char>(bytes.size()) + bytes;
  };
  const std::string type_meta = field('\x0a', api_version) + field('\x12', kind);
  return std::string("k8s\0", 4) + field('\x0a', type_meta) + field('\x12', message);
}

// Creates "a" with a finalizer, so that what the options ask for can be seen.
std::unique_ptr<testing::TestServer> StartHeld() {
  auto server = StartWidgetServer();
  const auto created = server->Call(
      "POST", kWidgets, R"({"metadata":{"name":"a","finalizers":["example.com/hold"]},"spec":{}})");
  REQUIRE(created.code == 201);
  return server;
}

}  // namespace

// TestDeleteResourceDeleteOptions, TestDeleteCollectionDeleteOptions, TestDeleteCollection,
// TestDeleteWithOptions
TEST_CASE("endpoints: DeleteOptions come in any version and encoding", "[endpoints]") {
  const std::string foreground =
      "\x22\x0a"
      "Foreground";
  struct Row {
    std::string type;
    std::string body;
    int code;
    std::string finalizer;  // What it added.
  };
  const std::string fg = R"("propagationPolicy":"Foreground")";
  const std::vector<Row> rows{
      {kJson, "{}", 200, ""},
      {kJson, R"({"orphanDependents":"randomString"})", 400, ""},
      {kJson, R"({"apiVersion":"v1","kind":"APIResourceList"})", 400, ""},
      {kJson, R"({"apiVersion":false,"kind":"DeleteOptions"})", 400, ""},
      {kJson, R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":123})", 200, ""},
      {kJson, R"({"apiVersion":"foo/v1","kind":"DeleteOptions","gracePeriodSeconds":123})", 200,
       ""},
      {kJson, "{" + fg + "}", 200, "foregroundDeletion"},
      {kJson, R"({"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1",)" + fg + "}", 200,
       "foregroundDeletion"},
      {kJson, R"({"kind":"DeleteOptions","apiVersion":"example.com/v1",)" + fg + "}", 200,
       "foregroundDeletion"},
      {kJson, R"({"orphanDependents":true})", 200, "orphan"},
      {kJson, R"({"unknown":1,"propagationPolicy":"Orphan"})", 200, "orphan"},
      {kYaml, "apiVersion: v1\nkind: DeleteOptions\npropagationPolicy: Foreground\n", 200,
       "foregroundDeletion"},
      {kYaml, "propagationPolicy: Orphan\n", 200, "orphan"},
      {kYaml, "propagationPolicy: [Orphan]\n", 400, ""},
      {kProtobuf, InProtobuf("v1", foreground), 200, "foregroundDeletion"},
      {kProtobuf, InProtobuf("meta.k8s.io/v1", foreground), 200, "foregroundDeletion"},
      {kProtobuf, InProtobuf("foo/v1", std::string("\x18\x01", 2)), 200, "orphan"},
      {kProtobuf, InProtobuf("v1", std::string("\x22\x0a", 2) + "Fore"), 400, ""},
      {kProtobuf, "not an envelope", 400, ""},
      {kJson, "{", 400, ""},
      {kJson, "[]", 400, ""},
      {"text/plain", "{}", 415, ""},
  };
  for (const Row& row : rows) {
    for (const bool collection : {false, true}) {
      CAPTURE(row.type, row.body, collection);
      const auto server = StartHeld();

      const auto answer = server->Call("DELETE", collection ? kWidgets : kWidgetA, row.body,
                                       {{"Content-Type", row.type}});

      INFO(answer.body);
      CHECK(answer.code == row.code);
      const std::string after = server->Call("GET", kWidgetA).body;
      CHECK(Contains(after, "deletionTimestamp") == (row.code == 200));
      const std::string expected = row.finalizer.empty() ? "" : R"(,")" + row.finalizer + R"(")";
      CHECK(Contains(after, R"("finalizers":["example.com/hold")" + expected + "]"));
    }
  }
}

// Go's text without the scheme's name, which is a line of its own source.
TEST_CASE("endpoints: a body of another kind than DeleteOptions is told by name", "[endpoints]") {
  struct Row {
    std::string type;
    std::string body;
    std::string message;
  };
  const std::string nope = R"(no kind \"Nope\" is registered for version )";
  const std::vector<Row> rows{
      {kJson, R"({"kind":"Nope","apiVersion":"v1"})", nope + R"(\"v1\")"},
      {kJson, R"({"kind":"Nope"})", nope + R"(\"v1\")"},
      {kYaml, "kind: Nope\napiVersion: example.com/v2\n", nope + R"(\"example.com/v2\")"},
      {kProtobuf, InProtobuf("v1", "", "Nope"), nope + R"(\"v1\")"},
      {kProtobuf, InProtobuf("", "", "Nope"), nope + R"(\"v1\")"},
  };
  const auto server = StartHeld();
  for (const Row& row : rows) {
    for (const bool collection : {false, true}) {
      CAPTURE(row.type, row.body, collection);

      const auto answer = server->Call("DELETE", collection ? kWidgets : kWidgetA, row.body,
                                       {{"Content-Type", row.type}});

      INFO(answer.body);
      CHECK(answer.code == 400);
      CHECK(Contains(answer.body, R"("message":")" + row.message + R"(","reason":"BadRequest")"));
    }
  }
}

// TestDeleteWithOptionsQuery, TestDeleteWithOptionsQueryAndBody
TEST_CASE("endpoints: DeleteOptions are read from the query when there is no body", "[endpoints]") {
  struct Row {
    std::string query;
    std::string body;
    int code;
    std::string finalizer;
  };
  const std::vector<Row> rows{
      {"propagationPolicy=Foreground", "", 200, "foregroundDeletion"},
      {"orphanDependents=true", "", 200, "orphan"},
      {"propagationPolicy=Foreground", R"({"propagationPolicy":"Orphan"})", 200, "orphan"},
      {"propagationPolicy=Sideways", R"({})", 200, ""},
      {"propagationPolicy=Sideways", "", 422, ""},
      {"gracePeriodSeconds=soon", "", 400, ""},
      {"orphanDependents=true&propagationPolicy=Orphan", "", 422, ""},
      {"uid=other", "", 409, ""},
      {"resourceVersion=1", "", 409, ""},
      {"gracePeriodSeconds=-5", "", 200, ""},
      {"ignoreStoreReadErrorWithClusterBreakingPotential=true&gracePeriodSeconds=1", "", 200, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.query, row.body);
    const auto server = StartHeld();

    const auto answer = server->Call("DELETE", kWidgetA + "?" + row.query, row.body);

    INFO(answer.body);
    CHECK(answer.code == row.code);
    const std::string after = server->Call("GET", kWidgetA).body;
    CHECK(Contains(after, "deletionTimestamp") == (row.code == 200));
    CHECK(Contains(after, row.finalizer + R"("])"));
  }
}

TEST_CASE("endpoints: a delete is accepted rather than done only for orphanDependents=false",
          "[endpoints]") {
  struct Row {
    std::string body;
    int held;  // Answer while a finalizer holds it.
    int free;  // Answer without.
  };
  for (const Row& row : std::vector<Row>{{R"({"orphanDependents":false})", 202, 200},
                                         {R"({"propagationPolicy":"Foreground"})", 200, 200},
                                         {R"({"propagationPolicy":"Background"})", 200, 200},
                                         {"{}", 200, 200}}) {
    CAPTURE(row.body);
    const auto server = StartHeld();
    server->Call("POST", kWidgets, Widget("b", 1));

    const auto held = server->Call("DELETE", kWidgetA, row.body);
    const auto free = server->Call("DELETE", std::string(kWidgets) + "/b", row.body);

    CHECK(held.code == row.held);
    CHECK(Contains(held.body, R"("kind":"Widget")"));
    CHECK(free.code == row.free);
  }
}

TEST_CASE("endpoints: the Status of a delete names what is gone, without a code", "[endpoints]") {
  const auto server = StartWidgetServer();
  server->Call("POST", kWidgets, Widget("a", 3));

  const std::string body = server->Call("DELETE", kWidgetA).body;

  CHECK(
      body.starts_with(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",)"
                       R"("details":{"name":"a","group":"example.com","kind":"widgets","uid":")"));
  CHECK(body.ends_with("\"}}\n"));
}

TEST_CASE("endpoints: an object that is going can be changed but not held any longer",
          "[endpoints]") {
  const auto server = StartHeld();
  REQUIRE(server->Call("DELETE", kWidgetA).code == 200);

  const auto more = server->Call(
      "PATCH", kWidgetA, R"({"metadata":{"finalizers":["example.com/hold","example.com/more"]}})",
      kMerge);
  const auto changed = server->Call("PATCH", kWidgetA, R"({"spec":{"color":"red"}})", kMerge);
  const auto revived =
      server->Call("PATCH", kWidgetA, R"({"metadata":{"deletionTimestamp":null}})", kMerge);
  const auto later = server->Call(
      "PATCH", kWidgetA, R"({"metadata":{"deletionTimestamp":"2099-01-01T00:00:00Z"}})", kMerge);
  const auto longer =
      server->Call("PATCH", kWidgetA, R"({"metadata":{"deletionGracePeriodSeconds":60}})", kMerge);

  CHECK(more.code == 422);
  CHECK(Contains(more.body,
                 R"(metadata.finalizers: Forbidden: no new finalizers can be added if the object )"
                 R"(is being deleted, found new finalizers []string{\"example.com/more\"})"));
  CHECK(changed.code == 200);
  CHECK(revived.code == 200);
  CHECK(Contains(revived.body, "\"deletionTimestamp\":\"2"));
  CHECK(later.code == 200);
  CHECK_FALSE(Contains(later.body, "2099"));
  CHECK(longer.code == 422);
  CHECK(Contains(longer.body,
                 "metadata.deletionGracePeriodSeconds: Invalid value: 60: field is "
                 "immutable"));
}

TEST_CASE("endpoints: taking the last finalizer off by PUT answers with what was sent",
          "[endpoints]") {
  const auto server = StartHeld();
  std::string body = server->Call("DELETE", kWidgetA).body;
  const std::string finalizers = R"("finalizers":["example.com/hold"],)";
  const std::size_t at = body.find(R"(,"finalizers":["example.com/hold"])");
  REQUIRE(at != std::string::npos);
  body.erase(at, finalizers.size());

  const auto put = server->Call("PUT", kWidgetA, body);

  CHECK(put.code == 200);
  CHECK(Contains(put.body, "\"deletionTimestamp\":"));
  CHECK(server->Call("GET", kWidgetA).code == 404);
}

TEST_CASE("endpoints: an apply that no longer has the last finalizer deletes what is going",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  const std::string path = kWidgetA + "?fieldManager=holder";
  const http::Headers apply{{"Content-Type", "application/apply-patch+yaml"}};
  const std::string body = R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{)"
                           R"("name":"a","finalizers":["example.com/hold"]},"spec":{"size":1}})";
  REQUIRE(server->Call("PATCH", path, body, apply).code == 201);
  REQUIRE(server->Call("DELETE", kWidgetA).code == 200);

  const auto held = server->Call("PATCH", path, body, apply);
  const auto more =
      server->Call("PATCH", kWidgetA + "?fieldManager=other",
                   R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a",)"
                   R"("finalizers":["example.com/more"]}})",
                   apply);
  const auto released = server->Call(
      "PATCH", path, R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}})",
      apply);

  CHECK(held.code == 200);
  CHECK(more.code == 422);
  CHECK(Contains(more.body, "no new finalizers can be added if the object is being deleted"));
  CHECK(released.code == 200);
  CHECK(server->Call("GET", kWidgetA).code == 404);
}

TEST_CASE("endpoints: owners are judged, repeated ones dropped with a warning", "[endpoints]") {
  const auto server = StartWidgetServer();
  const auto post = [&server](const std::string& name, const std::string& owners) {
    return server->Call("POST", kWidgets,
                        R"({"metadata":{"name":")" + name + R"(","ownerReferences":[)" + owners +
                            R"(]},"spec":{}})");
  };
  const auto owner = [](const std::string& uid, const std::string& more = "") {
    return R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":")" + uid + "\"" + more + "}";
  };

  const auto twice = post("twice", owner("1") + "," + owner("2") + "," + owner("1"));
  const auto alike = post("alike", owner("1") + "," + owner("1", R"(,"controller":false)"));
  const auto controllers =
      post("two", owner("1", R"(,"controller":true)") + "," + owner("2", R"(,"controller":true)"));
  const auto event = post("event", R"({"apiVersion":"v1","kind":"Event","name":"e","uid":"1"})");
  const auto blocking = post("blocking", owner("1", R"(,"blockOwnerDeletion":true)"));

  CHECK(twice.code == 201);
  CHECK(twice.headers.Get("Warning") ==
        "299 - \".metadata.ownerReferences contains duplicate entries; API server dedups owner "
        "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
        "requests; duplicate UID(s) observed: 1\"");
  CHECK(Contains(twice.body, R"("ownerReferences":[)" + owner("1") + "," + owner("2") + "]"));
  CHECK(alike.code == 201);
  CHECK_FALSE(alike.headers.Has("Warning"));
  CHECK(controllers.code == 422);
  CHECK(Contains(controllers.body,
                 R"(Only one reference can have Controller set to true. Found \"true\" in )"
                 "references for Pod/p and Pod/p"));
  CHECK(event.code == 422);
  CHECK(Contains(event.body, "/v1, Kind=Event is disallowed from being an owner"));
  CHECK(blocking.code == 201);
  CHECK(Contains(blocking.body, "\"blockOwnerDeletion\":true"));
}

TEST_CASE("endpoints: owners in a circle can be deleted", "[endpoints]") {
  const auto server = StartWidgetServer();
  const auto uid_of = [](const std::string& body) {
    return body.substr(body.find("\"uid\":\"") + 7, 36);
  };
  const std::string b = std::string(kWidgets) + "/b";
  const std::string a_uid = uid_of(server->Call("POST", kWidgets, Widget("a", 1)).body);
  const std::string b_uid = uid_of(server->Call("POST", kWidgets, Widget("b", 1)).body);
  const auto own = [&server](const std::string& path, const std::string& name,
                             const std::string& uid) {
    return server->Call("PATCH", path,
                        R"({"metadata":{"ownerReferences":[{"apiVersion":"example.com/v1",)"
                        R"("kind":"Widget","name":")" +
                            name + R"(","uid":")" + uid +
                            R"(","blockOwnerDeletion":true,"controller":true}]}})",
                        kMerge);
  };

  CHECK(own(kWidgetA, "b", b_uid).code == 200);
  CHECK(own(b, "a", a_uid).code == 200);
  CHECK(own(b, "b", b_uid).code == 200);  // Its own owner.
  const auto deleted = server->Call("DELETE", kWidgetA, R"({"propagationPolicy":"Foreground"})");

  CHECK(deleted.code == 200);
  CHECK(Contains(deleted.body, R"("finalizers":["foregroundDeletion"])"));
  CHECK(server->Call("DELETE", b).code == 200);
  CHECK(server->Call("GET", b).code == 404);
}

TEST_CASE("endpoints: thousands of owners are judged in time", "[endpoints]") {
  const auto server = StartWidgetServer();
  const auto post = [&server](const std::string& more) {
    std::string body = R"({"metadata":{"name":"many","ownerReferences":[)";
    for (int i = 0; i < 20'000; ++i) {
      if (i > 0) body += ",";
      body += R"({"apiVersion":"v1","kind":"P","name":")" + std::to_string(i) + R"(","uid":"u")" +
              more + "}";
    }
    return server->Call("POST", std::string(kWidgets) + "?dryRun=All", body + R"(]},"spec":{}})");
  };

  const auto one_uid = post("");
  const auto all_control = post(R"(,"controller":true)");

  CHECK(one_uid.code == 201);
  CHECK(all_control.code == 422);
  CHECK(all_control.body.size() < (std::size_t{16} << 20));
}

namespace {

// Notes what it is asked about, refuses what is named "kept".
class Notes final : public admission::Plugin {
 public:
  std::string_view name() const override { return "Notes"; }
  bool Handles(admission::Operation operation) const override {
    return operation == admission::Operation::kDelete;
  }
  Status Validate(const Context&, const admission::Attributes& attributes) const override {
    seen_.Lock()->push_back(attributes.name + "/" + std::string(attributes.old_object->name()) +
                            (attributes.object == nullptr ? "" : " with object"));
    if (attributes.old_object->name() != "kept") return {};
    return meta::NewForbidden(attributes.resource.group_resource(), "kept", "it is kept");
  }
  std::vector<std::string> seen() const { return *seen_.Lock(); }

 private:
  mutable Guarded<std::vector<std::string>> seen_;
};

}  // namespace

// TestDeleteInvokesAdmissionControl
TEST_CASE("endpoints: admission is asked about every object that is deleted", "[endpoints]") {
  const auto notes = std::make_shared<Notes>();
  testing::TestServerOptions options;
  options.admission = {notes};
  const auto server = StartWidgetServer(std::move(options));
  for (const char* name : {"a", "kept"}) server->Call("POST", kWidgets, Widget(name, 1));

  const auto refused = server->Call("DELETE", std::string(kWidgets) + "/kept");
  const auto deleted = server->Call("DELETE", kWidgetA);
  const auto collection = server->Call("DELETE", kWidgets);

  CHECK(refused.code == 403);
  CHECK(deleted.code == 200);
  CHECK(collection.code == 403);
  // A collection's objects are known by their old state alone.
  CHECK(notes->seen() == std::vector<std::string>{"kept/kept", "a/a", "/kept"});
  CHECK(server->Call("GET", std::string(kWidgets) + "/kept").code == 200);
}

TEST_CASE("endpoints: a dry run of a delete answers like it and deletes nothing", "[endpoints]") {
  const auto server = StartHeld();
  server->Call("POST", kWidgets, Widget("b", 1));

  const auto held = server->Call("DELETE", kWidgetA + "?dryRun=All");
  const auto free = server->Call("DELETE", std::string(kWidgets) + "/b", R"({"dryRun":["All"]})");
  const auto bad = server->Call("DELETE", kWidgetA, R"({"dryRun":["All","Some"]})");
  const auto all = server->Call("DELETE", std::string(kWidgets) + "?dryRun=All");

  CHECK(Contains(held.body, "deletionTimestamp"));
  CHECK(Contains(free.body, R"("status":"Success")"));
  CHECK(bad.code == 422);
  CHECK(Contains(bad.body, R"(dryRun: Unsupported value: [\"All\",\"Some\"]: supported values: )"
                           R"(\"All\")"));
  CHECK(all.code == 200);
  CHECK_FALSE(Contains(server->Call("GET", kWidgetA).body, "deletionTimestamp"));
  CHECK(server->Call("GET", std::string(kWidgets) + "/b").code == 200);
}

TEST_CASE("endpoints: deletecollection takes fields, pages and no watch", "[endpoints]") {
  const auto server = StartWidgetServer();
  for (const char* name : {"a", "b", "c", "d"}) server->Call("POST", kWidgets, Widget(name, 1));

  const auto field =
      server->Call("DELETE", std::string(kWidgets) + "?fieldSelector=metadata.name%3Da");
  const auto page = server->Call("DELETE", std::string(kWidgets) + "?limit=1");
  const auto unknown = server->Call("DELETE", std::string(kWidgets) + "?fieldSelector=spec.x%3Da");
  const auto match = server->Call("DELETE", std::string(kWidgets) + "?resourceVersionMatch=Exact");
  const auto precondition =
      server->Call("DELETE", kWidgets, R"({"preconditions":{"uid":"other"}})");

  CHECK(field.code == 200);
  CHECK(server->Call("GET", kWidgetA).code == 404);
  CHECK(Contains(page.body, R"("continue":")"));
  CHECK(server->Call("GET", std::string(kWidgets) + "/b").code == 404);
  CHECK(unknown.code == 400);
  CHECK(match.code == 422);
  CHECK(precondition.code == 409);
  CHECK(server->Call("GET", std::string(kWidgets) + "/c").code == 200);
}
