#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/schema.h"

// Kinds from OpenAPI documents, as a server has them below /openapi/v3/ and at /openapi/v2.
namespace apiserver::inline v0::codec {

// Tells if `text`, JSON or YAML, is an OpenAPI document rather than an object of Kubernetes.
bool IsOpenApiDocument(std::string_view text);

// Reads the kinds of an OpenAPI document, v3 or v2, each with the one version that the document has
// of it: those named in `kinds`, "Pet" or "Pet.zoo.example.com", or all if that is empty. A kind is
// a definition with x-kubernetes-group-version-kind and an ObjectMeta; its plural and scope are
// those of the document's paths, or "pets" and a namespace. Names that the document does not have
// are left out.
//
// A $ref leads to the schema of that definition, which has its name: equal definitions of documents
// that are read with one pool are the same schema. A definition within itself is left open there
// (AnySchema()). Of Kubernetes' own types Time, MicroTime, Duration, Quantity, IntOrString,
// ObjectMeta and those that are open have the schemas of runtime. For what else is read see
// SchemaFromOpenApi(); a schema without a type is open, too.
//
// kBadRequest: the text is malformed. kInvalid: it is no such document, a $ref leads nowhere, or a
// schema is not structural otherwise, is too deep, or has over a million fields where definitions
// count wherever they are used.
Result<std::vector<runtime::KindOptions>> KindOptionsFromOpenApi(
    std::string_view text, const std::vector<std::string>& kinds, runtime::SchemaPool& pool);

}  // namespace apiserver::inline v0::codec
