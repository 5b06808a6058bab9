// Runs a fuzz target over every file of a folder, and over no bytes at all:
// <name>_seeds FOLDER
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> SeedsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) seeds.push_back(entry.path());
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::cerr << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  const std::vector<std::filesystem::path> seeds = SeedsIn(argv[1]);
  if (seeds.empty()) {
    std::cerr << argv[1] << " holds no seeds\n";
    return 1;
  }
  Run("");
  for (const std::filesystem::path& seed : seeds) {
    std::cout << seed.string() << '\n' << std::flush;  // The last one named is the one that failed.
    std::ifstream in(seed, std::ios::binary);
    Run(std::string(std::istreambuf_iterator<char>(in), {}));
  }
  return 0;
}
