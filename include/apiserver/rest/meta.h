#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// What the server, not the client, decides about metadata.
namespace apiserver::inline v0::rest {

// Drops creationTimestamp, uid, deletionTimestamp, deletionGracePeriodSeconds and selfLink.
void WipeObjectMetaSystemFields(runtime::Object& object);
// Sets creationTimestamp and a new uid.
void FillObjectMetaSystemFields(runtime::Object& object, const Clock& clock, Random& random);

// An empty namespace of the object becomes the request's, that of a cluster-scoped request is
// cleared. kBadRequest: both are set and differ.
Status EnsureObjectNamespaceMatchesRequestNamespace(std::string_view request_namespace,
                                                    runtime::Object& object);
// What the namespace of an object must be: empty for cluster scope.
std::string_view ExpectedNamespaceForScope(std::string_view request_namespace,
                                           bool namespace_scoped);

inline constexpr std::size_t kGeneratedNameBytesMax = 63;
inline constexpr std::size_t kGeneratedNameRandomBytes = 5;
// `base`, cut to 58 bytes, and five random letters.
std::string GenerateName(std::string_view base, Random& random);

}  // namespace apiserver::inline v0::rest
