#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace apiserver_fuzz {

// The LLVMFuzzerTestOneInput() of a target.
using Input = int (*)(const std::uint8_t* data, std::size_t size);

// The target of this name; null where there is none. CMakeLists.txt writes the definition.
Input FindTarget(std::string_view name);

}  // namespace apiserver_fuzz
