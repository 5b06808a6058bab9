#include <algorithm>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status_macros.h"
#include "apiserver/codec/openapi_kinds.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/generator/typed_header.h"
#include "generator/commands.h"

namespace apiserver::v0::generator {
namespace {

struct Arguments {
  TypedHeaderOptions options;
  std::string out;
  std::vector<std::string> kinds;  // Empty: all.
  std::vector<std::string> files;
};

// Reads the words behind "types". An error names what is wrong.
Result<Arguments> Read(std::span<const std::string> words) {
  Arguments read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string kind;
    std::string* const to = words[i] == "--namespace" ? &read.options.name_space
                            : words[i] == "--out"     ? &read.out
                            : words[i] == "--kind"    ? &kind
                                                      : nullptr;
    if (to != nullptr) {
      if (++i == words.size()) return Status(Reason::kInvalid, words[i - 1] + " needs a value");
      *to = words[i];
      if (to == &kind) read.kinds.push_back(kind);
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

// Collects the kinds of files.
class Kinds {
 public:
  explicit Kinds(std::vector<std::string> wanted) : wanted_(std::move(wanted)) {}

  Status Add(const std::string& file) {
    APISERVER_ASSIGN_OR_RETURN(const std::string text, RealFileSystem().Read(file));
    Status added = codec::IsOpenApiDocument(text) ? AddDocument(text) : AddCrds(text);
    if (added.ok()) return added;
    return added.WithMessage(file + ": " + std::string(added.message()));
  }
  // Returns an error if a kind that is wanted was in no file.
  Status Check() const {
    for (const std::string& name : wanted_) {
      const auto is = [&](const runtime::KindPtr& kind) { return Is(*kind, name); };
      if (std::ranges::any_of(kinds_, is)) continue;
      return {Reason::kInvalid, "no file has the kind " + name};
    }
    return {};
  }
  const std::vector<runtime::KindPtr>& all() const { return kinds_; }

 private:
  static bool Is(const runtime::Kind& kind, const std::string& name) {
    return name == kind.kind() || name == kind.kind() + "." + kind.group();
  }
  Status AddDocument(const std::string& text) {
    APISERVER_ASSIGN_OR_RETURN(auto found, codec::KindOptionsFromOpenApi(text, wanted_, pool_));
    for (runtime::KindOptions& options : found) APISERVER_RETURN_IF_ERROR(AddKind(options));
    return {};
  }
  Status AddCrds(const std::string& text) {
    for (const std::string_view document : codec::SplitYamlDocuments(text)) {
      APISERVER_ASSIGN_OR_RETURN(auto options, codec::KindOptionsFromCrd(document));
      APISERVER_RETURN_IF_ERROR(AddKind(options));
    }
    return {};
  }
  Status AddKind(runtime::KindOptions& options) {
    APISERVER_ASSIGN_OR_RETURN(auto kind, runtime::Kind::New(std::move(options)));
    const auto is = [&](const std::string& name) { return Is(*kind, name); };
    if (wanted_.empty() || std::ranges::any_of(wanted_, is)) kinds_.push_back(std::move(kind));
    return {};
  }

  const std::vector<std::string> wanted_;
  // Definitions that several documents have are one.
  runtime::SchemaPool pool_;
  std::vector<runtime::KindPtr> kinds_;
};

// The file keeps its time if nothing changed, so that nothing is compiled again.
Status WriteTo(const std::string& file, const std::string& text) {
  const auto before = RealFileSystem().Read(file);
  if (before.ok() && *before == text) return {};
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  if (out.flush()) return {};
  return {Reason::kInternalError, "cannot write " + file};
}

Status Write(Arguments arguments) {
  arguments.options.share_definitions = true;
  Kinds kinds(arguments.kinds);
  for (const std::string& file : arguments.files) {
    APISERVER_RETURN_IF_ERROR(kinds.Add(file));
    const std::string name = file.substr(file.rfind('/') + 1);
    std::string& from = arguments.options.made_from;
    from += (from.empty() ? "" : ", ") + name;
  }
  APISERVER_RETURN_IF_ERROR(kinds.Check());
  APISERVER_ASSIGN_OR_RETURN(const std::string header, TypedHeader(kinds.all(), arguments.options));
  return arguments.out.empty() ? Print(header) : WriteTo(arguments.out, header);
}

}  // namespace

int RunTypes(std::span<const std::string> words) {
  Result<Arguments> arguments = Read(words);
  if (!arguments.ok()) return Fail(kExitUsage, arguments.status());
  const Status written = Write(*std::move(arguments));
  return written.ok() ? kExitOk : Fail(kExitFailure, written);
}

}  // namespace apiserver::v0::generator
