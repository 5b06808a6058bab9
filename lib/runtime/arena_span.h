#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <memory>
#include <span>

#include "apiserver/runtime/arena.h"

namespace apiserver::inline v0::runtime {

// Returns `count` values in the arena, each as T() is.
template <class T>
std::span<T> NewSpan(Arena& arena, std::size_t count) {
  auto* const begin = static_cast<T*>(arena.Allocate(count * sizeof(T), alignof(T)));
  std::uninitialized_value_construct_n(begin, count);
  return {begin, count};
}

// Returns a copy of an array in the arena.
template <class T>
std::span<T> CopySpan(Arena& arena, std::span<const T> from) {
  if (from.empty()) return {};
  auto* const begin = static_cast<T*>(arena.Allocate(from.size_bytes(), alignof(T)));
  std::uninitialized_copy(from.begin(), from.end(), begin);
  return {begin, from.size()};
}

}  // namespace apiserver::inline v0::runtime
