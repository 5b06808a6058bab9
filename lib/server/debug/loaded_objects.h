#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace apiserver::inline v0::server::debug {

// The place of a piece of a program's or library's code in this process.
struct LoadedObject {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;  // The offset of `begin`.
  std::string file;               // Empty: not known.
  std::string build_id;           // In hexadecimal. Empty: it has none.
};

// Returns the pieces, the program's first, then its libraries'.
std::vector<LoadedObject> LoadedObjects();

}  // namespace apiserver::inline v0::server::debug
