#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"

// Schemas from `.proto`. A message becomes a Schema by its definition in the file, by Kubernetes'
// markers in its comments, and by the options of apiserver/codec/schema.proto, which also has the
// defaults. The CMake function apiserver_add_api() turns files into descriptors.
//
// A line of a comment that begins with `+` is a marker, `+name` or `+name=value`. Understood are,
// with what they mean to Kubernetes' generators:
//
//   optional, required, nullable, default (JSON), listType, listMapKey, mapType, structType,
//   patchStrategy, patchMergeKey, enum (`A;B`)
//   minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength,
//   pattern, format, minItems, maxItems, uniqueItems, minProperties, maxProperties, enum, and the
//   same after `items:` for what a list or map holds
//
// the first also as `k8s:optional` and `kubebuilder:validation:Optional`, the second as
// `k8s:minimum`, `k8s:validation:minimum` or `kubebuilder:validation:Minimum`. Other markers are
// passed by. What else a comment says is the description, its lines joined as Kubernetes'
// generators do; `TODO` lines and what follows a line `---` are left out. What limits values is
// shown in OpenAPI, and checked by the kind's store (registry::StoreOptions::validate_schema).
namespace apiserver::inline v0::codec {

// The schemas of the messages of a FileDescriptorSet. Immutable; copies are cheap to share by
// reference. Nothing is registered with protobuf's own pools.
class ProtoSchemas {
 public:
  // Loads schemas. `descriptor_set` is a serialized google.protobuf.FileDescriptorSet with all
  // imports and, for descriptions and markers, source info; it is not kept. kInvalid: it is
  // malformed, or a file lacks an import.
  static Result<ProtoSchemas> Load(std::string_view descriptor_set);

  // Returns the schema of a message by its full name: "k8s.io.api.core.v1.Pod". A kind's own
  // message has `metadata` (ObjectMeta) as its first field and neither kind nor apiVersion, and is
  // then a KindVersion::schema. kNotFound: there is no such message. kInvalid: it has something
  // that Kubernetes' objects cannot have; the message names the culprit, "example.v1.Gadget.shape:
  // …".
  Result<runtime::SchemaPtr> Find(std::string_view message) const;

 private:
  std::map<std::string, Result<runtime::SchemaPtr>, std::less<>> schemas_;
};

}  // namespace apiserver::inline v0::codec
