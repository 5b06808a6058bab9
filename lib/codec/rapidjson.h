#pragma once

// The only place that includes RapidJSON, so that it can be replaced. Its last release asserts with
// abort() and recurses by default: json_parse.cc uses only the iterative SAX reader, whose numbers
// it takes as text (the number conversion of 1.1.0 is inexact and has open CVEs).

#include <cassert>

#define RAPIDJSON_ASSERT(condition) assert(condition)
#define RAPIDJSON_HAS_STDSTRING 0
#include <rapidjson/reader.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace apiserver::inline v0::codec {

// Throws std::bad_alloc; RapidJSON's own allocator returns null, to which its stack would write.
class ThrowingAllocator {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): RapidJSON's name
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t bytes) { return bytes == 0 ? nullptr : ::operator new(bytes); }
  void* Realloc(void* old, std::size_t old_bytes, std::size_t bytes) {
    void* const fresh = Malloc(bytes);
    if (old != nullptr && fresh != nullptr) std::memcpy(fresh, old, std::min(old_bytes, bytes));
    Free(old);
    return fresh;
  }
  static void Free(void* memory) { ::operator delete(memory); }
};

using JsonReader =
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

}  // namespace apiserver::inline v0::codec
