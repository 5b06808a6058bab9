#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/runtime/time.h"
#include "codec/config_reader.h"

namespace apiserver::inline v0::codec {

// Reads members of one object of a configuration file. Its constructor's arguments outlive it.
class ConfigMembers {
 public:
  ConfigMembers(ConfigReader& reader, const field::Path& path, runtime::Value value)
      : reader_(reader), path_(path), value_(value) {}

  std::string Text(std::string_view name) const {
    return reader_.Text(path_.Child(name), value_[name]);
  }
  std::vector<std::string> Texts(std::string_view name) const {
    return reader_.Texts(path_.Child(name), value_[name]);
  }
  std::vector<ConfigReader::Item> Items(std::string_view name) const {
    return reader_.Items(path_.Child(name), value_[name]);
  }
  bool Bool(std::string_view name, bool fallback = false) const {
    return reader_.Bool(path_.Child(name), value_[name]).value_or(fallback);
  }
  // Absent and zero give `fallback`, as Go's defaults do.
  std::chrono::nanoseconds Duration(std::string_view name,
                                    std::chrono::nanoseconds fallback) const {
    const std::string text = Text(name);
    if (text.empty() && !value_[name].is_string()) return fallback;
    const auto duration = runtime::ParseDuration(text);
    if (!duration.ok()) {
      reader_.Wrong(path_.Child(name),
                    std::string(duration.status().message()) + "; use one like \"30s\" or \"5m\"");
      return fallback;
    }
    return duration->count() == 0 ? fallback : *duration;
  }

 private:
  ConfigReader& reader_;
  const field::Path& path_;
  const runtime::Value value_;
};

// Reads `value`, whose members must be among `known`. nullopt: it is no object, which is an error
// unless it is null.
inline std::optional<ConfigMembers> MembersOf(ConfigReader& reader, const field::Path& path,
                                              runtime::Value value,
                                              std::initializer_list<std::string_view> known) {
  if (!reader.IsMap(path, value)) return std::nullopt;
  reader.CheckFields(path, value, known);
  return std::optional<ConfigMembers>(std::in_place, reader, path, value);
}

}  // namespace apiserver::inline v0::codec
