#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/value.h"

// kind and apiVersion, which bodies carry and an Object's content does not.
namespace apiserver::inline v0::codec {

struct TypeMeta {
  std::string api_version;
  std::string kind;
};

// Takes kind and apiVersion out of `root`, which becomes a map if it was null. kBadRequest, in the
// words of Go's SimpleMetaFactory: it is not a map, or they are no strings.
Result<TypeMeta> TakeTypeMeta(runtime::Value& root, runtime::Arena& arena);

// As schema.ParseGroupVersion. kBadRequest: more than one '/'.
Result<runtime::GroupVersion> ParseGroupVersion(std::string_view api_version);

// Checks the version. kBadRequest with `no kind "Foo" is registered for version "example.com/v1"`:
// the kind does not have it.
Status CheckRegistered(const runtime::Kind& kind, const runtime::GroupVersionKind& gvk);

// Returns `Object 'Kind' is missing in '<text>'`.
std::string MissingKindMessage(std::string_view text);

// Returns `object *v1.Foo does not implement the protobuf marshalling interface and cannot be …`.
std::string NoProtobufMessage(const runtime::Kind& kind, std::string_view version);

}  // namespace apiserver::inline v0::codec
