#pragma once

#include <span>
#include <string_view>

namespace apiserver::inline v0::explorer {

// A file of page/, embedded when the library is built.
struct File {
  std::string_view name;  // "app.js"
  std::string_view hash;  // Of its bytes, in hexadecimal.
  std::string_view plain;
  std::string_view gzip;  // `plain`, compressed.
};

// Returns the files that lib/explorer/CMakeLists.txt lists, in that order.
std::span<const File> Files();
// Null: there is no such file. Names are compared as they are, so that no path leads elsewhere.
const File* FindFile(std::string_view name);

}  // namespace apiserver::inline v0::explorer
