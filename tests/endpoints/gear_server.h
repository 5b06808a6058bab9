#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/registry/scale.h"
#include "apiserver/rest/status.h"
#include "apiserver/testing/server/fake_clock.h"
#include "widget_server.h"

// A kind with lists of each type, in two versions, with status and scale: what tests of server-side
// apply write to.
namespace apiserver::inline v0::testing {

using runtime::Value;

inline constexpr std::string_view kGears = "/apis/example.com/v1/namespaces/default/gears";
inline const http::Headers kApply{{"Content-Type", "application/apply-patch+yaml"}};
inline const http::Headers kMerge{{"Content-Type", "application/merge-patch+json"}};
inline const http::Headers kJsonPatch{{"Content-Type", "application/json-patch+json"}};

class GearStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  void PrepareForCreate(const Context&, runtime::Object& gear) const override {
    gear.Erase("status");
  }
  void PrepareForUpdate(const Context&, runtime::Object& gear,
                        const runtime::Object& old) const override {
    rest::KeepStatus(gear, old);
  }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
  rest::ResetFields GetResetFields() const override;
  bool AllowUnconditionalUpdate() const override { return true; }
};

inline runtime::SchemaPtr GearSchema(const std::string& replicas) {
  using namespace runtime;
  const SchemaPtr text = StringSchema();
  SchemaParts selector(*MapOf(text));
  selector.atomic = true;
  const SchemaPtr port =
      StructBuilder("")
          .Field("port", IntegerSchema(32), {.required = true, .omit = Field::Omit::kNever})
          .Field("protocol", text, {.default_value = OwnedValue(Value::String("TCP"))})
          .Field("name", text)
          .Build();
  const SchemaPtr spec = StructBuilder("")
                             .Field(replicas, IntegerSchema(32),
                                    {.presence = Field::Presence::kPointer,
                                     .default_value = OwnedValue(Value::Int(1))})
                             .Field("image", text)
                             .Field("ports", ListMapOf(port, {"port", "protocol"}))
                             .Field("tags", SetOf(text))
                             .Field("args", ListOf(text))
                             .Field("selector", MakeSchema(selector))
                             .Build();
  const SchemaPtr status = StructBuilder("")
                               .Field("ready", IntegerSchema(32))
                               .Field("replicas", IntegerSchema(32))
                               .Build();
  return StructBuilder("")
      .Field("metadata", ObjectMetaSchema())
      .Field("spec", spec)
      .Field("status", status)
      .Build();
}

// v1 calls the field `replicas`, v1beta1 `count`.
inline runtime::KindPtr GearKind() {
  const auto rename = [](const char* from, const char* to) {
    return [from, to](runtime::Object& gear) -> Status {
      const Value value = gear["spec"][from];
      gear.Erase("spec", from);
      if (!value.is_null()) gear.Edit("spec", to) = value;
      return {};
    };
  };
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Gear",
                             .plural = "gears",
                             .versions = {{.version = "v1", .schema = GearSchema("replicas")},
                                          {.version = "v1beta1",
                                           .schema = GearSchema("count"),
                                           .to_hub = rename("count", "replicas"),
                                           .from_hub = rename("replicas", "count")}}})
      .value();
}

// What an answer holds.
struct Answer {
  int code = 0;
  std::string body;
  http::Headers headers;
  std::shared_ptr<runtime::Arena> arena = std::make_shared<runtime::Arena>();
  Value object;

  std::string Json(Value value) const {
    std::string json;
    codec::AppendJson(value, json);
    return json;
  }
  std::string spec() const { return Json(object["spec"]); }
  std::string managed() const { return Json(object["metadata"]["managedFields"]); }
  std::string revision() const {
    return std::string(object["metadata"]["resourceVersion"].AsString());
  }
  std::string message() const { return std::string(object["message"].AsString()); }
  // "manager:operation" of each entry.
  std::vector<std::string> managers() const {
    std::vector<std::string> names;
    for (const Value entry : object["metadata"]["managedFields"].items()) {
      names.push_back(std::string(entry["manager"].AsString()) + ":" +
                      std::string(entry["operation"].AsString()));
    }
    return names;
  }
};

inline rest::ResetFields GearStrategy::GetResetFields() const {
  return rest::StatusFields(*GearKind());
}

class Gears {
 public:
  explicit Gears(std::vector<std::shared_ptr<const admission::Plugin>> admission = {}) {
    TestServerOptions options;
    const auto strategy = std::make_shared<GearStrategy>();
    TestResource gears{.kind = GearKind(), .strategy = strategy};
    gears.subresources["status"] = [=](std::shared_ptr<registry::Store> store) {
      return registry::NewStatusStore(std::move(store),
                                      rest::NewStatusStrategy(strategy, GearKind()));
    };
    gears.subresources["scale"] = [](std::shared_ptr<registry::Store> store) {
      return registry::NewScaleStore(std::move(store), {});
    };
    options.resources = {std::move(gears)};
    options.admission = std::move(admission);
    options.clock = &clock_;
    server_ = StartTestServer(std::move(options)).value();
  }

  Answer Call(std::string method, const std::string& path, std::string body = "",
              http::Headers headers = {}) {
    const auto got = server_->Call(std::move(method), std::string(kGears) + path, std::move(body),
                                   std::move(headers));
    Answer answer{.code = got.code, .body = got.body, .headers = got.headers};
    const auto parsed = codec::ParseJson(answer.body, *answer.arena);
    // The text moves with the answer: what is parsed must not borrow it.
    if (parsed.ok()) answer.object = runtime::Copy(*parsed, *answer.arena);
    INFO(answer.body);
    CHECK(answer.code != 0);
    return answer;
  }
  Answer Apply(const std::string& body, const std::string& manager, const std::string& more = "") {
    return Call("PATCH", "/a?fieldManager=" + manager + more, body, kApply);
  }
  Answer Get() { return Call("GET", "/a"); }
  void Later() { clock_.Advance(std::chrono::seconds(5)); }
  TestServer& server() { return *server_; }

 private:
  FakeClock clock_;
  std::unique_ptr<TestServer> server_;
};

inline std::string Gear(const std::string& spec, const std::string& metadata = R"("name":"a")") {
  return R"({"apiVersion":"example.com/v1","kind":"Gear","metadata":{)" + metadata +
         R"(},"spec":{)" + spec + "}}";
}

using Strings = std::vector<std::string>;

}  // namespace apiserver::inline v0::testing
