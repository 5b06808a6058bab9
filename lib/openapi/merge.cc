#include "openapi/merge.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apiserver/codec/json.h"
#include "text/hex.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::Member;
using runtime::Value;
using Digests = std::map<std::string_view, std::string>;

constexpr std::string_view kReference = "$ref";
constexpr std::string_view kDefinitionPrefix = "#/definitions/";
constexpr std::string_view kParameterPrefix = "#/parameters/";
constexpr std::string_view kSchemaPrefix = "#/components/schemas/";
constexpr std::string_view kAllOf = "allOf";

bool IsReference(const Member& member) {
  return member.key == kReference && member.value.is_string();
}

// How a value is written.
struct Writing {
  bool sorted = false;  // Members stand in the order of their names.
  // The new names of what is referred to. Null: all have kept theirs.
  const Renames* definitions = nullptr;
  const Renames* parameters = nullptr;
  // References to definitions have the form of v3: they lead to schemas, and stand alone.
  bool v3 = false;
};

// Returns the text of a reference with the new name of what it refers to.
std::string Renamed(std::string_view reference, const Writing& writing) {
  if (writing.v3 && reference.starts_with(kDefinitionPrefix)) {
    return std::string(kSchemaPrefix).append(reference.substr(kDefinitionPrefix.size()));
  }
  for (const auto& [prefix, renames] : {std::pair(kDefinitionPrefix, writing.definitions),
                                        std::pair(kParameterPrefix, writing.parameters)}) {
    if (renames == nullptr || !reference.starts_with(prefix)) continue;
    const auto found = renames->find(reference.substr(prefix.size()));
    if (found != renames->end()) return std::string(prefix) + found->second;
  }
  return std::string(reference);
}

// A list or a map that is being written.
struct OpenValue {
  OpenValue(Value opened, const Writing& writing) : value(opened) {
    for (const Member& member : value.members()) members.push_back(&member);
    if (writing.v3 && members.size() > 1) Wrap();
    if (!writing.sorted) return;
    std::sort(members.begin(), members.end(),
              [](const Member* a, const Member* b) { return a->key < b->key; });
  }

  std::size_t size() const { return value.is_map() ? members.size() : value.size(); }

  // Takes out a reference that has members beside it, which v3 puts into "allOf".
  void Wrap() {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [](const Member* each) { return IsReference(*each); });
    if (found == members.end()) return;
    wrapped = *found;
    std::erase_if(members,
                  [this](const Member* each) { return each == wrapped || each->key == kAllOf; });
  }

  Value value;
  std::vector<const Member*> members;
  const Member* wrapped = nullptr;
  std::size_t next = 0;
};

void Close(const OpenValue& closed, const Writing& writing, std::string& out) {
  if (closed.wrapped != nullptr) {
    out += closed.members.empty() ? "\"allOf\":[{\"$ref\":" : ",\"allOf\":[{\"$ref\":";
    codec::AppendJsonString(Renamed(closed.wrapped->value.AsString(), writing), out);
    out += "}]";
  }
  out += closed.value.is_map() ? '}' : ']';
}

bool IsContainer(const Value& value) { return value.is_map() || value.is_list(); }

// Appends JSON, without recursion.
void Write(Value root, const Writing& writing, std::string& out) {
  if (!IsContainer(root)) return codec::AppendJson(root, out);
  std::vector<OpenValue> open;
  const auto begin = [&](Value value) {
    out += value.is_map() ? '{' : '[';
    open.emplace_back(value, writing);
  };
  begin(root);
  while (!open.empty()) {
    OpenValue& top = open.back();
    const bool is_map = top.value.is_map();
    if (top.next == top.size()) {
      Close(top, writing, out);
      open.pop_back();
      continue;
    }
    if (top.next > 0) out += ',';
    const Member* const member = is_map ? top.members[top.next] : nullptr;
    const Value child = is_map ? member->value : top.value.at(top.next);
    ++top.next;
    if (is_map) {
      codec::AppendJsonString(member->key, out);
      out += ':';
      if (IsReference(*member)) {
        codec::AppendJsonString(Renamed(child.AsString(), writing), out);
        continue;
      }
    }
    IsContainer(child) ? begin(child) : codec::AppendJson(child, out);
  }
}

void AppendNamed(std::string_view name, Value value, const Writing& writing, std::string& out) {
  if (!out.empty()) out += ',';
  codec::AppendJsonString(name, out);
  out += ':';
  Write(value, writing, out);
}

std::string Sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return {digest.begin(), digest.end()};
}

std::string DigestWith(Value value, Writing writing) {
  writing.sorted = true;
  std::string text;
  Write(value, writing, text);
  return Sha256(text);
}

// Returns the definitions that are needed by the values, or by what they need.
std::set<std::string_view> NeededBy(std::vector<Value> open, const V2Parts& parts) {
  std::set<std::string_view> definitions;
  std::set<std::string_view> parameters;
  const auto follow = [&open](std::string_view name, const auto& all, auto& seen) {
    if (!seen.insert(name).second) return;
    const auto found = all.find(name);
    if (found != all.end()) open.push_back(found->second);
  };
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    for (const Value& item : value.items()) open.push_back(item);
    for (const Member& member : value.members()) {
      const std::string_view text = member.value.AsString();
      if (!IsReference(member)) {
        open.push_back(member.value);
      } else if (text.starts_with(kDefinitionPrefix)) {
        follow(text.substr(kDefinitionPrefix.size()), parts.definitions, definitions);
      } else if (text.starts_with(kParameterPrefix)) {
        follow(text.substr(kParameterPrefix.size()), parts.parameters, parameters);
      }
    }
  }
  return definitions;
}

std::set<std::string_view> NeededByPaths(const V2Parts& parts) {
  std::vector<Value> open;
  for (const Member& path : parts.paths) open.push_back(path.value);
  return NeededBy(std::move(open), parts);
}

// Returns new names for those of `digests` that are taken by something else. One that was given to
// an equal thing before is given again.
Renames RenamesOf(const Digests& digests,
                  const std::map<std::string, std::string, std::less<>>& taken) {
  Renames renames;
  std::set<std::string> given;
  for (const auto& [name, digest] : digests) {
    auto found = taken.find(name);
    if (found == taken.end() || found->second == digest) continue;
    const std::string stem = std::string(name) + "_v";
    std::string next;
    int number = 1;
    do {
      next = stem + std::to_string(++number);
      found = taken.find(next);
    } while (found != taken.end() && found->second != digest);
    if (found == taken.end()) {
      while (taken.contains(next) || given.contains(next) || digests.contains(next)) {
        next = stem + std::to_string(++number);
      }
      given.insert(next);
    }
    renames.emplace(name, std::move(next));
  }
  return renames;
}

std::string NewNameOf(std::string_view name, const Renames& renames) {
  const auto found = renames.find(name);
  return found == renames.end() ? std::string(name) : found->second;
}

// Returns "<group>/<version>.<kind>", by which kinds are told apart and sorted.
std::string GvkText(const Value& gvk) {
  return std::string(gvk["group"].AsString()) + "/" + std::string(gvk["version"].AsString()) + "." +
         std::string(gvk["kind"].AsString());
}

}  // namespace

V2Parts::V2Parts(Value document)
    : paths(document["paths"].members().begin(), document["paths"].members().end()) {
  for (const Member& each : document["definitions"].members()) {
    definitions.emplace(each.key, each.value);
  }
  for (const Member& each : document["parameters"].members()) {
    parameters.emplace(each.key, each.value);
  }
}

// Returns whether each of these members of a document is missing, or a map of maps and extensions.
bool IsV2(Value document) {
  if (!document.is_map()) return false;
  for (const char* const key : {"paths", "definitions", "parameters"}) {
    const Value part = document[key];
    if (!part.is_null() && !part.is_map()) return false;
    for (const Member& member : part.members()) {
      if (!member.value.is_map() && !member.key.starts_with("x-")) return false;
    }
  }
  return true;
}

void KeepVersion(const runtime::GroupVersion& version, V2Parts& parts) {
  const std::string prefix =
      (version.group.empty() ? "/api/" : "/apis/" + version.group + "/") + version.version + "/";
  std::set<std::string_view> keep;
  for (const Member& path : parts.paths) {
    if (path.key.starts_with(prefix)) keep.insert(path.key);
  }
  KeepPaths(keep, parts);
}

void KeepPaths(const std::set<std::string_view>& keep, V2Parts& parts) {
  const std::set<std::string_view> before = NeededByPaths(parts);
  std::erase_if(parts.paths, [&keep](const Member& path) { return !keep.contains(path.key); });
  const std::set<std::string_view> now = NeededByPaths(parts);
  std::erase_if(parts.definitions, [&](const auto& definition) {
    return before.contains(definition.first) && !now.contains(definition.first);
  });
}

std::string DigestOf(Value value) { return DigestWith(value, {}); }

std::string DigestOfDefinition(Value definition, runtime::Arena& arena) {
  return DigestOf(Without(definition, kGvkKey, arena));
}

void AppendV3Schema(Value schema, std::string& json) { Write(schema, {.v3 = true}, json); }

std::string HexDigestOf(std::string_view text) {
  std::string hex;
  text::AppendHex(Sha256(text), hex);
  return hex;
}

Value MergedGvks(Value first, Value second, runtime::Arena& arena) {
  if (!first.is_list()) return first.is_null() ? second : first;
  std::map<std::string, Value> all;
  for (const Value& each : first.items()) all.emplace(GvkText(each), each);
  bool changed = false;
  for (const Value& each : second.items()) {
    if (each.is_map()) changed |= all.emplace(GvkText(each), each).second;
  }
  if (!changed) return first;
  runtime::ListBuilder merged(arena);
  for (const auto& [text, gvk] : all) merged.Add(gvk);
  return merged.Build();
}

void V2Merger::Add(V2Parts document) {
  texts_.emplace_back();
  std::set<std::string_view> keep;
  for (const Member& path : document.paths) {
    if (!taken_.paths.contains(path.key)) keep.insert(path.key);
  }
  // Without a path none of the definitions is needed.
  if (keep.empty()) return;
  if (keep.size() < document.paths.size()) KeepPaths(keep, document);

  Digests digests;
  for (const auto& [name, each] : document.definitions) {
    digests.emplace(name, DigestOfDefinition(each, arena_));
  }
  const auto renames = std::make_shared<const Renames>(RenamesOf(digests, taken_.definitions));
  AddDefinitions(document, renames, digests);

  Writing writing{.definitions = renames.get()};
  Digests of_parameters;
  for (const auto& [name, each] : document.parameters) {
    of_parameters.emplace(name, DigestWith(each, writing));
  }
  const Renames parameters = RenamesOf(of_parameters, taken_.parameters);
  writing.parameters = &parameters;
  Texts& texts = texts_.back();
  for (const auto& [name, each] : document.parameters) {
    const std::string next = NewNameOf(name, parameters);
    if (!taken_.parameters.emplace(next, of_parameters[name]).second) continue;
    Write(each, writing, texts.parameters[next]);
  }
  for (const Member& path : document.paths) {
    taken_.paths.emplace(path.key);
    AppendNamed(path.key, path.value, writing, texts.paths);
  }
}

void V2Merger::AddDefinitions(const V2Parts& document,
                              const std::shared_ptr<const Renames>& renames,
                              const Digests& digests) {
  for (const auto& [name, each] : document.definitions) {
    const std::string next = NewNameOf(name, *renames);
    if (const auto before = added_.find(next); before != added_.end()) {
      before->second.gvks = MergedGvks(before->second.gvks, each[kGvkKey], arena_);
      continue;
    }
    if (taken_.definitions.contains(next)) continue;
    // A new name of a reference changes the digest of the definition that has it.
    taken_.definitions[next] = renames->empty() ? digests.at(name)
                                                : DigestWith(Without(each, kGvkKey, arena_),
                                                             {.definitions = renames.get()});
    added_.emplace(next, Added{texts_.size() - 1, each, renames, each[kGvkKey]});
  }
}

std::vector<V2Merger::Texts> V2Merger::Finish() {
  for (const auto& [name, added] : added_) {
    const Value definition = added.gvks.is_null()
                                 ? added.definition
                                 : With(added.definition, kGvkKey, added.gvks, arena_);
    AppendNamed(name, definition, {.definitions = added.renames.get()},
                texts_[added.document].definitions);
  }
  return std::move(texts_);
}

}  // namespace apiserver::v0::openapi
