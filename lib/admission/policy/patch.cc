#include "admission/policy/patch.h"

#include <string>
#include <utility>
#include <vector>

#include "admission/request_value.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "apiserver/patch/json_patch.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

using patch::apply::TypedValue;
using runtime::Schema;
using runtime::SchemaType;
using runtime::Value;

Status CannotApply(std::string_view what, std::string_view why) {
  return {Reason::kInvalid, "error applying patch: " + std::string(what) + std::string(why)};
}

// Takes off the words that a decoder puts before an error of a request's body.
std::string_view WithoutHead(std::string_view error, const std::string& kind) {
  const std::string head = " cannot be handled as a " + kind + ": ";
  const std::size_t at = error.find(head);
  return at == std::string_view::npos ? error : error.substr(at + head.size());
}

bool IsAtomicList(const Schema& schema) {
  const bool merged = schema.patch_strategy().starts_with("merge");
  return schema.list_type == Schema::ListType::kAtomic && !merged;
}

// Collects the paths of atomic parts of a configuration: smd.go findAtomics. The depth is that of
// `value`, whose type has been checked.
void FindAtomics(const Value& value, const Schema& schema, const std::string& path,
                 std::vector<std::string>& found) {
  if (value.is_map() && (schema.type == SchemaType::kStruct || schema.type == SchemaType::kMap)) {
    if (schema.atomic) found.push_back(path);
    // Values of maps are not looked into, as upstream.
    if (schema.type != SchemaType::kStruct) return;
    for (const runtime::Member& member : value.members()) {
      const runtime::Field* field = schema.FindField(member.key);
      if (field == nullptr) continue;
      FindAtomics(member.value, *field->schema, path + "." + std::string(member.key), found);
    }
  }
  if (value.is_list() && schema.type == SchemaType::kList) {
    if (IsAtomicList(schema)) found.push_back(path);
    for (std::size_t i = 0; i < value.size(); ++i) {
      FindAtomics(value.at(i), *schema.items(), path + "[" + std::to_string(i) + "]", found);
    }
  }
}

// Returns a copy of `object` with another content.
std::unique_ptr<runtime::Object> WithContent(const runtime::Object& object, const Value& whole) {
  auto changed = std::make_unique<runtime::Object>(object.kind_ptr(), object.version());
  runtime::MapBuilder root(changed->arena());
  for (const runtime::Member& member : whole.members()) {
    // They stand beside the content of an object.
    if (member.key == "kind" || member.key == "apiVersion") continue;
    root.Add(changed->arena().Copy(member.key), runtime::Copy(member.value, changed->arena()));
  }
  changed->SetRoot(root.Build());
  return changed;
}

}  // namespace

runtime::SchemaPtr SchemaOf(const runtime::Object& object) {
  const runtime::KindVersion* version = object.kind().FindVersion(object.version());
  return version == nullptr ? runtime::SchemaPtr() : version->schema;
}

Result<std::unique_ptr<runtime::Object>> MergeConfiguration(
    const runtime::Object& object, const Value& configuration,
    const patch::apply::ParseableType& type) {
  runtime::Arena arena;
  const Value live = ObjectValue(&object, arena);
  runtime::MapBuilder whole(arena);
  whole.Add("kind", live["kind"]);
  whole.Add("apiVersion", live["apiVersion"]);
  for (const runtime::Member& member : configuration.members()) {
    if (member.key != "kind" && member.key != "apiVersion") whole.Add(member.key, member.value);
  }
  const auto typed = patch::apply::AsTyped(whole.Build(), type);
  if (!typed.ok()) {
    return CannotApply("failed to convert patch object to typed object: ",
                       typed.status().message());
  }
  std::vector<std::string> atomics;
  if (const auto schema = SchemaOf(object)) FindAtomics(configuration, *schema, "", atomics);
  if (!atomics.empty()) {
    std::string paths;
    for (const std::string& path : atomics) paths += (paths.empty() ? "" : ", ") + path;
    return CannotApply(
        "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ", paths);
  }
  const auto before = patch::apply::AsTyped(live, type, {.allow_duplicates = true});
  if (!before.ok()) {
    return CannotApply("failed to convert original object to typed object: ",
                       before.status().message());
  }
  const auto merged = before->Merge(*typed, arena);
  if (!merged.ok()) return CannotApply("failed to merge patch: ", merged.status().message());
  return WithContent(object, merged->value());
}

Result<std::unique_ptr<runtime::Object>> ApplyOperations(const runtime::Object& object,
                                                         std::string_view patch) {
  runtime::Arena arena;
  const auto patched = patch::ApplyJsonPatchExplained(ObjectValue(&object, arena), patch, arena);
  if (!patched.ok()) {
    if (patched.status().message().ends_with("test failed")) {
      return std::unique_ptr<runtime::Object>();
    }
    return Status(Reason::kInvalid, "JSON Patch: " + std::string(patched.status().message()));
  }
  // Read as a body is, so that a patch cannot make what a client could not send.
  auto body = std::make_shared<std::string>();
  codec::AppendJson(*patched, *body);
  auto decoded = codec::DecodeObject(codec::MediaType::kJson, std::move(body),
                                     {.kind = object.kind_ptr(), .version = object.version()});
  if (!decoded.ok()) {
    return meta::NewInternalError(WithoutHead(decoded.status().message(), object.kind().kind()));
  }
  // Custom resources are pruned instead.
  const bool strict = object.kind().semantics() == runtime::Semantics::kGoType;
  if (strict && !decoded->strict_errors.empty()) {
    std::string all = "strict decoding error: ";
    for (const std::string& error : decoded->strict_errors) {
      all += (all.back() == ' ' ? "" : ", ") + error;
    }
    return meta::NewInternalError(all);
  }
  return std::move(decoded->object);
}

}  // namespace apiserver::v0::admission::policy
