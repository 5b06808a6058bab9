#include "wardle/flunder.h"

#include <string>
#include <string_view>

#include "apiserver/runtime/view.h"

namespace wardle {

namespace {

using apiserver::Context;
using apiserver::Status;
using apiserver::field::ErrorList;
using apiserver::field::Path;
using apiserver::runtime::Field;
using apiserver::runtime::MapBuilder;
using apiserver::runtime::Object;
using apiserver::runtime::ObjectMetaSchema;
using apiserver::runtime::SchemaPtr;
using apiserver::runtime::StringSchema;
using apiserver::runtime::StructBuilder;
using apiserver::runtime::Value;
using apiserver::runtime::View;

constexpr std::string_view kFlunder = "Flunder";
constexpr std::string_view kFischer = "Fischer";

std::string Name(std::string_view version, std::string_view type) {
  return "com.example.wardle." + std::string(version) + "." + std::string(type);
}

SchemaPtr FlunderSchema(std::string_view version, SchemaPtr spec) {
  const SchemaPtr status =
      StructBuilder(Name(version, "FlunderStatus"), "What became of a Flunder.").Build();
  return StructBuilder(Name(version, "Flunder"), "An example type with a reference.")
      .Field("metadata", ObjectMetaSchema(), {.description = "Standard object metadata."})
      .Field("spec", std::move(spec), {.description = "What the Flunder should be."})
      .Field("status", status, {.description = "What became of it."})
      .Build();
}

SchemaPtr V1Alpha1Schema() {
  return FlunderSchema(
      "v1alpha1", StructBuilder(Name("v1alpha1", "FlunderSpec"), "What a Flunder should be.")
                      .Field("reference", StringSchema(),
                             {.description = "The name of the Flunder or Fischer it refers to."})
                      .Field("referenceType", StringSchema(),
                             {.description = "What it refers to: Flunder (default) or Fischer.",
                              .presence = Field::Presence::kPointer})
                      .Build());
}

SchemaPtr V1Beta1Schema() {
  return FlunderSchema("v1beta1",
                       StructBuilder(Name("v1beta1", "FlunderSpec"), "What a Flunder should be.")
                           .Field("flunderReference", StringSchema(),
                                  {.description = "The name of the Flunder it refers to."})
                           .Field("fischerReference", StringSchema(),
                                  {.description = "The name of the Fischer it refers to."})
                           .Field("referenceType", StringSchema(),
                                  {.description = "What it refers to: Flunder or Fischer."})
                           .Build());
}

void SetV1Alpha1Defaults(Object& flunder) {
  const Value spec = flunder["spec"];
  if (spec["referenceType"].AsString().empty() && !spec["reference"].AsString().empty()) {
    flunder.Edit("spec", "referenceType") = kFlunder;
  }
}

// One reference becomes two; a type that is neither loses both, as in the original.
Status ToV1Beta1(Object& flunder) {
  const Value spec = flunder["spec"];
  const std::string_view type = spec["referenceType"].AsString();
  MapBuilder hub(flunder.arena());
  if (type == kFlunder || type == kFischer) {
    if (!spec["reference"].AsString().empty()) {
      hub.Add(type == kFlunder ? "flunderReference" : "fischerReference", spec["reference"]);
    }
    hub.Add("referenceType", spec["referenceType"]);
  }
  flunder.SetPath({"spec"}, hub.Build());
  return {};
}

Status FromV1Beta1(Object& flunder) {
  const Value spec = flunder["spec"];
  const std::string_view type = spec["referenceType"].AsString();
  MapBuilder old(flunder.arena());
  if (type == kFlunder || type == kFischer) {
    const Value reference = spec[type == kFlunder ? "flunderReference" : "fischerReference"];
    if (!reference.AsString().empty()) old.Add("reference", reference);
    old.Add("referenceType", spec["referenceType"]);
  }
  flunder.SetPath({"spec"}, old.Build());
  return {};
}

// Reads through a View: a misspelt path fails the tests in a build with assertions.
ErrorList ValidateReferences(const View& spec) {
  const std::string_view flunder = spec["flunderReference"].AsString();
  const std::string_view fischer = spec["fischerReference"].AsString();
  const std::string_view type = spec["referenceType"].AsString();
  const Path flunder_path("spec.flunderReference");
  const Path fischer_path("spec.fischerReference");
  ErrorList errors;
  if (!flunder.empty() && !fischer.empty()) {
    errors.Invalid(fischer_path, fischer, "cannot be set with flunderReference at the same time");
  } else if (!flunder.empty() && type != kFlunder) {
    errors.Invalid(flunder_path, flunder, "cannot be set if referenceType is not Flunder");
  } else if (!fischer.empty() && type != kFischer) {
    errors.Invalid(fischer_path, fischer, "cannot be set if referenceType is not Fischer");
  } else if (fischer.empty() && type == kFischer) {
    errors.Invalid(fischer_path, fischer, "cannot be empty if referenceType is Fischer");
  } else if (flunder.empty() && type == kFlunder) {
    errors.Invalid(flunder_path, flunder, "cannot be empty if referenceType is Flunder");
  }
  if (!type.empty() && type != kFischer && type != kFlunder) {
    errors.Invalid(Path("spec.referenceType"), type, "must be Flunder or Fischer");
  }
  return errors;
}

class FlunderStrategy final : public apiserver::rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  // It looks at a few fields.
  bool RunsInline() const override { return true; }

  ErrorList Validate(const Context&, const Object& flunder) const override {
    return ValidateReferences(View(flunder)["spec"]);
  }

  // As the original, which checks on create only.
  ErrorList ValidateUpdate(const Context&, const Object&, const Object&) const override {
    return {};
  }
};

}  // namespace

apiserver::Result<apiserver::runtime::KindPtr> NewFlunderKind() {
  return apiserver::runtime::Kind::New(
      {.group = kGroup,
       .kind = "Flunder",
       .plural = "flunders",
       .versions = {{.version = "v1beta1", .schema = V1Beta1Schema()},
                    {.version = "v1alpha1",
                     .schema = V1Alpha1Schema(),
                     .deprecation_warning =
                         "wardle.example.com/v1alpha1 Flunder is deprecated in v1.3+, unavailable "
                         "in v1.10+",
                     .set_defaults = &SetV1Alpha1Defaults,
                     .to_hub = &ToV1Beta1,
                     .from_hub = &FromV1Beta1}},
       .hub_version = "v1beta1",
       .storage_version = "v1alpha1"});
}

std::shared_ptr<const apiserver::rest::Strategy> NewFlunderStrategy() {
  return std::make_shared<FlunderStrategy>();
}

}  // namespace wardle
