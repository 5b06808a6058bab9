#pragma once

#include <string>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::openapi {

// Encodes a v2 document as gnostic's openapi.v2.Document message, which kubectl up to 1.28
// requests. Field numbers: OpenAPIv2.proto of github.com/google/gnostic-models.
std::string GnosticV2(runtime::Value document);

}  // namespace apiserver::inline v0::openapi
