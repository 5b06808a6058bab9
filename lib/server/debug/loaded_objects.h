#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace apiserver::inline v0::server::debug {

// Where a piece of a program's or library's code lies in this process.
struct LoadedObject {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;  // Of `begin`.
  std::string file;               // Empty: not known.
  std::string build_id;           // In hexadecimal; empty: it has none.
};

// The program's first, then its libraries'.
std::vector<LoadedObject> LoadedObjects();

}  // namespace apiserver::inline v0::server::debug
