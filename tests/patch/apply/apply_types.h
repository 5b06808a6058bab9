#pragma once

#include "apiserver/patch/apply/updater.h"
#include "apiserver/runtime/schema.h"

// A kind with every sort of list, map and struct, for tests of patch.apply.
namespace apiserver::inline v0::testing {

inline runtime::SchemaPtr ApplySchema() {
  using namespace runtime;  // NOLINT: a list of builders.
  SchemaParts atomic_map(*MapOf(StringSchema()));
  atomic_map.atomic = true;
  const SchemaPtr port =
      StructBuilder("com.example.Port")
          .Field("port", IntegerSchema(32))
          .Field("protocol", StringSchema(), {.default_value = OwnedValue(Value::String("TCP"))})
          .Field("name", StringSchema())
          .Build();
  const SchemaPtr container = StructBuilder("com.example.Container")
                                  .Field("name", StringSchema())
                                  .Field("image", StringSchema())
                                  .Field("args", ListOf(StringSchema()))
                                  .Field("ports", ListMapOf(port, {"port", "protocol"}))
                                  .Build();
  const SchemaPtr spec = StructBuilder("com.example.Spec")
                             .Field("replicas", IntegerSchema(32))
                             .Field("labels", MapOf(StringSchema()))
                             .Field("atomic", MakeSchema(atomic_map))
                             .Field("set", SetOf(StringSchema()))
                             .Field("containers", ListMapOf(container, {"name"}))
                             .Field("any", AnySchema())
                             .Field("raw", RawExtensionSchema())
                             .Field("data", MapOf(BytesSchema()))
                             .Build();
  return StructBuilder("com.example.Thing")
      .Field("metadata", ObjectMetaSchema())
      .Field("spec", spec)
      .Field("inlined", StructBuilder("com.example.Inline").Field("extra", StringSchema()).Build(),
             {.inlined = true})
      .Build();
}

// One type for all versions but "gone".
class OneTypeConverter final : public patch::apply::Converter {
 public:
  explicit OneTypeConverter(const patch::apply::ParseableType& type) : type_(type) {}
  const patch::apply::ParseableType* TypeOf(std::string_view version) const override {
    return version == "gone" ? nullptr : &type_;
  }
  Result<runtime::Value> Convert(runtime::Value object, std::string_view, std::string_view,
                                 runtime::Arena&) const override {
    return object;
  }

 private:
  const patch::apply::ParseableType& type_;
};

}  // namespace apiserver::inline v0::testing
