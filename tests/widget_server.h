#pragma once

#include <memory>
#include <string>
#include <utility>

#include "apiserver/testing/server/test_server.h"
#include "contains.h"

// A server for one namespaced kind in two versions, for tests of what stands in front of storage.
namespace apiserver::inline v0::testing {

class WidgetStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object& widget) const override {
    field::ErrorList errors;
    if (widget["spec"]["size"].AsInt() > 10) {
      errors.InvalidPrinted(field::Path("spec.size"),
                            std::to_string(widget["spec"]["size"].AsInt()), "must be at most 10");
    }
    return errors;
  }
  std::vector<std::string> WarningsOnCreate(const Context&,
                                            const runtime::Object& widget) const override {
    if (widget["spec"]["size"].AsInt() == 7) return {"seven is a magic size"};
    return {};
  }
};

inline runtime::SchemaPtr WidgetSchema(const std::string& version, const std::string& size) {
  const auto spec = runtime::StructBuilder("com.example." + version + ".WidgetSpec", "The spec.")
                        .Field(size, runtime::IntegerSchema(32), {.description = "In metres."})
                        .Field("color", runtime::StringSchema())
                        .Build();
  return runtime::StructBuilder("com.example." + version + ".Widget", "A widget.")
      .Field("metadata", runtime::ObjectMetaSchema())
      .Field("spec", spec)
      .Build();
}

// v1 calls the field `size`, v1alpha1 `length`.
inline runtime::KindPtr WidgetKind() {
  const auto rename = [](const char* from, const char* to) {
    return [from, to](runtime::Object& widget) -> Status {
      const runtime::Value value = widget["spec"][from];
      widget.Erase("spec", from);
      if (!value.is_null()) widget.Edit("spec", to) = value;
      return {};
    };
  };
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Widget",
                             .plural = "widgets",
                             .short_names = {"wd"},
                             .versions = {{.version = "v1", .schema = WidgetSchema("v1", "size")},
                                          {.version = "v1alpha1",
                                           .schema = WidgetSchema("v1alpha1", "length"),
                                           .to_hub = rename("length", "size"),
                                           .from_hub = rename("size", "length")}},
                             .selectable_fields = {"spec.color"}})
      .value();
}

// `functions_inline`: whether the kind's functions may run on a loop.
inline std::unique_ptr<TestServer> StartWidgetServer(TestServerOptions options = {},
                                                     bool functions_inline = true) {
  options.resources = {{.kind = WidgetKind(),
                        .strategy = std::make_shared<WidgetStrategy>(),
                        .configure = [functions_inline](registry::StoreOptions& store) {
                          store.functions_inline = functions_inline;
                        }}};
  return std::move(StartTestServer(std::move(options))).value();
}

inline constexpr char kWidgets[] = "/apis/example.com/v1/namespaces/default/widgets";
inline const std::string kWidgetA = std::string(kWidgets) + "/a";

inline std::string Widget(const std::string& name, int size) {
  return R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")" + name +
         R"("},"spec":{"size":)" + std::to_string(size) + "}}";
}

}  // namespace apiserver::inline v0::testing
