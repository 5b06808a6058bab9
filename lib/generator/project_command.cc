#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/file_system.h"
#include "generator/commands.h"
#include "generator/project.h"

namespace apiserver::v0::generator {
namespace {

struct Arguments {
  ProjectOptions options;
  std::string out;  // Empty: the name.
  bool force = false;
};

// Returns where the value of a flag goes; null: it is no flag that has a value.
std::string* ValueOf(std::string_view flag, Arguments& arguments) {
  const std::array<std::pair<std::string_view, std::string*>, 5> flags = {{
      {"--group", &arguments.options.group},
      {"--kind", &arguments.options.kind},
      {"--version", &arguments.options.version},
      {"--plural", &arguments.options.plural},
      {"--out", &arguments.out},
  }};
  for (const auto& [name, value] : flags) {
    if (name == flag) return value;
  }
  return nullptr;
}

// Reads the words behind "project". An error names what is wrong.
Result<Arguments> Read(std::span<const std::string> words) {
  Arguments read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::string* const to = ValueOf(words[i], read)) {
      if (++i == words.size()) return Status(Reason::kInvalid, words[i - 1] + " needs a value");
      *to = words[i];
    } else if (words[i] == "--force") {
      read.force = true;
    } else if (words[i].starts_with("-")) {
      return Status(Reason::kInvalid, "there is no flag " + words[i]);
    } else if (!read.options.name.empty()) {
      return Status(Reason::kInvalid,
                    "there are two names, " + read.options.name + " and " + words[i]);
    } else {
      read.options.name = words[i];
    }
  }
  if (read.options.name.empty()) return Status(Reason::kInvalid, "the name is missing");
  if (read.options.group.empty()) return Status(Reason::kInvalid, "--group is missing");
  if (read.options.kind.empty()) return Status(Reason::kInvalid, "--kind is missing");
  if (read.out.empty()) read.out = read.options.name;
  return read;
}

std::string Told(const std::string& folder, std::span<const ProjectFile> files) {
  std::string text;
  for (const ProjectFile& file : files) text += folder + "/" + file.path + "\n";
  return text;
}

}  // namespace

int RunProject(std::span<const std::string> words) {
  const Result<Arguments> arguments = Read(words);
  if (!arguments.ok()) return Fail(kExitUsage, arguments.status());
  const auto files = NewProject(arguments->options);
  if (!files.ok()) return Fail(kExitUsage, files.status());
  Status done = WriteProject(RealFileSystem(), arguments->out, *files, arguments->force);
  if (done.ok()) done = Print(Told(arguments->out, *files));
  return done.ok() ? kExitOk : Fail(kExitFailure, done);
}

}  // namespace apiserver::v0::generator
