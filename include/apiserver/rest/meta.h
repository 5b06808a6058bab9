#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// The fields of metadata that the server sets, not the client.
namespace apiserver::inline v0::rest {

// Drops creationTimestamp, uid, deletionTimestamp, deletionGracePeriodSeconds and selfLink.
void WipeObjectMetaSystemFields(runtime::Object& object);
// Sets creationTimestamp and a new uid.
void FillObjectMetaSystemFields(runtime::Object& object, const Clock& clock, Random& random);

// Sets an empty namespace of the object to the request's; clears it for a cluster-scoped request.
// kBadRequest: both are set and differ.
Status EnsureObjectNamespaceMatchesRequestNamespace(std::string_view request_namespace,
                                                    runtime::Object& object);
// Returns the namespace that an object must have; empty for cluster scope.
std::string_view ExpectedNamespaceForScope(std::string_view request_namespace,
                                           bool namespace_scoped);

inline constexpr std::size_t kGeneratedNameBytesMax = 63;
inline constexpr std::size_t kGeneratedNameRandomBytes = 5;
// Returns `base`, cut to 58 bytes, followed by five random letters.
std::string GenerateName(std::string_view base, Random& random);

}  // namespace apiserver::inline v0::rest
