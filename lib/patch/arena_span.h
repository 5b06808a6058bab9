#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "apiserver/runtime/arena.h"

namespace apiserver::inline v0::patch {

// The depth that encoding/json reads; it would not read a deeper document.
inline constexpr std::size_t kDepthMax = 10'000;

// Returns `count` values in the arena, each as T() is.
template <class T>
std::span<T> Space(std::size_t count, runtime::Arena& arena) {
  auto* const begin = static_cast<T*>(arena.Allocate(count * sizeof(T), alignof(T)));
  std::uninitialized_value_construct_n(begin, count);
  return {begin, count};
}

}  // namespace apiserver::inline v0::patch
