#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

// Texts about members that every kind or list has, in the words of Kubernetes.
namespace apiserver::inline v0::openapi {

inline constexpr std::string_view kApiVersionText =
    "APIVersion defines the versioned schema of this representation of an object. Servers should "
    "convert recognized schemas to the latest internal value, and may reject unrecognized values. "
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
    "api-conventions.md#resources";
inline constexpr std::string_view kKindText =
    "Kind is a string value representing the REST resource this object represents. Servers may "
    "infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. "
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/"
    "api-conventions.md#types-kinds";
inline constexpr std::string_view kObjectMetaText =
    "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/"
    "sig-architecture/api-conventions.md#metadata";
inline constexpr std::string_view kListMetaText =
    "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/"
    "sig-architecture/api-conventions.md#types-kinds";

}  // namespace apiserver::inline v0::openapi
