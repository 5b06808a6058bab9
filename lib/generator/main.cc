// apiserver-gen: C++ structs from CustomResourceDefinitions.
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/generator/typed_header.h"

namespace {

using namespace apiserver;  // NOLINT(google-build-using-namespace): a program.

constexpr const char* kUsage =
    "usage: apiserver-gen types --namespace NAME [--out FILE] CRD...\n"
    "\n"
    "Writes a header with a C++ struct for each kind of the CustomResourceDefinitions (YAML or\n"
    "JSON files), for runtime/typed.h: to FILE, or to the standard output.\n";

struct Arguments {
  generator::TypedHeaderOptions options;
  std::string out;
  std::vector<std::string> files;
};

// Reads the words behind "types". An error names what is wrong.
Result<Arguments> Read(std::span<const std::string> words) {
  Arguments read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string* const to = words[i] == "--namespace" ? &read.options.name_space
                            : words[i] == "--out"     ? &read.out
                                                      : nullptr;
    if (to != nullptr) {
      if (++i == words.size()) return Status(Reason::kInvalid, words[i - 1] + " needs a value");
      *to = words[i];
    } else if (words[i].starts_with("-")) {
      return Status(Reason::kInvalid, "there is no flag " + words[i]);
    } else {
      read.files.push_back(words[i]);
    }
  }
  if (read.options.name_space.empty()) return Status(Reason::kInvalid, "--namespace is missing");
  if (read.files.empty()) return Status(Reason::kInvalid, "no file is named");
  return read;
}

Status AddKinds(const std::string& file, std::vector<runtime::KindPtr>& kinds) {
  APISERVER_ASSIGN_OR_RETURN(const std::string text, RealFileSystem().Read(file));
  for (const std::string_view document : codec::SplitYamlDocuments(text)) {
    auto options = codec::KindOptionsFromCrd(document);
    if (!options.ok()) {
      return options.status().WithMessage(file + ": " + std::string(options.status().message()));
    }
    APISERVER_ASSIGN_OR_RETURN(auto kind, runtime::Kind::New(std::move(options).value()));
    kinds.push_back(std::move(kind));
  }
  return {};
}

// The file keeps its time if nothing changed, so that nothing is compiled again.
Status WriteTo(const std::string& file, const std::string& text) {
  const auto before = RealFileSystem().Read(file);
  if (before.ok() && *before == text) return {};
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  if (out.flush()) return {};
  return {Reason::kInternalError, "cannot write " + file};
}

Status Print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? Status() : Status(Reason::kInternalError, "cannot write to the standard output");
}

Status Run(std::span<const std::string> words) {
  if (words.empty() || words[0] != "types") {
    return {Reason::kInvalid, "the first word has to be types"};
  }
  APISERVER_ASSIGN_OR_RETURN(Arguments arguments, Read(words.subspan(1)));
  std::vector<runtime::KindPtr> kinds;
  for (const std::string& file : arguments.files) {
    APISERVER_RETURN_IF_ERROR(AddKinds(file, kinds));
    const std::string name = file.substr(file.rfind('/') + 1);
    std::string& from = arguments.options.made_from;
    from += (from.empty() ? "" : ", ") + name;
  }
  APISERVER_ASSIGN_OR_RETURN(const std::string header,
                             generator::TypedHeader(kinds, arguments.options));
  return arguments.out.empty() ? Print(header) : WriteTo(arguments.out, header);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const bool help = words.size() == 1 && (words[0] == "--help" || words[0] == "-h");
  const Status status = help ? Print(kUsage) : Run(words);
  if (status.ok()) return 0;
  const std::string line = "apiserver-gen: " + std::string(status.message()) + "\n";
  std::fputs(line.c_str(), stderr);
  if (words.size() < 2) std::fputs(kUsage, stderr);
  return 1;
}
