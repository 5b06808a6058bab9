#include <utility>

#include "apiserver/registry/scale.h"
#include "registry/table_convertor.h"

namespace apiserver::v0::registry {
namespace {

using runtime::Field;

// Has the members and numbers of autoscaling/v1.Scale, which clients decode by their own type.
runtime::SchemaPtr ScaleSchema() {
  const auto spec =
      runtime::StructBuilder("io.k8s.api.autoscaling.v1.ScaleSpec", "What a scale asks for.")
          .Field("replicas", runtime::IntegerSchema(32),
                 {.description = "How many instances there should be.", .proto_number = 1})
          .Build();
  const auto status =
      runtime::StructBuilder("io.k8s.api.autoscaling.v1.ScaleStatus", "What a scale finds.")
          .Field("replicas", runtime::IntegerSchema(32),
                 {.description = "How many instances there are.",
                  .required = true,
                  .omit = Field::Omit::kNever,
                  .proto_number = 1})
          .Field("selector", runtime::StringSchema(),
                 {.description = "Selects the instances that are counted, in the form of the "
                                 "labelSelector parameter.",
                  .proto_number = 2})
          .Build();
  return runtime::StructBuilder("io.k8s.api.autoscaling.v1.Scale",
                                "How far a resource is scaled, and how far it should be.")
      .Field("metadata", runtime::ObjectMetaSchema(), {.proto_number = 1})
      .Field("spec", spec, {.description = "What is asked for.", .proto_number = 2})
      .Field("status", status,
             {.description = "What was found last. Read-only.", .proto_number = 3})
      .Build();
}

}  // namespace

runtime::KindPtr ScaleKind() {
  runtime::KindVersion version{.version = "v1", .schema = ScaleSchema()};
  version.columns = {
      {.name = "Desired",
       .type = "integer",
       .json_path = ".spec.replicas",
       .description = "Number of desired replicas"},
      {.name = "Available",
       .type = "integer",
       .json_path = ".status.replicas",
       .description = "Number of actual replicas"},
      {.name = "Age",
       .type = "date",
       .json_path = ".metadata.creationTimestamp",
       .description = std::string(kCreationTimestampDescription)},
  };
  runtime::KindOptions options{.group = "autoscaling",
                               .kind = "Scale",
                               .plural = "scales",
                               .versions = {std::move(version)}};
  // Its parts are constants, which Kind::New accepts.
  return runtime::Kind::New(std::move(options)).value();
}

}  // namespace apiserver::v0::registry
