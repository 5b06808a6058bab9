#include "apiserver/meta/partial_object_metadata.h"

#include <cassert>
#include <utility>

#include "apiserver/runtime/schema.h"

namespace apiserver::v0::meta {
namespace {

runtime::KindPtr NewKind() {
  const runtime::SchemaPtr schema =
      runtime::StructBuilder("io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata",
                             "PartialObjectMetadata is a generic representation of any object "
                             "with ObjectMeta.")
          .Field("metadata", runtime::ObjectMetaSchema(), {.proto_number = 1})
          .Build();
  runtime::KindOptions options;
  options.group = "meta.k8s.io";
  options.kind = "PartialObjectMetadata";
  options.plural = "partialobjectmetadatas";
  options.versions.push_back({.version = "v1", .schema = schema});
  options.versions.push_back({.version = "v1beta1", .schema = schema});
  Result<runtime::KindPtr> kind = runtime::Kind::New(std::move(options));
  assert(kind.ok());
  return std::move(kind).value();
}

}  // namespace

const runtime::KindPtr& PartialObjectMetadataKind() {
  static const runtime::KindPtr kind = NewKind();
  return kind;
}

std::unique_ptr<runtime::Object> PartialObjectMetadataOf(const runtime::Object& object) {
  runtime::Arena arena;
  runtime::MapBuilder content(arena);
  const runtime::Value metadata = object.metadata();
  if (!metadata.is_null()) content.Add("metadata", runtime::Copy(metadata, arena));
  const runtime::Value root = content.Build();
  return std::make_unique<runtime::Object>(PartialObjectMetadataKind(), "v1", std::move(arena),
                                           root);
}

}  // namespace apiserver::v0::meta
