#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema.h"

// A small namespaced kind for tests of layers above objects: widgets.test.example.com/v1 with
// spec.color (a selectable field), spec.size and status.phase. Header only; any thread.
namespace apiserver::inline v0::testing {

// Makes the kind; each call makes another one.
inline runtime::KindPtr NewWidgetKind() {
  const runtime::SchemaPtr spec = runtime::StructBuilder("test.WidgetSpec")
                                      .Field("color", runtime::StringSchema())
                                      .Field("size", runtime::IntegerSchema(64))
                                      .Build();
  const runtime::SchemaPtr status =
      runtime::StructBuilder("test.WidgetStatus").Field("phase", runtime::StringSchema()).Build();
  runtime::KindOptions options;
  options.group = "test.example.com";
  options.kind = "Widget";
  options.plural = "widgets";
  options.short_names = {"wd"};
  options.categories = {"all"};
  runtime::KindVersion version;
  version.version = "v1";
  version.schema = runtime::StructBuilder("test.Widget")
                       .Field("metadata", runtime::ObjectMetaSchema())
                       .Field("spec", spec)
                       .Field("status", status)
                       .Build();
  options.versions = {version};
  options.selectable_fields = {"spec.color"};
  return *runtime::Kind::New(std::move(options));
}

// Makes an object with the uid "uid-<name>". Empty `space`: no namespace.
inline std::unique_ptr<runtime::Object> NewWidget(const runtime::KindPtr& kind,
                                                  std::string_view name,
                                                  std::string_view space = "ns") {
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  object->Edit("metadata", "name") = name;
  if (!space.empty()) object->Edit("metadata", "namespace") = space;
  object->Edit("metadata", "uid") = "uid-" + std::string(name);
  return object;
}

}  // namespace apiserver::inline v0::testing
