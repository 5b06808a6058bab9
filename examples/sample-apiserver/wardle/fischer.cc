#include "wardle/fischer.h"

#include "wardle/flunder.h"

namespace wardle {

namespace {

using apiserver::Context;
using apiserver::field::ErrorList;
using apiserver::runtime::ListOf;
using apiserver::runtime::Object;
using apiserver::runtime::ObjectMetaSchema;
using apiserver::runtime::SchemaPtr;
using apiserver::runtime::StringSchema;
using apiserver::runtime::StructBuilder;

class FischerStrategy final : public apiserver::rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  bool RunsInline() const override { return true; }
  ErrorList Validate(const Context&, const Object&) const override { return {}; }
};

}  // namespace

apiserver::Result<apiserver::runtime::KindPtr> NewFischerKind() {
  const SchemaPtr schema =
      StructBuilder("com.example.wardle.v1alpha1.Fischer", "Says which Flunders may not be.")
          .Field("metadata", ObjectMetaSchema(), {.description = "Standard object metadata."})
          .Field("disallowedFlunders", ListOf(StringSchema()),
                 {.description = "The names that no Flunder may have."})
          .Build();
  return apiserver::runtime::Kind::New(
      {.group = kGroup,
       .kind = "Fischer",
       .plural = "fischers",
       .namespaced = false,
       .versions = {{.version = "v1alpha1",
                     .schema = schema,
                     // As in Go, where no other version replaces it.
                     .deprecation_warning = "wardle.example.com/v1alpha1 Fischer is "
                                            "deprecated in v1.3+, unavailable in v1.10+"}}});
}

std::shared_ptr<const apiserver::rest::Strategy> NewFischerStrategy() {
  return std::make_shared<FischerStrategy>();
}

}  // namespace wardle
