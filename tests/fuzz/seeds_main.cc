// Runs a fuzz target over every file of a folder, and over no bytes at all:
// fuzz_seeds TARGET FOLDER
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "find_target.h"

namespace {

using apiserver_fuzz::Input;

std::vector<std::filesystem::path> SeedsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) seeds.push_back(entry.path());
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

void Run(Input target, const std::string& bytes) {
  target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Input target = argc == 3 ? apiserver_fuzz::FindTarget(argv[1]) : nullptr;
  if (target == nullptr || !std::filesystem::is_directory(argv[2])) {
    std::cerr << "usage: " << argv[0] << " TARGET FOLDER\n";
    return 2;
  }
  const std::vector<std::filesystem::path> seeds = SeedsIn(argv[2]);
  if (seeds.empty()) {
    std::cerr << argv[2] << " holds no seeds\n";
    return 1;
  }
  Run(target, "");
  for (const std::filesystem::path& seed : seeds) {
    std::cout << seed.string() << '\n' << std::flush;  // The last one named is the one that failed.
    std::ifstream in(seed, std::ios::binary);
    Run(target, std::string(std::istreambuf_iterator<char>(in), {}));
  }
  return 0;
}
