#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Kinds and schemas written as CustomResourceDefinitions: the way back of schema_loader.h.
namespace apiserver::inline v0::codec {

// Writes `schema` as a structural OpenAPI v3 schema, without $ref; the result lives in `arena`.
// SchemaFromOpenApi() reads it back to an equal schema, but for what only a Go type has: names,
// presence, protobuf numbers, and types that JSON writes as text or object (Quantity, Time, bytes,
// RawExtension). A field of any value becomes one that keeps unknown fields.
//
// kInvalid, with the path: it is nested more than 200 levels deep, or has more than 100,000 parts.
Result<runtime::Value> OpenApiFromSchema(const runtime::Schema& schema, runtime::Arena& arena);

// Writes `kind` as a CustomResourceDefinition (apiextensions.k8s.io/v1): names, scope, versions
// with their schemas, columns, subresources and deprecation, selectable fields, the storage
// version. The result lives in `arena`. KindOptionsFromCrd() reads it back to an equal kind, whose
// semantics are those of a custom resource and whose hub is the storage version.
//
// kInvalid: the kind has what a CustomResourceDefinition cannot say: no group, conversions or
// defaults in code, or declared renames, or a schema that is no object or too large.
Result<runtime::Value> CrdFromKind(const runtime::Kind& kind, runtime::Arena& arena);
// The same as YAML text, for `kubectl apply -f`.
Result<std::string> CrdFromKind(const runtime::Kind& kind);

// A CustomResourceDefinition that may say less than its kind.
struct PartialCrd {
  std::string yaml;
  // A line for each part of the kind that is left out: "widgets.example.com, version v2: has fields
  // of other names".
  std::vector<std::string> omitted = {};
  // The versions differ by more than a CustomResourceDefinition can say, so that it asks for a
  // conversion webhook without naming one. A cluster refuses it until spec.conversion.webhook is
  // filled in; without conversion it would lose fields.
  bool needs_webhook = false;
};
// Writes what a CustomResourceDefinition can say of `kind`: its names and all of its versions, or
// `version` alone, which needs no conversion. Defaults in code are left out.
//
// kNotFound: there is no such version. kInvalid: the kind has no group, or a schema that is no
// object or too large.
Result<PartialCrd> PartialCrdFromKind(const runtime::Kind& kind, std::string_view version = {});

}  // namespace apiserver::inline v0::codec
