#include "generator/project.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "apiserver/base/status_macros.h"
#include "apiserver/meta/validation.h"
#include "generator/files.h"
#include "generator/identifiers.h"

namespace apiserver::v0::generator {
namespace {

// Names that CMake gives its own targets, whatever generator it writes for.
constexpr std::array<std::string_view, 11> kTargetsOfCMake = {
    "all",     "clean",          "edit_cache",    "help", "install",  "list_install_components",
    "package", "package_source", "rebuild_cache", "test", "uninstall"};

constexpr unsigned kFolderMode = 0755;
constexpr unsigned kFileMode = 0644;

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

Status Refused(std::string_view flag, std::string_view value, std::string_view why) {
  return {Reason::kInvalid,
          std::string(flag) + ": \"" + std::string(value) + "\": " + std::string(why)};
}

Status Refused(std::string_view flag, std::string_view value, const meta::Complaints& complaints) {
  return complaints.empty() ? Status() : Refused(flag, value, complaints.front());
}

Status CheckName(const std::string& name) {
  APISERVER_RETURN_IF_ERROR(Refused("NAME", name, meta::IsDNS1035Label(name)));
  if (std::ranges::find(kTargetsOfCMake, name) == kTargetsOfCMake.end()) return {};
  return Refused("NAME", name, "CMake has a target of its own with this name");
}

// As a CustomResourceDefinition's names:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation.
Status CheckKind(const ProjectOptions& options) {
  APISERVER_RETURN_IF_ERROR(
      Refused("--group", options.group, meta::IsDNS1123Subdomain(options.group)));
  if (options.group.find('.') == std::string::npos) {
    return Refused("--group", options.group, "should be a domain with at least one dot");
  }
  if (options.kind.empty() || options.kind[0] < 'A' || options.kind[0] > 'Z') {
    return Refused("--kind", options.kind, "must begin with a capital letter");
  }
  APISERVER_RETURN_IF_ERROR(
      Refused("--kind", options.kind, meta::IsDNS1035Label(Lower(options.kind))));
  APISERVER_RETURN_IF_ERROR(
      Refused("--version", options.version, meta::IsDNS1035Label(options.version)));
  return Refused("--plural", options.plural, meta::IsDNS1035Label(options.plural));
}

// A word between two @ of a template, and what stands there in a project.
struct Word {
  std::string_view name;
  std::string text;
};

std::vector<Word> WordsOf(const ProjectOptions& options) {
  // The project's namespace would hide these names, or be taken for them.
  std::set<std::string> taken = {"apiserver", "std"};
  std::string file = options.plural;
  std::ranges::replace(file, '-', '_');
  // The sources of a kind stand beside main.cc.
  if (file == "main") file = "main_kind";
  return {{"name", options.name},
          {"group", options.group},
          {"version", options.version},
          {"kind", options.kind},
          {"singular", Lower(options.kind)},
          {"plural", options.plural},
          {"Kind", Capitalized(options.kind)},
          {"namespace", Unique(MemberName(options.name), taken)},
          {"file", std::move(file)}};
}

std::string Filled(std::string_view text, const std::vector<Word>& words) {
  std::string to;
  for (;;) {
    const std::size_t begin = text.find('@');
    to += text.substr(0, begin);
    if (begin == std::string_view::npos) return to;
    text.remove_prefix(begin + 1);
    const std::string_view name = text.substr(0, text.find('@'));
    const auto word = std::ranges::find(words, name, &Word::name);
    if (word == words.end()) {  // An @ of the template's own.
      to += '@';
      continue;
    }
    to += word->text;
    text.remove_prefix(name.size() + 1);
  }
}

// "kind_test.cc.in" of a project with the file "pets" is "pets_test.cc".
std::string PathOf(std::string_view name, const std::vector<Word>& words) {
  name.remove_suffix(std::string_view(".in").size());
  if (name == "gitignore") return ".gitignore";
  if (name == "object.yaml") return Filled("@singular@.yaml", words);
  if (!name.starts_with("kind")) return std::string(name);
  return Filled("@file@", words) + std::string(name.substr(std::string_view("kind").size()));
}

}  // namespace

std::string PluralOf(const std::string& kind) {
  std::string plural = Lower(kind);
  if (plural.ends_with("s")) return plural + "es";
  if (!plural.ends_with("y")) return plural + "s";
  plural.back() = 'i';
  return plural + "es";
}

Result<std::vector<ProjectFile>> NewProject(ProjectOptions options) {
  APISERVER_RETURN_IF_ERROR(CheckName(options.name));
  if (options.plural.empty()) options.plural = PluralOf(options.kind);
  APISERVER_RETURN_IF_ERROR(CheckKind(options));
  const std::vector<Word> words = WordsOf(options);
  std::vector<ProjectFile> project;
  for (const File& file : Files()) {
    project.push_back({PathOf(file.name, words), Filled(file.text, words)});
  }
  return project;
}

Status WriteProject(FileSystem& files_of, const std::string& folder,
                    std::span<const ProjectFile> files, bool force) {
  std::string existing;
  for (const ProjectFile& file : files) {
    const std::string path = folder + "/" + file.path;
    if (files_of.Exists(path)) existing += (existing.empty() ? "" : ", ") + path;
  }
  if (!existing.empty() && !force) {
    return {Reason::kAlreadyExists, "there is already " + existing + "; --force writes over it"};
  }
  APISERVER_RETURN_IF_ERROR(files_of.MakeDirectories(folder, kFolderMode));
  for (const ProjectFile& file : files) {
    APISERVER_RETURN_IF_ERROR(
        files_of.WriteAtomically(folder + "/" + file.path, file.text, kFileMode));
  }
  return {};
}

}  // namespace apiserver::v0::generator
