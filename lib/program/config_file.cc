#include "program/config_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"
#include "base/status_macros.h"
#include "codec/config_reader.h"
#include "program/nearest.h"

namespace apiserver::v0::program {

namespace {

using codec::ConfigReader;
using runtime::Value;

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns a flag's value as the command line would have it. nullopt: it is none of the kinds that a
// flag may have.
std::optional<std::string> TextOf(Value value) {
  switch (value.type()) {
    case Value::Type::kString:
      return std::string(value.AsString());
    case Value::Type::kBool:
      return std::string(value.AsBool() ? "true" : "false");
    case Value::Type::kInt:
      return std::to_string(value.AsInt());
    case Value::Type::kDouble:
      return std::to_string(value.AsDouble());
    default:
      return std::nullopt;
  }
}

// Reads the values of one flag and adds them to `arguments`.
struct FlagReader {
  ConfigReader& reader;
  std::vector<std::string>& arguments;

  void Add(const field::Path& path, const std::string& name, Value value) const {
    if (value.is_list()) {
      for (const ConfigReader::Item& item : reader.Items(path, value)) {
        AddOne(item.path, name, item.value);
      }
      return;
    }
    AddOne(path, name, value);
  }
  void AddOne(const field::Path& path, const std::string& name, Value value) const {
    const std::optional<std::string> text = TextOf(value);
    if (text) {
      arguments.push_back(name + "=" + *text);
      return;
    }
    reader.Wrong(path, "must be a text, a number, true or false, or a list of those");
  }
};

std::string Unknown(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(name, known);
  return "there is no flag " + name + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

}  // namespace

Result<std::vector<std::string>> ReadConfigFile(const FileSystem& files, const std::string& path,
                                                const std::vector<std::string>& known,
                                                const std::vector<std::string>& given) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(path));
  ConfigReader reader(text);
  const auto root = reader.Parse("ServerConfiguration", {kConfigApiVersion});
  if (!root.ok()) {
    return Status(Reason::kInvalid, path + ": " + std::string(root.status().message()));
  }
  reader.CheckFields(field::Path(), *root, {"apiVersion", "kind", "flags"});
  std::vector<std::string> arguments;
  const field::Path flags("flags");
  const Value values = (*root)["flags"];
  if (reader.IsMap(flags, values)) {
    for (const auto& [key, value] : values.members()) {
      const std::string name = "--" + std::string(key);
      const field::Path place = flags.Child(key);
      const bool own = name == "--config" || name == "--help" || name == "--version";
      if (own) {
        reader.Wrong(place, "is for the command line alone");
      } else if (!Has(known, name)) {
        reader.Wrong(place, Unknown(name, known));
      } else if (!Has(given, name)) {
        FlagReader{.reader = reader, .arguments = arguments}.Add(place, name, value);
      }
    }
  }
  if (const Status read = reader.Outcome(); !read.ok()) {
    return Status(Reason::kInvalid, path + ": " + std::string(read.message()));
  }
  return arguments;
}

}  // namespace apiserver::v0::program
