#pragma once

#include <span>
#include <string_view>

namespace apiserver::inline v0::generator {

// A template of project/, embedded when the library is built.
struct File {
  std::string_view name;  // "main.cc.in"
  std::string_view text;
};

// Returns the templates that lib/generator/CMakeLists.txt lists, in that order.
std::span<const File> Files();

}  // namespace apiserver::inline v0::generator
