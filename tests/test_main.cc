// The one main of every test binary, compiled once: Catch2's own, and `--write-ctest FILE`, which
// lists the test cases in ctest's language.
#define CATCH_CONFIG_RUNNER
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace {

// Tests with thousands of connections need it; the library itself never does this.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);  // Best effort: the test that needs more says so.
}

// The test specification that selects exactly the case of this name.
std::string SpecOf(const std::string& name) {
  std::string spec;
  for (const char c : name) {
    if (std::string_view("\\,[]\"").find(c) != std::string_view::npos) spec += '\\';
    spec += c;
  }
  return spec;
}

#if CATCH_VERSION_MAJOR >= 3
// Version 3 refuses to run no test by itself.
constexpr const char* kNoTests = "";
const Catch::TestCaseInfo& InfoOf(const Catch::TestCaseHandle& test) {
  return test.getTestCaseInfo();
}
std::string TextOf(const Catch::Tag& tag) { return std::string(tag.original); }
#else
constexpr const char* kNoTests = " --warn NoTests";
const Catch::TestCaseInfo& InfoOf(const Catch::TestCase& test) { return test; }
std::string TextOf(const std::string& tag) { return tag; }
#endif

std::string LabelsOf(const Catch::TestCaseInfo& test) {
  std::string labels;
  for (const auto& tag : test.tags) labels += (labels.empty() ? "" : ";") + TextOf(tag);
  return labels;
}

// Tests tagged [slow] are begun first, so that none of them is left running alone.
int CostOf(const Catch::TestCaseInfo& test) {
  const bool slow = std::any_of(test.tags.begin(), test.tags.end(),
                                [](const auto& tag) { return TextOf(tag) == "slow"; });
  return slow ? 10 : 0;
}

// `text` as a CMake bracket argument: nothing inside is special.
std::string Bracket(const std::string& text) { return "[==[" + text + "]==]"; }

int WriteCtest(const std::string& binary, const char* file) {
  const std::string part = std::string(file) + ".part";
  std::ofstream out(part);
  for (const auto& one : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    const Catch::TestCaseInfo& test = InfoOf(one);
    if (test.isHidden()) continue;
    const std::string name = Bracket(test.name);
    out << "add_test(" << name << ' ' << Bracket(binary) << ' ' << Bracket(SpecOf(test.name))
        << kNoTests << ")\nset_tests_properties(" << name << " PROPERTIES TIMEOUT 900 LABELS "
        << Bracket(LabelsOf(test)) << " COST " << CostOf(test) << ")\n";
  }
  out.close();
  if (!out || std::rename(part.c_str(), file) != 0) {
    std::cerr << "cannot write " << file << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--write-ctest") {
    return WriteCtest(std::filesystem::canonical("/proc/self/exe").string(), argv[2]);
  }
  RaiseDescriptorLimit();
  // So that tests name their data from the root of the checkout, wherever they are started.
  if (chdir(APISERVER_SOURCE_DIR) != 0) {
    std::cerr << "cannot enter " << APISERVER_SOURCE_DIR << '\n';
    return EXIT_FAILURE;
  }
  return Catch::Session().run(argc, argv);
}
