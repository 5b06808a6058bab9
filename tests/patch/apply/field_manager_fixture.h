#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/patch/apply/field_manager.h"
#include "apiserver/patch/apply/managed_fields.h"
#include "catch2/catch.hpp"

// What upstream's tests of managed fields are written with: an object that one FieldManager after
// another changes, of kinds that look like the built-in ones as far as the cases go.
namespace apiserver::inline v0::test {

using namespace patch::apply;
using runtime::Value;

class SteppedClock final : public Clock {
 public:
  Monotonic Now() const override { return {}; }
  Wall WallNow() const override { return now_; }
  void Step() { now_ += std::chrono::seconds(2); }

 private:
  Wall now_{std::chrono::seconds(1'600'000'000)};  // 2020-09-13T12:26:40Z
};

inline runtime::SchemaPtr Atomic(const runtime::SchemaPtr& schema) {
  runtime::SchemaParts atomic(*schema);
  atomic.atomic = true;
  return MakeSchema(atomic);
}

inline runtime::SchemaPtr WithMetadata(const runtime::SchemaPtr& spec,
                                       const runtime::SchemaPtr& status = nullptr) {
  runtime::StructBuilder builder("");
  builder.Field("metadata", runtime::ObjectMetaSchema()).Field("spec", spec);
  if (status != nullptr) builder.Field("status", status);
  return builder.Build();
}

inline runtime::SchemaPtr PodSpec() {
  using namespace runtime;
  const SchemaPtr text = StringSchema();
  const SchemaPtr port =
      StructBuilder("")
          .Field("containerPort", IntegerSchema(32))
          .Field("name", text)
          .Field("protocol", text, {.default_value = OwnedValue(Value::String("TCP"))})
          .Build();
  const SchemaPtr container = StructBuilder("")
                                  .Field("name", text)
                                  .Field("image", text)
                                  .Field("args", ListOf(text))
                                  .Field("command", ListOf(text))
                                  .Field("ports", ListMapOf(port, {"containerPort", "protocol"}))
                                  .Build();
  return StructBuilder("")
      .Field("containers", ListMapOf(container, {"name"}))
      .Field("nodeName", text)
      .Field("nodeSelector", Atomic(MapOf(text)))
      .Build();
}

inline runtime::SchemaPtr DeploymentSchema() {
  using namespace runtime;
  const SchemaPtr selector =
      Atomic(StructBuilder("").Field("matchLabels", MapOf(StringSchema())).Build());
  const SchemaPtr pod =
      StructBuilder("").Field("metadata", ObjectMetaSchema()).Field("spec", PodSpec()).Build();
  const SchemaPtr spec = StructBuilder("")
                             .Field("replicas", IntegerSchema(32))
                             .Field("selector", selector)
                             .Field("template", pod)
                             .Build();
  const SchemaPtr status = StructBuilder("").Field("readyReplicas", IntegerSchema(32)).Build();
  return WithMetadata(spec, status);
}

inline runtime::SchemaPtr ServiceSchema() {
  using namespace runtime;
  const SchemaPtr port =
      StructBuilder("")
          .Field("name", StringSchema())
          .Field("port", IntegerSchema(32))
          .Field("protocol", StringSchema(), {.default_value = OwnedValue(Value::String("TCP"))})
          .Field("targetPort", IntOrStringSchema())
          .Build();
  return WithMetadata(StructBuilder("")
                          .Field("ports", ListMapOf(port, {"port", "protocol"}))
                          .Field("selector", Atomic(MapOf(StringSchema())))
                          .Build());
}

inline runtime::SchemaPtr ReplicationControllerSchema() {
  using namespace runtime;
  return WithMetadata(StructBuilder("")
                          .Field("replicas", IntegerSchema(32))
                          .Field("selector", Atomic(MapOf(StringSchema())))
                          .Build());
}

inline runtime::SchemaPtr ConfigMapSchema() {
  using namespace runtime;
  return StructBuilder("")
      .Field("metadata", ObjectMetaSchema())
      .Field("data", MapOf(StringSchema()))
      .Build();
}

// Of versions with one schema; the first is the hub.
inline runtime::KindPtr MakeKind(std::string group, std::string name, std::string plural,
                                 const runtime::SchemaPtr& schema,
                                 const std::vector<std::string>& versions = {"v1"}) {
  runtime::KindOptions options{.group = std::move(group),
                               .kind = std::move(name),
                               .plural = std::move(plural),
                               .semantics = runtime::Semantics::kCustomResource,
                               .versions = {}};
  for (const std::string& version : versions) {
    options.versions.push_back({.version = version, .schema = schema});
  }
  auto kind = runtime::Kind::New(std::move(options));
  INFO(kind.status().ToString());
  REQUIRE(kind.ok());
  return *kind;
}
inline runtime::KindPtr DeploymentKind() {
  return MakeKind("apps", "Deployment", "deployments", DeploymentSchema());
}
inline runtime::KindPtr PodKind() { return MakeKind("", "Pod", "pods", WithMetadata(PodSpec())); }
inline runtime::KindPtr ConfigMapKind() {
  return MakeKind("", "ConfigMap", "configmaps", ConfigMapSchema());
}

class TestFieldManager {
 public:
  struct Options {
    std::string version = "v1";
    std::string subresource = "";
    FieldFilters reset_fields = {};
    std::size_t update_managers_max = kUpdateManagersMax;
  };
  explicit TestFieldManager(runtime::KindPtr kind) : TestFieldManager(std::move(kind), Options()) {}
  TestFieldManager(runtime::KindPtr kind, Options options)
      : kind_(kind),
        version_(options.version),
        manager_({.types = std::make_shared<TypeConverter>(kind),
                  .version = options.version,
                  .subresource = options.subresource,
                  .reset_fields = options.reset_fields,
                  .update_managers_max = options.update_managers_max,
                  .clock = &clock_}),
        live_(std::make_shared<runtime::Object>(kind, kind->hub_version())) {}

  void Reset() { live_ = std::make_shared<runtime::Object>(kind_, kind_->hub_version()); }
  SteppedClock& clock() { return clock_; }
  const runtime::Object& live() const { return *live_; }

  // `yaml` is what the object becomes; its owners count if it has any.
  void Update(std::string_view yaml, std::string_view manager) { Update(Parse(yaml), manager); }
  void Update(std::unique_ptr<runtime::Object> object, std::string_view manager) {
    manager_.Update(Context::Background(), live_.get(), *object, manager);
    live_ = std::move(object);
  }
  Status Apply(std::string_view yaml, std::string_view manager, bool force = false) {
    auto applied = std::make_shared<AppliedConfiguration>();
    const auto root = codec::ParseYaml(yaml, applied->arena);
    INFO(yaml << root.status().ToString());
    REQUIRE(root.ok());
    applied->root = *root;
    auto object = manager_.Apply(Context::Background(), live_, applied, manager, force);
    if (object.ok()) live_ = *std::move(object);
    return object.status();
  }

  std::unique_ptr<runtime::Object> Parse(std::string_view yaml) const {
    runtime::Arena arena;
    const auto root = codec::ParseYaml(yaml, arena);
    INFO(yaml << root.status().ToString());
    REQUIRE(root.ok());
    const Value content =
        runtime::Without(runtime::Without(*root, "apiVersion", arena), "kind", arena);
    return std::make_unique<runtime::Object>(kind_, version_, std::move(arena), content);
  }

  Value managed_fields() const { return live_->metadata()["managedFields"]; }
  std::string ManagedJson() const {
    std::string json;
    codec::AppendJson(managed_fields(), json);
    return json;
  }
  std::string LiveJson() const {
    std::string json;
    codec::AppendJson(live_->root(), json);
    return json;
  }
  // Of the entries, in their order.
  std::vector<std::string> Managers() const {
    std::vector<std::string> managers;
    for (const Value entry : managed_fields().items()) {
      managers.emplace_back(entry["manager"].AsString());
    }
    return managers;
  }
  // The fields of the first entry of `manager`; empty: it has none.
  std::string FieldsOf(std::string_view manager) const { return Of(manager, "fieldsV1"); }
  std::string TimeOf(std::string_view manager) const { return Of(manager, "time"); }
  std::string LastApplied() const {
    return std::string(live_->annotations()[kLastAppliedConfigAnnotation].AsString());
  }

 private:
  std::string Of(std::string_view manager, std::string_view member) const {
    for (const Value entry : managed_fields().items()) {
      if (entry["manager"].AsString() == manager) return std::string(entry[member].AsString());
    }
    return "";
  }

  SteppedClock clock_;
  runtime::KindPtr kind_;
  std::string version_;
  FieldManager manager_;
  runtime::ObjectPtr live_;
};

inline std::vector<std::string> ConflictFields(const Status& status) {
  std::vector<std::string> fields;
  if (status.details() == nullptr) return fields;
  for (const StatusCause& cause : status.details()->causes) fields.push_back(cause.field);
  return fields;
}

}  // namespace apiserver::inline v0::test
