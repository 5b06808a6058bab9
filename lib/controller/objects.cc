#include "apiserver/controller/objects.h"

#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/patch/merge_patch.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/value.h"
#include "base/status_macros.h"

namespace apiserver::v0::controller {
namespace {

using runtime::Arena;
using runtime::GroupVersion;
using runtime::Object;
using runtime::Value;

Status Mutate(const client::Target& target, const MutateFunction& mutate, Object& object) {
  RETURN_IF_ERROR(mutate(object));
  if (object.name() == target.name && object.namespace_() == target.namespace_) {
    return Status::Ok();
  }
  return Status(Reason::kInvalid, "MutateFn cannot mutate object name and/or object namespace");
}

Result<Operation> CreateNew(const Context& ctx, client::Client& client, client::Target target,
                            const runtime::KindPtr& kind, const MutateFunction& mutate) {
  Object object(kind, target.resource.version);
  object.Edit("metadata", "name") = target.name;
  if (!target.namespace_.empty()) object.Edit("metadata", "namespace") = target.namespace_;
  RETURN_IF_ERROR(Mutate(target, mutate, object));
  target.name.clear();
  ASSIGN_OR_RETURN(auto created, client.Create(ctx, target, object));
  return Operation{.result = OperationResult::kCreated, .object = std::move(created)};
}

// Reads `target` into `before` and returns a changed copy of it. Null: there is none.
Result<std::unique_ptr<Object>> ReadAndMutate(const Context& ctx, client::Client& client,
                                              const client::Target& target,
                                              const MutateFunction& mutate,
                                              std::unique_ptr<Object>& before) {
  auto read = client.Get(ctx, target);
  if (!read.ok()) {
    if (read.status().reason() == Reason::kNotFound) return std::unique_ptr<Object>();
    return read.status();
  }
  before = std::move(*read);
  std::unique_ptr<Object> changed = before->Clone();
  RETURN_IF_ERROR(Mutate(target, mutate, *changed));
  return changed;
}

// One of the two parts of an object that are written apart: its status, or all else.
enum class Part : std::uint8_t { kObject, kStatus };

Value PartOf(const Object& object, Part part, Arena& arena) {
  runtime::MapBuilder members(arena);
  for (const runtime::Member& member : object.root().members()) {
    const Part its = member.key == "status" ? Part::kStatus : Part::kObject;
    if (its == part) members.Add(member.key, member.value);
  }
  return members.Build();
}

// A change of an object.
struct Change {
  const Object& before;
  const Object& after;
};

// Sends what has changed in one part of an object. Null: nothing has.
client::Client::ObjectResult PatchPart(const Context& ctx, client::Client& client,
                                       client::Target target, const Change& change, Part part) {
  Arena arena;
  const Value difference = patch::CreateMergePatch(PartOf(change.before, part, arena),
                                                   PartOf(change.after, part, arena), arena);
  if (difference.size() == 0) return std::unique_ptr<Object>();
  if (part == Part::kStatus) target.subresource = "status";
  client::Client::PatchBody patch{.media_type = "application/merge-patch+json", .text = ""};
  codec::AppendJson(difference, patch.text);
  return client.Patch(ctx, target, patch);
}

// The version may have changed since the reference was made.
bool SameOwner(Value a, Value b) {
  return a["kind"].AsString() == b["kind"].AsString() &&
         a["name"].AsString() == b["name"].AsString() &&
         GroupVersion::Parse(a["apiVersion"].AsString()).group ==
             GroupVersion::Parse(b["apiVersion"].AsString()).group;
}

Status CheckOwner(const Object& owner, const Object& object) {
  const std::string space(owner.namespace_());
  if (owner.uid().empty()) return Status(Reason::kInvalid, "the owner has no uid");
  if (space.empty() || space == object.namespace_()) return Status::Ok();
  if (object.namespace_().empty()) {
    return Status(
        Reason::kInvalid,
        "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace " +
            space);
  }
  return Status(Reason::kInvalid,
                "cross-namespace owner references are disallowed, owner's namespace " + space +
                    ", obj's namespace " + std::string(object.namespace_()));
}

Value OwnerReferenceTo(const Object& owner, bool controller, Arena& arena) {
  const runtime::GroupVersionKind gvk = owner.gvk();
  runtime::MapBuilder map(arena);
  const auto text = [&](std::string_view key, std::string_view value) {
    map.Add(key, Value::String(arena.Copy(value)));
  };
  text("apiVersion", gvk.group_version().ToString());
  text("kind", gvk.kind);
  text("name", owner.name());
  text("uid", owner.uid());
  if (controller) {
    map.Add("controller", Value::Bool(true));
    map.Add("blockOwnerDeletion", Value::Bool(true));
  }
  return map.Build();
}

// Replaces the reference to the same owner, or adds one.
void PutReference(Object& object, Value reference) {
  runtime::ListBuilder references(object.arena());
  bool placed = false;
  for (const Value old : object.metadata()["ownerReferences"].items()) {
    const bool same = SameOwner(old, reference);
    if (!same || !placed) references.Add(same ? reference : old);
    placed = placed || same;
  }
  if (!placed) references.Add(reference);
  object.SetPath({"metadata", "ownerReferences"}, references.Build());
}

}  // namespace

Result<Operation> CreateOrUpdate(const Context& ctx, client::Client& client,
                                 const client::Target& target, const runtime::KindPtr& kind,
                                 const MutateFunction& mutate) {
  std::unique_ptr<Object> before;
  ASSIGN_OR_RETURN(const auto after, ReadAndMutate(ctx, client, target, mutate, before));
  if (!after) return CreateNew(ctx, client, target, kind, mutate);
  if (after->root() == before->root()) return Operation{.object = std::move(before)};
  ASSIGN_OR_RETURN(auto updated, client.Update(ctx, target, *after));
  return Operation{.result = OperationResult::kUpdated, .object = std::move(updated)};
}

Result<Operation> CreateOrPatch(const Context& ctx, client::Client& client,
                                const client::Target& target, const runtime::KindPtr& kind,
                                const MutateFunction& mutate) {
  std::unique_ptr<Object> before;
  ASSIGN_OR_RETURN(const auto after, ReadAndMutate(ctx, client, target, mutate, before));
  if (!after) return CreateNew(ctx, client, target, kind, mutate);
  const Change change{*before, *after};
  ASSIGN_OR_RETURN(auto patched, PatchPart(ctx, client, target, change, Part::kObject));
  ASSIGN_OR_RETURN(auto status, PatchPart(ctx, client, target, change, Part::kStatus));
  if (status) {
    return Operation{
        .result = patched ? OperationResult::kUpdatedStatus : OperationResult::kUpdatedStatusOnly,
        .object = std::move(status)};
  }
  if (patched) return Operation{.result = OperationResult::kUpdated, .object = std::move(patched)};
  return Operation{.object = std::move(before)};
}

client::Client::ObjectResult Apply(const Context& ctx, client::Client& client,
                                   const client::Target& target, const Object& object,
                                   const ApplyOptions& options) {
  if (options.field_manager.empty()) return Status(Reason::kInvalid, "field_manager is required");
  const runtime::GroupVersionKind gvk = object.gvk();
  const std::string api_version = gvk.group_version().ToString();
  Arena arena;
  runtime::MapBuilder map(arena);
  map.Add("kind", Value::String(gvk.kind));
  map.Add("apiVersion", Value::String(api_version));
  for (const runtime::Member& member : object.root().members()) {
    map.Add(member.key, member.value);
  }
  // JSON is YAML, too.
  client::Client::PatchBody patch{.media_type = "application/apply-patch+yaml", .text = ""};
  codec::AppendJson(map.Build(), patch.text);
  return client.Patch(ctx, target, patch,
                      {.force = options.force, .field_manager = options.field_manager});
}

Status SetControllerReference(const Object& owner, Object& object) {
  RETURN_IF_ERROR(CheckOwner(owner, object));
  const Value reference = OwnerReferenceTo(owner, /*controller=*/true, object.arena());
  for (const Value old : object.metadata()["ownerReferences"].items()) {
    if (!old["controller"].AsBool() || SameOwner(old, reference)) continue;
    return Status(Reason::kAlreadyExists,
                  "Object " + std::string(object.namespace_()) + "/" + std::string(object.name()) +
                      " is already owned by another " + std::string(old["kind"].AsString()) +
                      " controller " + std::string(old["name"].AsString()));
  }
  PutReference(object, reference);
  return Status::Ok();
}

Status SetOwnerReference(const Object& owner, Object& object) {
  RETURN_IF_ERROR(CheckOwner(owner, object));
  PutReference(object, OwnerReferenceTo(owner, /*controller=*/false, object.arena()));
  return Status::Ok();
}

bool AddFinalizer(Object& object, std::string_view finalizer) {
  if (ContainsFinalizer(object, finalizer)) return false;
  runtime::ListBuilder all(object.arena());
  for (const Value one : object.finalizers().items()) all.Add(one);
  all.Add(Value::String(object.arena().Copy(finalizer)));
  object.SetPath({"metadata", "finalizers"}, all.Build());
  return true;
}

bool RemoveFinalizer(Object& object, std::string_view finalizer) {
  if (!ContainsFinalizer(object, finalizer)) return false;
  runtime::ListBuilder rest(object.arena());
  for (const Value one : object.finalizers().items()) {
    if (one.AsString() != finalizer) rest.Add(one);
  }
  if (rest.size() == 0) {
    object.Erase("metadata", "finalizers");
  } else {
    object.SetPath({"metadata", "finalizers"}, rest.Build());
  }
  return true;
}

bool ContainsFinalizer(const Object& object, std::string_view finalizer) {
  for (const Value one : object.finalizers().items()) {
    if (one.AsString() == finalizer) return true;
  }
  return false;
}

}  // namespace apiserver::v0::controller
