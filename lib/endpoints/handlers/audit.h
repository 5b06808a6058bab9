#pragma once

#include "apiserver/codec/codec.h"
#include "apiserver/http/exchange.h"
#include "apiserver/runtime/object.h"
#include "endpoints/handlers/patch_types.h"
#include "endpoints/handlers/scope.h"

// Record the requests' bodies in the audit log; they do nothing if that is not wanted.
namespace apiserver::inline v0::endpoints {

// Records the object of a create or update, still in the version it was sent in.
void LogRequestObject(const http::Exchange& exchange, const RequestScope& scope,
                      const runtime::Object& object);
// Records the DeleteOptions in the body of a delete.
void LogDeleteOptions(const http::Exchange& exchange, const codec::DecodedBody& options);
// Records the body of a PATCH.
void LogRequestPatch(const http::Exchange& exchange, PatchType type, bool cbor);

}  // namespace apiserver::inline v0::endpoints
