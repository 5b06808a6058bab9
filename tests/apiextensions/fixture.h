#pragma once

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/apiextensions/apiextensions.h"
#include "apiserver/codec/json.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/eventually.h"
#include "apiserver/testing/server/test_server.h"
#include "contains.h"
#include "watch_lines.h"

// A server of custom resources, and the words in which tests talk to it.
namespace apiserver::inline v0::testing {

inline constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// A JSON answer.
class Answer {
 public:
  explicit Answer(const http::ClientResponse& response)
      : code(response.code), headers(response.headers) {
    body = response.body;
    auto parsed = codec::ParseJson(arena_.Copy(body), arena_);
    if (parsed.ok()) root = *parsed;
  }
  runtime::Value operator[](std::string_view key) const { return root[key]; }
  std::string message() const { return std::string(root["message"].AsString()); }

  int code = 0;
  http::Headers headers;
  std::string body;
  runtime::Value root;

 private:
  runtime::Arena arena_;
};

// A definition with one namespaced version v1, whose spec has a color and a number.
inline std::string FooDefinition(const std::string& version = R"("subresources":{"status":{}},)",
                                 const std::string& more = "") {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)" +
         more + R"("names":{"plural":"foos","singular":"foo","kind":"Foo","listKind":"FooList",
"shortNames":["fo"]},"versions":[{"name":"v1","served":true,"storage":true,)" +
         version + R"("schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"color":{"type":"string"},"number":{"type":"integer"},
"replicas":{"type":"integer"}}},
"status":{"type":"object","properties":{"phase":{"type":"string"},
"replicas":{"type":"integer"}}}}}}}]}})";
}

class CustomServer {
 public:
  explicit CustomServer(TestServerOptions options = {}) {
    options.install = [this](server::GenericAPIServer& api) -> Status {
      auto installed = apiextensions::Install(api, api.Storage(*engine()));
      if (!installed.ok()) return installed.status();
      custom = *std::move(installed);
      return {};
    };
    if (options.engine == nullptr) options.engine = own_engine_.get();
    engine_ = options.engine;
    auto started = StartTestServer(std::move(options));
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server = *std::move(started);
  }

  storage::kv::Engine* engine() { return engine_; }
  Answer Call(std::string method, std::string target, std::string body = "",
              http::Headers headers = {}) const {
    return Answer(
        server->Call(std::move(method), std::move(target), std::move(body), std::move(headers)));
  }
  Answer Get(const std::string& target) const { return Call("GET", target); }
  Answer Patch(const std::string& target, const std::string& body) const {
    return Call("PATCH", target, body, {{"Content-Type", "application/merge-patch+json"}});
  }
  Answer Apply(const std::string& target, const std::string& body,
               const std::string& query = "fieldManager=m") const {
    return Call("PATCH", target + "?" + query, body,
                {{"Content-Type", "application/apply-patch+yaml"}});
  }

  // Returns a condition of a definition: "True/Reason/message", empty if it has none.
  std::string Condition(const std::string& name, std::string_view type) const {
    const Answer answer = Get(std::string(kDefinitions) + "/" + name);
    for (const runtime::Value& each : answer["status"]["conditions"].items()) {
      if (each["type"].AsString() != type) continue;
      return std::string(each["status"].AsString()) + "/" + std::string(each["reason"].AsString()) +
             "/" + std::string(each["message"].AsString());
    }
    return "";
  }
  bool IsEstablished(const std::string& name) const {
    return Condition(name, "Established").starts_with("True/");
  }
  // Creates a definition and waits until it is established.
  void Define(const std::string& definition, const std::string& name = "foos.example.com") const {
    const Answer created = Call("POST", kDefinitions, definition);
    INFO(created.body);
    REQUIRE(created.code == 201);
    REQUIRE(Eventually([&] { return IsEstablished(name); }));
  }

 private:
  std::unique_ptr<storage::kv::Engine> own_engine_ = storage::memory::NewEngine();
  storage::kv::Engine* engine_ = nullptr;

 public:
  std::unique_ptr<apiextensions::CustomResources> custom;
  std::unique_ptr<TestServer> server;
};

inline constexpr char kFoos[] = "/apis/example.com/v1/namespaces/default/foos";

inline std::string Foo(const std::string& name, const std::string& spec = R"({"color":"red"})",
                       const std::string& more = "") {
  return R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":")" + name +
         R"("},"spec":)" + spec + more + "}";
}

}  // namespace apiserver::inline v0::testing
