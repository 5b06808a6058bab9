// Runs the target that the program is called by: "json" as json_fuzz.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

#include "find_target.h"

namespace {

// The target of this run, which LLVMFuzzerInitialize() finds.
apiserver_fuzz::Input target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  constexpr std::string_view kEnd = "_fuzz";
  std::string name = std::filesystem::path((*argv)[0]).filename().string();
  if (name.ends_with(kEnd)) name.resize(name.size() - kEnd.size());
  target = apiserver_fuzz::FindTarget(name);
  if (target == nullptr) {
    std::cerr << "there is no target '" << name << "': call this program as TARGET_fuzz\n";
    std::exit(2);  // NOLINT(concurrency-mt-unsafe): no other thread runs.
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return target(data, size);
}
