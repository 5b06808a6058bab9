#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/schema.h"

// Schemas from text: OpenAPI v3 as CustomResourceDefinitions have it, structural and without $ref.
namespace apiserver::inline v0::codec {

// Reads a schema from a JSON schema object. These members are read: type, format, properties,
// required, items, additionalProperties, nullable, default, enum, title, description, allOf, anyOf,
// oneOf, not, the bounds of numbers, texts, lists and maps, and Kubernetes' extensions
// x-kubernetes-{int-or-string, preserve-unknown-fields, embedded-resource, list-type,
// list-map-keys, map-type, patch-strategy, patch-merge-key, validations}. Rules in CEL are not
// compiled here. Others (example, externalDocs, …) describe only, and are ignored.
//
// kInvalid, with the path of the culprit: it is not structural, or has rules within allOf, anyOf,
// oneOf or not, which Kubernetes refuses.
Result<runtime::SchemaPtr> SchemaFromOpenApi(runtime::Value schema);
// The same, made in `pool`: repeated parts, here or from earlier schemas of the pool, are shared,
// and descriptions that lie in the bytes given to its ReadFrom() are not copied.
Result<runtime::SchemaPtr> SchemaFromOpenApi(runtime::Value schema, runtime::SchemaPool& pool);
// The same, from YAML or JSON text.
Result<runtime::SchemaPtr> SchemaFromText(std::string_view text);

// Reads the schema of a whole object: kind and apiVersion are left out, metadata is put first and
// replaced by ObjectMetaSchema(), as KindVersion::schema requires. What the schema says about
// metadata.name and metadata.generateName is kept.
Result<runtime::SchemaPtr> RootSchemaFromOpenApi(runtime::Value schema);
Result<runtime::SchemaPtr> RootSchemaFromOpenApi(runtime::Value schema, runtime::SchemaPool& pool);

// Reads the definition of a kind from a CustomResourceDefinition (apiextensions.k8s.io/v1, YAML or
// JSON text): names, scope, versions with schemas, columns, deprecation and the subresources status
// and scale, and the selectable fields of the storage version, which is the hub. See crd.h for the
// way back.
//
// kBadRequest: the text is malformed. kInvalid: a part is missing or a schema is not structural.
Result<runtime::KindOptions> KindOptionsFromCrd(std::string_view text);
// The same, from the parsed object, with its schemas made in `pool`.
Result<runtime::KindOptions> KindOptionsFromCrd(runtime::Value crd, runtime::SchemaPool& pool);

}  // namespace apiserver::inline v0::codec
