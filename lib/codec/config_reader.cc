#include "codec/config_reader.h"

#include <algorithm>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "base/status_macros.h"

namespace apiserver::v0::codec {

namespace {

using field::Path;
using runtime::Value;

// Limits for files that people write.
constexpr JsonLimits kConfigLimits = {.depth_max = 100, .bytes_max = 4 << 20};

std::string ListOf(std::initializer_list<std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

// Returns `text` without line breaks and control characters: a message is one line even if a file's
// own keys are not.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char& c : text) {
    if (static_cast<unsigned char>(c) >= ' ' && c != '\x7f') {
      line += c;
      continue;
    }
    const std::string quoted = field::Quote({&c, 1});
    line.append(quoted, 1, quoted.size() - 2);
  }
  return line;
}

std::string Located(std::size_t line, std::string_view text) {
  const std::string where = line == 0 ? "" : "line " + std::to_string(line) + ": ";
  return where + OneLine(text);
}

}  // namespace

Result<Value> ConfigReader::Parse(std::string_view kind,
                                  std::initializer_list<std::string_view> api_versions) {
  std::vector<std::string> duplicates;
  const std::size_t start = text_.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) {
    return Status(Reason::kInvalid,
                  "the file is empty; it must hold an object of kind " + std::string(kind));
  }
  Result<Value> root = text_[start] == '{' ? ParseJson(text_, arena_, &duplicates, kConfigLimits)
                                           : ParseYaml(text_, arena_, &duplicates, kConfigLimits);
  if (!root.ok()) return Status(Reason::kInvalid, OneLine(root.status().message()));
  if (!root->is_map()) {
    return Status(
        Reason::kInvalid,
        "line 1: the document must be an object with apiVersion and kind " + std::string(kind));
  }
  for (const std::string& duplicate : duplicates) {
    // YAML's duplicates have their line, JSON's are paths.
    if (duplicate.starts_with("line ")) {
      findings_.push_back({0, duplicate + "; keep one of them"});
    } else {
      Wrong(Path(duplicate), "is given twice; keep one of them");
    }
  }
  const std::string version = Text(Path("apiVersion"), (*root)["apiVersion"]);
  if (std::find(api_versions.begin(), api_versions.end(), version) == api_versions.end()) {
    Wrong(Path("apiVersion"), "is " + field::Quote(version) + "; use " + ListOf(api_versions));
  }
  const std::string found = Text(Path("kind"), (*root)["kind"]);
  if (found != kind) {
    Wrong(Path("kind"), "is " + field::Quote(found) + "; use " + std::string(kind));
  }
  // Another kind has other fields, so they cannot be checked.
  RETURN_IF_ERROR(Outcome());
  return *root;
}

void ConfigReader::CheckFields(const Path& path, Value map,
                               std::initializer_list<std::string_view> known) {
  for (const runtime::Member& member : map.members()) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    Wrong(path.Child(member.key), "is no field here; known are " + ListOf(known));
  }
}

bool ConfigReader::IsMap(const Path& path, Value value) {
  return Is(path, value, value.is_map(), "an object");
}

std::string ConfigReader::Text(const Path& path, Value value) {
  return Is(path, value, value.is_string(), "a string") ? std::string(value.AsString()) : "";
}

std::optional<bool> ConfigReader::Bool(const Path& path, Value value) {
  if (!Is(path, value, value.type() == Value::Type::kBool, "true or false")) return std::nullopt;
  return value.AsBool();
}

std::optional<std::int64_t> ConfigReader::Number(const Path& path, Value value) {
  if (!Is(path, value, value.type() == Value::Type::kInt, "an integer")) return std::nullopt;
  return value.AsInt();
}

std::vector<std::string> ConfigReader::Texts(const Path& path, Value value) {
  std::vector<std::string> texts;
  for (const Item& item : Items(path, value)) texts.push_back(Text(item.path, item.value));
  return texts;
}

std::vector<ConfigReader::Item> ConfigReader::Items(const Path& path, Value value) {
  std::vector<Item> items;
  if (!Is(path, value, value.is_list(), "a list")) return items;
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    items.push_back({path.Index(i), value.items()[i]});
  }
  return items;
}

void ConfigReader::Wrong(const Path& path, std::string_view what) {
  findings_.push_back({YamlLineOf(text_, path.text()), path.text() + " " + std::string(what)});
}

void ConfigReader::Wrong(const field::ErrorList& errors) {
  for (const field::Error& error : errors) {
    findings_.push_back({YamlLineOf(text_, error.field), error.Message()});
  }
}

Status ConfigReader::Outcome() const {
  if (findings_.empty()) return {};
  std::vector<Finding> sorted = findings_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Finding& a, const Finding& b) { return a.line < b.line; });
  std::string message;
  for (const Finding& each : sorted) {
    if (!message.empty()) message += "; ";
    message += Located(each.line, each.text);
  }
  return {Reason::kInvalid, std::move(message)};
}

// A field that is absent reads as null, which is no finding: the caller knows what is required.
bool ConfigReader::Is(const Path& path, Value value, bool right, std::string_view what) {
  if (!right && !value.is_null()) Wrong(path, "must be " + std::string(what));
  return right;
}

}  // namespace apiserver::v0::codec
