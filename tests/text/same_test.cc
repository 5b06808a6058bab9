#include <catch2/catch.hpp>
#include <string>

#include "text/same.h"

using namespace apiserver;  // NOLINT: tests only.

TEST_CASE("text: names are the same if all of their bytes are", "[text]") {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string name(size, 'a');
    // A copy in exactly as much memory: a sanitizer notices reads beyond it.
    const std::string copy = name;
    CHECK(text::SameName(name, copy));
    CHECK_FALSE(text::SameName(name, copy + "a"));
    CHECK_FALSE(text::SameName(name + '\0', copy));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = name;
      other[at] = '\xe4';
      CHECK_FALSE(text::SameName(name, other));
      CHECK_FALSE(text::SameName(other, name));
    }
  }
}
