#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

#include "storage/index/ref.h"

namespace apiserver::inline v0::storage::index {

// The base of a counted `T` that has its key behind it, in the same piece of memory. A search
// compares the keys of values that are far apart, so it waits for memory once for each value, where
// a string of its own makes it wait twice. No class may derive from T.
template <class T>
class Keyed : public RefCounted {
 public:
  // Makes a T with a copy of `key`, of less than 4 GiB. Give it to a Ref.
  static T* New(std::string_view key) {
    static_assert(std::is_final_v<T> && std::is_nothrow_default_constructible_v<T>);
    T* const made = ::new (::operator new(sizeof(T) + key.size())) T;
    key.copy(reinterpret_cast<char*>(made + 1), key.size());
    made->key_bytes_ = static_cast<std::uint32_t>(key.size());
    return made;
  }
  // Gives back what New() took, which is more than a T.
  static void operator delete(void* memory) { ::operator delete(memory); }

  std::string_view key() const {
    return {reinterpret_cast<const char*>(static_cast<const T*>(this) + 1), key_bytes_};
  }

 protected:
  ~Keyed() = default;

 private:
  friend T;
  Keyed() = default;

  std::uint32_t key_bytes_ = 0;
};

}  // namespace apiserver::inline v0::storage::index
