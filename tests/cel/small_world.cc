#include "cel/small_world.h"

#include <array>
#include <utility>

#include "apiserver/cel/schema_type.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"

namespace cel_test {
namespace {

namespace cel = apiserver::cel;
namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;

using cel::Type;
using cel::Value;

constexpr std::string_view kObject = R"({
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "web", "namespace": "default",
               "labels": {"app": "web", "app.kubernetes.io/name": "web"}},
  "spec": {"replicas": 3, "paused": false, "ratio": 1.5, "nothing": null,
           "template": {"spec": {"containers": [
             {"name": "a", "image": "registry.local/a:1", "ports": [{"port": 80}]},
             {"name": "b", "image": "registry.local/b@sha256:0123"},
             {"name": "c", "image": ""}]}}},
  "a": {"b": {"l": [1, 2, 3], "s": "1h"}}, "l": [3, 1, 2], "e": [], "m": {}})";

constexpr std::string_view kSchema = R"({
  "type": "object", "properties": {
    "s": {"type": "string", "maxLength": 20}, "n": {"type": "integer"}, "f": {"type": "number"},
    "on": {"type": "boolean"}, "maybe": {"type": "string", "nullable": true},
    "port": {"x-kubernetes-int-or-string": true}, "raw": {"type": "string", "format": "byte"},
    "at": {"type": "string", "format": "date-time"},
    "wait": {"type": "string", "format": "duration"},
    "list": {"type": "array", "maxItems": 20, "items": {"type": "integer"}},
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    "items": {"type": "array", "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
              "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "v": {"type": "integer"}}}},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "none": {"type": "array", "items": {"type": "string"}},
    "wrong": {"type": "array", "items": {"type": "integer"}},
    "nested": {"type": "object", "properties": {"dash-ed": {"type": "integer"}}},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})";

constexpr std::string_view kSelf = R"({
  "metadata": {"name": "w"}, "s": "hello", "n": 42, "f": 1.5, "on": true, "maybe": null, "port": 80,
  "raw": "YWJj", "at": "2024-02-29T12:30:45Z", "wait": "1h30m", "list": [3, 1, 2],
  "set": ["x", "y"], "items": [{"name": "one", "v": 1}, {"name": "two"}], "labels": {"k": "v"},
  "none": [], "wrong": ["x"], "nested": {"dash-ed": 3}, "free": {"a": 1}})";

}  // namespace

runtime::Value SmallWorld::Parse(std::string_view json) {
  return codec::ParseJson(json, data_).value();
}

void SmallWorld::Add(std::string name, std::string_view type, cel::Variable variable,
                     cel::Value value) {
  terms_.push_back({name, ParseShape(type)});
  variable.name = std::move(name);
  variables_.push_back(std::move(variable));
  inputs_.push_back({value});
}

void SmallWorld::AddScalars() {
  Add("b", "bool", {.name = "", .type = Type::Bool()}, Value::Bool(true));
  Add("i", "int", {.name = "", .type = Type::Int()}, Value::Int(7));
  Add("u", "uint", {.name = "", .type = Type::Uint()}, Value::Uint(9));
  Add("d", "double", {.name = "", .type = Type::Double()}, Value::Double(2.5));
  Add("s", "string", {.name = "", .type = Type::String()}, Value::String("Rook takes 👑"));
  Add("y", "bytes", {.name = "", .type = Type::Bytes()}, Value::Bytes("a\xff"));
  Add("t", "timestamp", {.name = "", .type = Type::Timestamp()},
      Value::Timestamp({.seconds = 1'709'209'845, .nanoseconds = 123'000'000}));
  Add("r", "duration", {.name = "", .type = Type::Duration()}, Value::Duration(90'000'000'000));
}

void SmallWorld::AddData() {
  const auto data = [&](std::string_view json) {
    return Value::FromData(Parse(json), nullptr, views_);
  };
  Add("o", "dyn", {.name = "", .type = Type::Dyn()}, data(kObject));
  Add("l", "list(int)", {.name = "", .type = Type::List(Type::Int())}, data("[3, 1, 2]"));
  Add("ls", "list(string)", {.name = "", .type = Type::List(Type::String())},
      data(R"(["b", "a", "10.0.0.1", ""])"));
  Add("ll", "list(list(int))", {.name = "", .type = Type::List(Type::List(Type::Int()))},
      data("[[1, 2], [], [3]]"));
  Add("m", "map(string, int)", {.name = "", .type = Type::Map(Type::String(), Type::Int())},
      data(R"({"a": 1, "k": 2})"));
  Add("ms", "map(string, string)", {.name = "", .type = Type::Map(Type::String(), Type::String())},
      data(R"({"k": "v", "app.kubernetes.io/name": "web"})"));
}

void SmallWorld::AddSelf() {
  const runtime::SchemaPtr schema =
      cel::WithTypeAndObjectMeta(codec::SchemaFromOpenApi(Parse(kSchema)).value(), true);
  const Value self = Value::FromData(Parse(kSelf), schema.get(), views_);
  Add("self", "self",
      {.name = "", .type = cel::TypeOfSchema(*schema, "selfType").value(), .schema = schema}, self);
  constexpr std::array<std::pair<const char*, const char*>, 18> kParts = {
      {{"self.s", "string"},
       {"self.n", "int"},
       {"self.f", "double"},
       {"self.on", "bool"},
       {"self.maybe", "string"},
       {"self.port", "dyn"},
       {"self.raw", "bytes"},
       {"self.at", "timestamp"},
       {"self.wait", "duration"},
       {"self.list", "list(int)"},
       {"self.set", "list(string)"},
       {"self.items.map(q, q.name)", "list(string)"},
       {"self.labels", "map(string, string)"},
       {"self.nested.dash__dash__ed", "int"},
       {"self.free == self.free", "bool"},
       {"self.?maybe", "optional_type(string)"},
       {"o.a.b.l", "dyn"},
       {"o.spec.replicas", "dyn"}}};
  for (const auto& [text, type] : kParts) terms_.push_back({text, ParseShape(type)});
}

SmallWorld::SmallWorld() {
  AddScalars();
  AddData();
  AddSelf();
}

}  // namespace cel_test
