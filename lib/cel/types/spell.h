#pragma once

#include "apiserver/cel/type.h"

// Types as constants, with which the tables of functions spell signatures: kString, kListOf<kA>.
namespace apiserver::inline v0::cel::types {

inline constexpr TypeNode kError{.kind = TypeKind::kError};
inline constexpr TypeNode kDyn{.kind = TypeKind::kDyn};
inline constexpr TypeNode kAny{.kind = TypeKind::kAny};
inline constexpr TypeNode kNull{.kind = TypeKind::kNull};
inline constexpr TypeNode kBool{.kind = TypeKind::kBool};
inline constexpr TypeNode kInt{.kind = TypeKind::kInt};
inline constexpr TypeNode kUint{.kind = TypeKind::kUint};
inline constexpr TypeNode kDouble{.kind = TypeKind::kDouble};
inline constexpr TypeNode kString{.kind = TypeKind::kString};
inline constexpr TypeNode kBytes{.kind = TypeKind::kBytes};
inline constexpr TypeNode kTimestamp{.kind = TypeKind::kTimestamp};
inline constexpr TypeNode kDuration{.kind = TypeKind::kDuration};
// The type of every type.
inline constexpr TypeNode kType{.kind = TypeKind::kType};

// Type variables.
inline constexpr TypeNode kA{.kind = TypeKind::kParameter, .name = "A"};
inline constexpr TypeNode kB{.kind = TypeKind::kParameter, .name = "B"};
inline constexpr TypeNode kT{.kind = TypeKind::kParameter, .name = "T"};

inline constexpr std::string_view kOptionalName = "optional_type";

template <const TypeNode&... parameters>
inline constexpr const TypeNode* kParametersOf[] = {&parameters...};
template <const TypeNode& items>
inline constexpr TypeNode kListOf{
    .kind = TypeKind::kList, .parameter_count = 1, .parameters = kParametersOf<items>};
template <const TypeNode& keys, const TypeNode& values>
inline constexpr TypeNode kMapOf{
    .kind = TypeKind::kMap, .parameter_count = 2, .parameters = kParametersOf<keys, values>};
template <const TypeNode& value>
inline constexpr TypeNode kOptionalOf{.kind = TypeKind::kOpaque,
                                      .parameter_count = 1,
                                      .name = kOptionalName,
                                      .parameters = kParametersOf<value>};
template <const TypeNode& type>
inline constexpr TypeNode kTypeOf{
    .kind = TypeKind::kType, .parameter_count = 1, .parameters = kParametersOf<type>};
template <const TypeNode& scalar>
inline constexpr TypeNode kWrapperOf{
    .kind = TypeKind::kWrapper, .parameter_count = 1, .parameters = kParametersOf<scalar>};

// The types of lists, maps and optionals without parameters, which values name at run time.
inline constexpr TypeNode kBareList{.kind = TypeKind::kList};
inline constexpr TypeNode kBareMap{.kind = TypeKind::kMap};
inline constexpr TypeNode kBareOptional{.kind = TypeKind::kOpaque, .name = kOptionalName};

// An opaque type without parameters: net.IP.
constexpr TypeNode Opaque(std::string_view name) {
  return {.kind = TypeKind::kOpaque, .name = name};
}
// A type of Kubernetes, which is a struct type without fields: kubernetes.URL.
constexpr TypeNode Object(std::string_view name) {
  return {.kind = TypeKind::kStruct, .name = name};
}

}  // namespace apiserver::inline v0::cel::types
