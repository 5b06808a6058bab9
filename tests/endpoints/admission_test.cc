// What admission is asked about, and with what: every verb, every kind of patch, subresources,
// connections, dry runs.
#include <catch2/catch.hpp>
#include <functional>
#include <optional>

#include "apiserver/meta/errors.h"
#include "gear_server.h"

using namespace apiserver;  // NOLINT: tests only.
using namespace apiserver::testing;

namespace {

enum class Phase { kNone, kAdmit, kValidate };

// Refuses everything in one of the two phases; keeps what it saw.
class Gate final : public admission::Plugin {
 public:
  struct Seen {
    std::string operation;
    std::string kind;
    std::string resource;
    std::string name;
    std::string old_object;  // JSON; empty: none.
    std::string object;
    std::string user;
    std::string options_manager;
    bool has_object = false;
    bool dry_run = false;
  };

  std::string_view name() const override { return "Gate"; }
  bool Handles(admission::Operation) const override { return true; }
  Status Admit(const Context&, admission::Attributes& attributes) const override {
    if (attributes.kind.kind == "GearExecOptions") attributes.editable->Edit("tty") = true;
    return Judge(Phase::kAdmit, attributes);
  }
  Status Validate(const Context&, const admission::Attributes& attributes) const override {
    auto state = state_.Lock();
    Seen seen{
        .operation = std::string(admission::OperationName(attributes.operation)),
        .kind = attributes.kind.kind + "." + attributes.kind.version + "." + attributes.kind.group,
        .resource = attributes.resource.resource + "/" + attributes.subresource,
        .name = attributes.namespace_ + "/" + attributes.name,
        .user = attributes.user ? attributes.user->name : "",
        .has_object = attributes.object != nullptr,
        .dry_run = attributes.dry_run};
    if (attributes.old_object) codec::AppendJson(attributes.old_object->root(), seen.old_object);
    if (attributes.object) codec::AppendJson(attributes.object->root(), seen.object);
    if (const auto* options = std::get_if<meta::CreateOptions>(&attributes.options)) {
      seen.options_manager = options->field_manager;
    }
    state->seen.push_back(std::move(seen));
    return state->refuses == Phase::kValidate ? Refusal(attributes) : Status();
  }

  void Refuse(Phase phase) const { state_.Lock()->refuses = phase; }
  std::vector<Seen> Take() const { return std::exchange(state_.Lock()->seen, {}); }

 private:
  static Status Refusal(const admission::Attributes& attributes) {
    return admission::NewForbidden(attributes, "closed");
  }
  Status Judge(Phase phase, const admission::Attributes& attributes) const {
    return state_.Lock()->refuses == phase ? Refusal(attributes) : Status();
  }
  struct State {
    Phase refuses = Phase::kNone;
    std::vector<Seen> seen;
  };
  mutable Guarded<State> state_;
};

class OfGears : public rest::Storage {
 public:
  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(kind_, "v1");
  }

 private:
  runtime::KindPtr kind_ = GearKind();
};

// As pods/eviction: a POST with the name in the URL, which deletes.
class Eviction final : public OfGears, public rest::NamedCreater {
 public:
  explicit Eviction(std::shared_ptr<registry::Store> store) : store_(std::move(store)) {}
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view name,
                                    std::unique_ptr<runtime::Object> object,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& options) override {
    if (Status status = validate(ctx, *object); !status.ok()) return status;
    const auto deleted = store_->Delete(ctx, name, nullptr, {.dry_run = options.dry_run});
    if (!deleted.ok()) return deleted.status();
    return runtime::ObjectPtr(std::move(object));
  }

 private:
  std::shared_ptr<registry::Store> store_;
};

class Proxy final : public OfGears, public rest::Connecter {
 public:
  std::vector<std::string> ConnectMethods() const override { return {"GET", "POST"}; }
  Result<http::Handler> Connect(const Context&, const rest::ConnectRequest&) override {
    return http::Handler([](http::Exchange& exchange) {
      exchange.writer().Send({}, std::string("connected"));
      return http::Step::Done();
    });
  }
};

// As pods/exec: the query is an object of its own kind.
class Exec final : public OfGears, public rest::Connecter {
 public:
  std::vector<std::string> ConnectMethods() const override { return {"GET", "POST"}; }
  Result<std::unique_ptr<runtime::Object>> NewConnectOptions(const meta::QueryValues& query,
                                                             std::string_view) override {
    auto options = std::make_unique<runtime::Object>(kind_, "v1");
    for (const auto& [name, value] : query) {
      if (name == "command" && value.empty()) return meta::NewBadRequest("no command");
      if (name == "command") options->Edit("command") = value;
    }
    return options;
  }
  Result<http::Handler> Connect(const Context&, const rest::ConnectRequest& request) override {
    std::string text;
    codec::AppendJson(request.options->root(), text);
    return http::Handler([text](http::Exchange& exchange) {
      exchange.writer().Send({}, text);
      return http::Step::Done();
    });
  }

 private:
  const runtime::KindPtr kind_ =
      runtime::Kind::New({.group = "example.com",
                          .kind = "GearExecOptions",
                          .plural = "gearexecoptions",
                          .versions = {{.version = "v1",
                                        .schema = runtime::StructBuilder("GearExecOptions")
                                                      .Field("command", runtime::StringSchema())
                                                      .Field("tty", runtime::BooleanSchema())
                                                      .Build()}}})
          .value();
};

struct GateServer {
  GateServer() {
    const auto strategy = std::make_shared<GearStrategy>();
    TestResource gears{.kind = GearKind(), .strategy = strategy};
    using Store = std::shared_ptr<registry::Store>;
    using Made = Result<std::shared_ptr<rest::Storage>>;
    gears.subresources["status"] = [=](Store store) {
      return registry::NewStatusStore(std::move(store),
                                      rest::NewStatusStrategy(strategy, GearKind()));
    };
    gears.subresources["scale"] = [](Store store) {
      return registry::NewScaleStore(std::move(store), {});
    };
    gears.subresources["eviction"] = [](Store store) -> Made {
      return std::make_shared<Eviction>(std::move(store));
    };
    gears.subresources["exec"] = [](const Store&) -> Made { return std::make_shared<Exec>(); };
    gears.subresources["proxy"] = [](const Store&) -> Made { return std::make_shared<Proxy>(); };
    TestServerOptions options;
    options.resources = {std::move(gears)};
    options.admission = {gate};
    server = StartTestServer(std::move(options)).value();
  }

  http::ClientResponse Call(const std::string& method, const std::string& path,
                            const std::string& body = "", http::Headers headers = {}) {
    return server->Call(method, std::string(kGears) + path, body, std::move(headers));
  }
  // The stored gear without kind and apiVersion; empty: there is none.
  std::string Stored(const std::string& name) {
    const auto got = Call("GET", "/" + name);
    if (got.code != 200) return "";
    runtime::Arena arena;
    Value root = codec::ParseJson(got.body, arena).value();
    root = runtime::Without(runtime::Without(root, "kind", arena), "apiVersion", arena);
    std::string json;
    codec::AppendJson(root, json);
    return json;
  }

  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::unique_ptr<TestServer> server;
};

struct Write {
  const char* what;
  const char* method;
  const char* path;
  std::string body;
  http::Headers headers = {};
  bool dry_run = true;  // Takes ?dryRun=All.
};

std::vector<Write> Writes() {
  const http::Headers strategic{{"Content-Type", "application/strategic-merge-patch+json"}};
  const std::string image = R"({"spec":{"image":"new"}})";
  const std::string scale =
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a",)"
      R"("namespace":"default"},"spec":{"replicas":5}})";
  const std::string ready =
      R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":{"name":"a"},)"
      R"("status":{"ready":3}})";
  const std::string anonymous =
      R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":{"generateName":"g-"}})";
  return {{"create", "POST", "", Gear(R"("image":"x")", R"("name":"b")")},
          {"create by generateName", "POST", "", anonymous},
          {"update", "PUT", "/a", Gear(R"("image":"new")")},
          {"json patch", "PATCH", "/a", R"([{"op":"add","path":"/spec/image","value":"new"}])",
           kJsonPatch},
          {"merge patch", "PATCH", "/a", image, kMerge},
          {"strategic merge patch", "PATCH", "/a", image, strategic},
          {"apply", "PATCH", "/a?fieldManager=me&force=true", Gear(R"("image":"new")"), kApply},
          {"apply that creates", "PATCH", "/c?fieldManager=me",
           Gear(R"("image":"new")", R"("name":"c")"), kApply},
          {"update of status", "PUT", "/a/status", ready},
          {"patch of status", "PATCH", "/a/status", R"({"status":{"ready":4}})", kMerge},
          {"update of scale", "PUT", "/a/scale", scale},
          {"patch of scale", "PATCH", "/a/scale", R"({"spec":{"replicas":6}})", kMerge},
          {"eviction", "POST", "/a/eviction", Gear("")},
          {"delete", "DELETE", "/a", ""},
          {"deletecollection", "DELETE", "", ""},
          {"connect by GET", "GET", "/a/proxy", "", {}, false},
          {"connect by POST", "POST", "/a/proxy", "", {}, false}};
}

}  // namespace

// Row 16 of docs/security.md, CVE-2016-1905: PATCH was not admitted.
TEST_CASE("admission: whoever refuses everything blocks every way to write", "[admission]") {
  GateServer served;
  REQUIRE(served.Call("POST", "", Gear(R"("image":"old")")).code == 201);
  const std::string before = served.Stored("a");
  for (const Phase phase : {Phase::kAdmit, Phase::kValidate}) {
    served.gate->Refuse(phase);
    for (const Write& write : Writes()) {
      for (const bool dry_run : {false, true}) {
        if (dry_run && !write.dry_run) continue;
        INFO(write.what << (dry_run ? ", dry run" : "")
                        << (phase == Phase::kAdmit ? ", admit" : ", validate"));
        std::string path = write.path;
        if (dry_run)
          path += (path.find('?') == std::string::npos ? "?" : "&") + std::string("dryRun=All");
        const auto answer = served.Call(write.method, path, write.body, write.headers);
        CHECK(answer.code == 403);
        CHECK(answer.body.find("is forbidden: closed") != std::string::npos);
        CHECK(served.Stored("a") == before);
        CHECK(served.Stored("b").empty());
        CHECK(served.Stored("c").empty());
      }
    }
  }
  served.gate->Refuse(Phase::kNone);
  for (const Write& write : Writes()) {
    INFO(write.what << ", allowed");
    served.Call("POST", "", Gear(R"("image":"old")"));
    const auto answer = served.Call(write.method, write.path, write.body, write.headers);
    CHECK((answer.code == 200 || answer.code == 201));
  }
}

// Row 15 of docs/security.md, CVE-2021-25735: the old object was not what was stored.
TEST_CASE("admission: the old object is the last committed one, to the byte", "[admission]") {
  for (const Write& write : Writes()) {
    INFO(write.what);
    GateServer served;
    REQUIRE(served.Call("POST", "", Gear(R"("image":"old","ports":[{"port":1}])")).code == 201);
    REQUIRE(served.Call("PATCH", "/a", R"({"metadata":{"labels":{"x":"y"}}})", kMerge).code == 200);
    REQUIRE(served.Call("PATCH", "/a/status", R"({"status":{"ready":1}})", kMerge).code == 200);
    const std::string before = served.Stored("a");
    served.gate->Take();
    const auto answer = served.Call(write.method, write.path, write.body, write.headers);
    REQUIRE((answer.code == 200 || answer.code == 201));
    const auto seen = served.gate->Take();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].user == "system:apiserver");
    if (seen[0].operation == "CREATE" || seen[0].operation == "CONNECT") {
      CHECK(seen[0].old_object.empty());
    } else if (seen[0].kind == "Scale.v1.autoscaling") {
      CHECK(seen[0].old_object.find(R"("spec":{"replicas":1})") != std::string::npos);
    } else {
      CHECK(seen[0].old_object == before);
    }
  }
}

TEST_CASE("admission: attributes say what the request is about", "[admission]") {
  struct Case {
    const char* what;
    const char* operation;
    const char* kind;
    const char* resource;
    const char* name;
    bool has_object;
  };
  const Case cases[] = {
      {"create", "CREATE", "Gear.v1.example.com", "gears/", "default/b", true},
      {"update", "UPDATE", "Gear.v1.example.com", "gears/", "default/a", true},
      {"apply", "UPDATE", "Gear.v1.example.com", "gears/", "default/a", true},
      {"apply that creates", "CREATE", "Gear.v1.example.com", "gears/", "default/c", true},
      {"update of status", "UPDATE", "Gear.v1.example.com", "gears/status", "default/a", true},
      {"patch of scale", "UPDATE", "Scale.v1.autoscaling", "gears/scale", "default/a", true},
      {"eviction", "CREATE", "Gear.v1.example.com", "gears/eviction", "default/a", true},
      {"delete", "DELETE", "Gear.v1.example.com", "gears/", "default/a", false},
      {"deletecollection", "DELETE", "Gear.v1.example.com", "gears/", "default/", false},
      {"connect by GET", "CONNECT", "Gear.v1.example.com", "gears/proxy", "default/a", false}};
  for (const Case& test : cases) {
    INFO(test.what);
    GateServer served;
    REQUIRE(served.Call("POST", "", Gear(R"("image":"old")")).code == 201);
    served.gate->Take();
    for (const Write& write : Writes()) {
      if (std::string_view(write.what) != test.what) continue;
      served.Call(write.method, write.path, write.body, write.headers);
    }
    const auto seen = served.gate->Take();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].operation == test.operation);
    CHECK(seen[0].kind == test.kind);
    CHECK(seen[0].resource == test.resource);
    CHECK(seen[0].name == test.name);
    CHECK(seen[0].has_object == test.has_object);
    CHECK_FALSE(seen[0].dry_run);
  }
}

// As webhooks that deny pods/attach need it.
TEST_CASE("admission: a connection's options are its object, which plugins may change",
          "[admission]") {
  GateServer served;
  const auto answer = served.Call("POST", "/a/exec?command=ls");
  CHECK(answer.code == 200);
  CHECK(answer.body == R"({"command":"ls","tty":true})");
  const auto seen = served.gate->Take();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].operation == "CONNECT");
  CHECK(seen[0].kind == "GearExecOptions.v1.example.com");
  CHECK(seen[0].resource == "gears/exec");
  CHECK(seen[0].name == "default/a");
  CHECK(seen[0].object == R"({"command":"ls","tty":true})");

  CHECK(served.Call("POST", "/a/exec?command=").code == 400);
  CHECK(served.gate->Take().empty());
}

TEST_CASE("admission: the options of a write and its dry run are told", "[admission]") {
  GateServer served;
  REQUIRE(served.Call("POST", "?fieldManager=maker&dryRun=All", Gear("")).code == 201);
  const auto seen = served.gate->Take();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].dry_run);
  CHECK(seen[0].options_manager == "maker");
  CHECK(served.Stored("a").empty());
}

TEST_CASE("admission: what a plugin changes is what is stored", "[admission]") {
  struct Painter final : admission::Plugin {
    std::string_view name() const override { return "Painter"; }
    bool Handles(admission::Operation) const override { return true; }
    Status Admit(const Context&, admission::Attributes& attributes) const override {
      if (attributes.editable) attributes.editable->Edit("spec", "image") = "painted";
      return {};
    }
  };
  Gears gears({std::make_shared<Painter>()});
  CHECK(gears.Call("POST", "", Gear(R"("image":"bare")")).object["spec"]["image"].AsString() ==
        "painted");
  CHECK(gears.Call("PATCH", "/a", R"({"spec":{"image":"bare"}})", kMerge)
            .object["spec"]["image"]
            .AsString() == "painted");
  CHECK(gears.Get().object["spec"]["image"].AsString() == "painted");
}

// Row 18 of docs/security.md, CVE-2017-1000056: a plugin asked with the wrong identity.
TEST_CASE("admission: plugins see who is impersonated, not who asks", "[admission]") {
  GateServer served;
  REQUIRE(served.Call("POST", "", Gear(""), {{"Impersonate-User", "alice"}}).code == 201);
  REQUIRE(served.Call("DELETE", "/a", "", {{"Impersonate-User", "bob"}}).code == 200);
  const auto seen = served.gate->Take();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].user == "alice");
  CHECK(seen[1].user == "bob");
}

TEST_CASE("endpoints: a namespace is read and written by its own path", "[endpoints]") {
  const auto gate = std::make_shared<Gate>();
  const auto schema = runtime::StructBuilder("io.k8s.api.core.v1.Namespace", "A namespace.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Build();
  const auto kind = runtime::Kind::New({.kind = "Namespace",
                                        .plural = "namespaces",
                                        .namespaced = false,
                                        .versions = {{.version = "v1", .schema = schema}}});
  REQUIRE(kind.ok());
  auto server = StartTestServer({.kinds = {{.kind = *kind}}, .admission = {gate}});
  REQUIRE(server.ok());
  const std::string path = "/api/v1/namespaces";
  CHECK((*server)
            ->Call("POST", path,
                   R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"blue"}})")
            .code == 201);
  // It is in itself, as in Go.
  CHECK(gate->Take().at(0).name == "blue/blue");
  CHECK((*server)->Call("GET", path + "/blue").code == 200);
  CHECK((*server)
            ->Call("PATCH", path + "/blue", R"({"metadata":{"labels":{"a":"b"}}})",
                   {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  CHECK(gate->Take().at(0).name == "blue/blue");
  const auto missing = (*server)->Call("GET", path + "/red");
  CHECK(missing.code == 404);
  CHECK(Contains(missing.body, R"(namespaces \"red\" not found)"));
  // Below a namespace are other resources.
  CHECK((*server)->Call("GET", path + "/blue/namespaces/blue").code == 404);
  CHECK((*server)->Call("DELETE", path + "/blue").code == 200);
  CHECK(gate->Take().at(0).name == "blue/blue");
}
