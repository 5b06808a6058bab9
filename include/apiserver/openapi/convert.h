#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/runtime/names.h"

// The form of OpenAPI v3 of servers that have v2 alone: k8s.io/kube-openapi/pkg/openapiconv.
namespace apiserver::inline v0::openapi {

// Returns the part of a document of v2 that belongs to a group version, in the form of v3. A
// parameter that is referred to stands in its place; nothing is said of OAuth. Errors as of
// ReadForeignV2(). Takes time and memory about linear in the size.
Result<Document> ConvertV2ToV3(std::string_view json, const runtime::GroupVersion& version);

}  // namespace apiserver::inline v0::openapi
