// The status subresource over HTTP.
#include <catch2/catch.hpp>

#include "apiserver/rest/status.h"
#include "media_types.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::kJsonPatch;
using testing::kMerge;

namespace {

class TaskStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  void PrepareForCreate(const Context&, runtime::Object& task) const override {
    task.Erase("status");
    task.Edit("metadata", "generation") = 1;
  }
  void PrepareForUpdate(const Context&, runtime::Object& task,
                        const runtime::Object& old) const override {
    rest::KeepStatus(task, old);
    if (!(task["spec"] == old["spec"])) {
      task.Edit("metadata", "generation") = old.generation() + 1;
    }
  }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
  rest::ResetFields GetResetFields() const override { return {{"example.com/v1", {{"status"}}}}; }
};

std::unique_ptr<testing::TestServer> StartTaskServer() {
  const auto part = [](const std::string& name, const std::string& field) {
    return runtime::StructBuilder("com.example.v1." + name, "A part.")
        .Field(field, runtime::StringSchema())
        .Build();
  };
  const auto schema = runtime::StructBuilder("com.example.v1.Task", "A task.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", part("TaskSpec", "what"))
                          .Field("status", part("TaskStatus", "phase"))
                          .Build();
  const auto kind = runtime::Kind::New({.group = "example.com",
                                        .kind = "Task",
                                        .plural = "tasks",
                                        .versions = {{.version = "v1", .schema = schema}}})
                        .value();
  const auto strategy = std::make_shared<TaskStrategy>();
  testing::TestServerOptions options;
  options.resources = {{.kind = kind, .strategy = strategy}};
  options.resources[0].subresources["status"] = [strategy,
                                                 kind](std::shared_ptr<registry::Store> store) {
    return registry::NewStatusStore(std::move(store), rest::NewStatusStrategy(strategy, kind));
  };
  return std::move(testing::StartTestServer(std::move(options))).value();
}

constexpr char kTasks[] = "/apis/example.com/v1/namespaces/default/tasks";
const std::string kTask = std::string(kTasks) + "/a";
const std::string kStatus = kTask + "/status";

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("endpoints: a status is read, replaced and patched at its own path", "[endpoints]") {
  const auto server = StartTaskServer();
  const auto created =
      server->Call("POST", kTasks,
                   R"({"metadata":{"name":"a"},"spec":{"what":"x"},"status":{"phase":"early"}})");
  REQUIRE(created.code == 201);
  CHECK(Contains(created.body, R"("spec":{"what":"x"},"status":{}})"));

  const std::string read = server->Call("GET", kStatus).body;
  const auto put = server->Call(
      "PUT", kStatus,
      Replaced(Replaced(read, R"("status":{})", R"("status":{"phase":"one"})"), "\"x\"", "\"y\""));
  const auto stale = server->Call("PUT", kStatus, read);
  const auto merged = server->Call(
      "PATCH", kStatus, R"({"metadata":{"labels":{"a":"b"}},"status":{"phase":"two"}})", kMerge);
  const auto patched = server->Call(
      "PATCH", kStatus, R"([{"op":"replace","path":"/status/phase","value":"three"}])", kJsonPatch);
  const auto main =
      server->Call("PATCH", kTask, R"({"spec":{"what":"z"},"status":{"phase":"no"}})", kMerge);

  CHECK(read == created.body);
  CHECK(put.code == 200);
  CHECK(Contains(put.body, R"("spec":{"what":"x"},"status":{"phase":"one"}})"));
  CHECK(stale.code == 409);
  CHECK(merged.code == 200);
  CHECK_FALSE(Contains(merged.body, "labels"));
  CHECK(Contains(merged.body, R"("status":{"phase":"two"}})"));
  CHECK(Contains(patched.body, R"("status":{"phase":"three"}})"));
  CHECK(Contains(patched.body, R"("generation":1,)"));
  CHECK(main.code == 200);
  CHECK(Contains(main.body, R"("spec":{"what":"z"},"status":{"phase":"three"}})"));
  CHECK(Contains(main.body, R"("generation":2,)"));
}

TEST_CASE("endpoints: a status subresource has get, patch and update and no more", "[endpoints]") {
  const auto server = StartTaskServer();
  server->Call("POST", kTasks, R"({"metadata":{"name":"a"}})");

  const auto resources = server->Call("GET", "/apis/example.com/v1");

  CHECK(Contains(resources.body,
                 R"({"name":"tasks/status","singularName":"","namespaced":true,"kind":"Task",)"
                 R"("verbs":["get","patch","update"]})"));
  CHECK(server->Call("POST", kStatus, "{}").code == 405);
  CHECK(server->Call("DELETE", kStatus).code == 405);
  CHECK(server->Call("GET", std::string(kTasks) + "/none/status").code == 404);
  CHECK(server->Call("PUT", std::string(kTasks) + "/none/status", R"({"metadata":{"name":"none"}})")
            .code == 404);
  CHECK(server->Call("PATCH", std::string(kTasks) + "/none/status", "{}", kMerge).code == 404);
  CHECK(server->Call("GET", kStatus + "/more").code == 404);
  CHECK(Contains(server->Call("GET", "/openapi/v2").body,
                 "\"replaceExampleComV1NamespacedTaskStatus\""));
}

// apply TestApplyResetFields (test/integration/apiserver/apply/reset_fields_test.go)
TEST_CASE("endpoints: nobody owns what a strategy resets", "[endpoints]") {
  const auto server = StartTaskServer();
  const http::Headers apply{{"Content-Type", "application/apply-patch+yaml"}};
  const auto body = [](const std::string& what, const std::string& phase) {
    return R"({"apiVersion":"example.com/v1","kind":"Task","metadata":{"name":"a",)"
           R"("labels":{"by":")" +
           what + R"("}},"spec":{"what":")" + what + R"("},"status":{"phase":")" + phase + R"("}})";
  };

  const auto main = server->Call("PATCH", kTask + "?fieldManager=main", body("x", "p"), apply);
  const auto status =
      server->Call("PATCH", kStatus + "?fieldManager=status", body("y", "q"), apply);
  const auto again = server->Call("PATCH", kTask + "?fieldManager=main", body("z", "r"), apply);

  CHECK(main.code == 201);
  CHECK(Contains(main.body,
                 R"("fieldsV1":{"f:metadata":{"f:labels":{"f:by":{}}},"f:spec":{"f:what":{}}}})"));
  CHECK(status.code == 200);
  CHECK(Contains(status.body, R"("fieldsV1":{"f:status":{"f:phase":{}}},"subresource":"status"})"));
  CHECK(Contains(status.body, R"("labels":{"by":"x"})"));
  CHECK(Contains(status.body, R"("spec":{"what":"x"},"status":{"phase":"q"}})"));
  // Neither stands in the other's way.
  CHECK(again.code == 200);
  CHECK(Contains(again.body, R"("spec":{"what":"z"},"status":{"phase":"q"}})"));
}
