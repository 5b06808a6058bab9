// apiserver-gen writes C++ structs for CustomResourceDefinitions and OpenAPI documents, and
// projects.
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "generator/commands.h"

namespace apiserver::v0::generator {
namespace {

constexpr const char* kUsage =
    "usage: apiserver-gen types --namespace NAME [--out FILE] [--kind KIND]... FILE...\n"
    "       apiserver-gen project NAME --group GROUP --kind KIND [--version VERSION]\n"
    "                             [--plural PLURAL] [--out FOLDER] [--force]\n"
    "\n"
    "types writes a header with a C++ struct for each kind of the files, for runtime/typed.h:\n"
    "to FILE, or to the standard output. A file has CustomResourceDefinitions (YAML or JSON),\n"
    "or is an OpenAPI document, as a server has at /openapi/v2 and below /openapi/v3/. --kind\n"
    "chooses kinds, by their name, Pet, or with the group, Pet.zoo.example.com.\n"
    "\n"
    "project writes a server program of one kind, with a unit test: to FOLDER, or to the folder\n"
    "NAME. VERSION is v1 if it is not given, PLURAL what Kubernetes guesses for the kind. A file\n"
    "that exists is written over only with --force.\n";

int Main(std::span<const std::string> words) {
  if (std::ranges::any_of(words,
                          [](const auto& word) { return word == "--help" || word == "-h"; })) {
    const Status printed = Print(kUsage);
    return printed.ok() ? kExitOk : Fail(kExitFailure, printed);
  }
  if (!words.empty() && words[0] == "types") return RunTypes(words.subspan(1));
  if (!words.empty() && words[0] == "project") return RunProject(words.subspan(1));
  const int code =
      Fail(kExitUsage, {Reason::kInvalid, "the first word has to be types or project"});
  std::fputs(kUsage, stderr);
  return code;
}

}  // namespace

int Fail(int code, const Status& status) {
  const std::string line = "apiserver-gen: " + std::string(status.message()) + "\n";
  std::fputs(line.c_str(), stderr);
  return code;
}

Status Print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? Status() : Status(Reason::kInternalError, "cannot write to the standard output");
}

}  // namespace apiserver::v0::generator

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return apiserver::generator::Main(words);
}
