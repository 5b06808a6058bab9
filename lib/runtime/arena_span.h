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

}  // namespace apiserver::inline v0::runtime
