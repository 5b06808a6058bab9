#pragma once

#include <span>

#include "cel/function.h"

// The tables of functions, one for each library. The FunctionTable puts them together.
namespace apiserver::inline v0::cel::functions {

// Parts of cel-go's common/stdlib.
// Operators by their internal names.
std::span<const Function> Operators();
// int, string, timestamp, type, dyn, ….
std::span<const Function> Conversions();
// size, contains, startsWith, endsWith.
std::span<const Function> Standard();
// matches.
std::span<const Function> Matches();

// The optional types: optional.of, hasValue, or, …; since 1.28.
std::span<const Function> Optionals();
// cel-go's ext.Strings; version 2 since 1.29.
std::span<const Function> Strings();
// cel-go's ext.Sets; since 1.29.
std::span<const Function> Sets();
// cel-go's ext.Lists, version 3; since 1.34.
std::span<const Function> ListExtensions();

// Kubernetes' libraries: k8s.io/apiserver/pkg/cel/library.
// url, isURL, getScheme, ….
std::span<const Function> Urls();
// find, findAll.
std::span<const Function> Regex();
// isSorted, sum, min, max, indexOf, lastIndexOf.
std::span<const Function> Lists();
// quantity, isQuantity, …; since 1.28.
std::span<const Function> Quantities();
// ip, isIP, …; since 1.30.
std::span<const Function> Ips();
// cidr, isCIDR, …; since 1.30.
std::span<const Function> Cidrs();
// format.named, validate, …; since 1.31.
std::span<const Function> Formats();
// semver, isSemver, …; since 1.33.
std::span<const Function> Semvers();
// jsonpatch.escapeKey; only with Library::kJsonPatch.
std::span<const Function> JsonPatch();

}  // namespace apiserver::inline v0::cel::functions
