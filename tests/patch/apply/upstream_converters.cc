#include "patch/apply/upstream_converters.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string>

namespace apiserver::inline v0::testing {

namespace {

using patch::apply::Converter;
using patch::apply::ParseableType;
using runtime::Arena;
using runtime::Member;
using runtime::Value;

// fixture.dummyConverter: every version has the same objects.
class Same final : public Converter {
 public:
  explicit Same(const ParseableType* type) : type_(type) {}
  const ParseableType* TypeOf(std::string_view) const override { return type_; }
  Result<Value> Convert(Value object, std::string_view, std::string_view, Arena&) const override {
    return object;
  }

 private:
  const ParseableType* type_;
};

// specificVersionConverter: the same, but only some versions are there.
class Some final : public Converter {
 public:
  Some(const ParseableType* type, std::string versions)
      : type_(type), versions_(std::move(versions)) {}
  const ParseableType* TypeOf(std::string_view version) const override {
    return versions_.find(version) == std::string::npos ? nullptr : type_;
  }
  Result<Value> Convert(Value object, std::string_view, std::string_view, Arena&) const override {
    return object;
  }

 private:
  const ParseableType* type_;
  std::string versions_;  // "[v1 v2]".
};

// repeatingConverter: the key "cc" of v2 is "ccc" in v3; values of other types get lost.
class Repeating final : public Converter {
 public:
  explicit Repeating(const ParseableType* type) : type_(type) {}
  const ParseableType* TypeOf(std::string_view version) const override {
    const bool known = version.size() > 1 && version[0] == 'v' &&
                       std::all_of(version.begin() + 1, version.end(),
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
    return known ? type_ : nullptr;
  }
  Result<Value> Convert(Value object, std::string_view, std::string_view to,
                        Arena& arena) const override {
    if (!object.is_map() || object.size() == 0) return object;
    const auto first = std::min_element(object.members().begin(), object.members().end(),
                                        [](const auto& a, const auto& b) { return a.key < b.key; });
    const auto times = std::strtoul(std::string(to.substr(1)).c_str(), nullptr, 10);
    runtime::MapBuilder out(arena);
    out.Add(first->key, first->value.size() == 0 ? first->value : Keys(first->value, times, arena));
    return out.Build();
  }

 private:
  static Value Keys(Value value, std::size_t times, Arena& arena) {
    if (!value.is_map() || value.size() == 0) return {};
    // Of keys that become one, the last in order stays.
    std::map<std::string, Value> sorted;
    for (const Member& member : value.members()) {
      sorted[std::string(member.key)] = Keys(member.value, times, arena);
    }
    std::map<std::string, Value> keys;
    for (const auto& [key, keys_below] : sorted) keys[std::string(times, key[0])] = keys_below;
    runtime::MapBuilder out(arena);
    for (const auto& [key, keys_below] : keys) out.Add(arena.Copy(key), keys_below);
    return out.Build();
  }

  const ParseableType* type_;
};

// Converters whose types have the names of the versions, or ones that begin with `prefix`.
class ByName : public Converter {
 public:
  ByName(Value step, Recording& recording, std::string prefix)
      : step_(step), recording_(recording), prefix_(std::move(prefix)) {}
  const ParseableType* TypeOf(std::string_view version) const override {
    if (prefix_.empty()) return recording_.TypeNamed(step_, version);
    return recording_.TypeNamed(step_, prefix_ + std::string(version.substr(1)));
  }

 private:
  Value step_;
  Recording& recording_;
  std::string prefix_;
};

// renamingConverter: name_v1 is name_v2 in v2.
class Renaming final : public ByName {
 public:
  using ByName::ByName;
  Result<Value> Convert(Value object, std::string_view from, std::string_view to,
                        Arena& arena) const override {
    if (object.is_map()) {
      runtime::MapBuilder out(arena);
      for (const Member& member : object.members()) {
        std::string key(member.key);
        if (key.ends_with(from)) key.replace(key.size() - from.size(), from.size(), to);
        out.Add(arena.Copy(key), *Convert(member.value, from, to, arena));
      }
      return out.Build();
    }
    if (!object.is_list()) return object;
    runtime::ListBuilder out(arena);
    for (const Value& item : object.items()) out.Add(*Convert(item, from, to, arena));
    return out.Build();
  }
};

// reliantFieldsConverter: v1 cannot be without what v2 calls required_field_bar.
class Reliant final : public ByName {
 public:
  using ByName::ByName;
  Result<Value> Convert(Value object, std::string_view, std::string_view to,
                        Arena& arena) const override {
    const bool first = to == "v1";
    const std::string_view from_key = first ? "required_field_bar" : "field_foo_rely_on_bar";
    const std::string_view to_key = first ? "field_foo_rely_on_bar" : "required_field_bar";
    if (first && object.Find(from_key) == nullptr) {
      return Status(Reason::kInternalError, "missing requried field bar");
    }
    runtime::MapBuilder out(arena);
    for (const Member& member : object.members()) {
      out.Add(member.key == from_key ? to_key : member.key, member.value);
    }
    return out.Build();
  }
};

}  // namespace

std::unique_ptr<Converter> ConverterOf(Value step, Recording& recording) {
  const std::string_view type = step["converter"]["type"].AsString();
  if (type == "merge_test.renamingConverter") {
    return std::make_unique<Renaming>(step, recording, "");
  }
  if (type == "merge_test.reliantFieldsConverter") {
    return std::make_unique<Reliant>(step, recording, "");
  }
  if (type == "merge_test.versionDoesntMatchTypenameConverter") {
    return std::make_unique<Reliant>(step, recording, "TypeV");
  }
  const ParseableType* const same = recording.TypeOf(step);
  if (type == "merge_test.repeatingConverter") return std::make_unique<Repeating>(same);
  if (type == "*merge_test.specificVersionConverter") {
    return std::make_unique<Some>(same, std::string(step["converter"]["versions"].AsString()));
  }
  return std::make_unique<Same>(same);
}

}  // namespace apiserver::inline v0::testing
