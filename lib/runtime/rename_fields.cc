#include "runtime/rename_fields.h"

#include <algorithm>
#include <string_view>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::runtime {

namespace {

// A path taken apart: "spec.size" is {"spec", "size"}, "size" is {"", "size"}.
struct FieldPlace {
  explicit FieldPlace(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot != std::string_view::npos) parent = path.substr(0, dot);
    name = path.substr(dot == std::string_view::npos ? 0 : dot + 1);
  }
  std::string_view parent;
  std::string_view name;
};

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    names.emplace_back(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return names;
}

std::string_view OldPath(const RenameField& rename, RenameTo to) {
  return to == RenameTo::kHub ? rename.here : rename.hub;
}
std::string_view NewPath(const RenameField& rename, RenameTo to) {
  return to == RenameTo::kHub ? rename.hub : rename.here;
}

// The new name of the member `name` of the map at `parent`; its own name if it keeps that.
std::string_view NewName(std::span<const RenameField> renames, RenameTo to, std::string_view parent,
                         std::string_view name) {
  for (const RenameField& rename : renames) {
    const FieldPlace place(OldPath(rename, to));
    if (place.parent == parent && place.name == name) return FieldPlace(NewPath(rename, to)).name;
  }
  return name;
}

void RenameMembers(Object& object, std::string_view parent, std::span<const RenameField> renames,
                   RenameTo to) {
  const std::vector<std::string> path = SplitPath(parent);
  Value map = object.root();
  for (const std::string& name : path) map = map[name];
  MapBuilder renamed(object.arena());
  bool changed = false;
  for (const Member& member : map.members()) {
    const std::string_view name = NewName(renames, to, parent, member.key);
    changed = changed || name != member.key;
    // A name of the kind's lives in the kind, which the object keeps; a copy may outlive it.
    renamed.Add(name == member.key ? member.key : object.arena().Copy(name), member.value);
  }
  if (!changed) return;
  const Value built = renamed.Build();
  if (path.empty()) return object.SetRoot(built);
  object.SetPath(path, built);
}

// The struct whose field `path` names; null if the schema has none, or the path leads through what
// is no struct.
const Schema* StructOf(const KindVersion& version, std::string_view path) {
  const Schema* at = version.schema.get();
  for (const std::string& name : SplitPath(FieldPlace(path).parent)) {
    const Field* const field = at != nullptr ? at->FindField(name) : nullptr;
    at = field != nullptr ? field->schema.get() : nullptr;
  }
  if (at == nullptr || at->FindField(FieldPlace(path).name) == nullptr) return nullptr;
  return at;
}

class RenameCheck {
 public:
  RenameCheck(const KindVersion& version, const KindVersion& hub,
              std::vector<std::string>& problems)
      : version_(version), hub_(hub), problems_(problems) {}

  void Check(const RenameField& rename) {
    const Schema* const here = StructOf(version_, rename.here);
    const Schema* const hub = StructOf(hub_, rename.hub);
    if (here == nullptr) Add(rename, NoField(version_, rename.here));
    if (hub == nullptr) Add(rename, NoField(hub_, rename.hub));
    if (here == nullptr || hub == nullptr) return;
    const FieldPlace from(rename.here);
    const FieldPlace to(rename.hub);
    if (from.parent != to.parent) {
      return Add(rename, "only the last name may differ; to_hub and from_hub move a field");
    }
    if (SplitPath(rename.here).front() == "metadata") {
      return Add(rename, "metadata is the same in every version");
    }
    if (here->FindField(from.name)->schema->type != hub->FindField(to.name)->schema->type) {
      Add(rename, "the fields have different types");
    }
    if (here->preserve_unknown_fields || hub->preserve_unknown_fields) {
      Add(rename, "beside it unknown fields are kept, which could have its name");
    }
    CheckFree(rename, version_, to, RenameTo::kHub);
    CheckFree(rename, hub_, from, RenameTo::kVersion);
  }

  // Two renames must not meet: neither in one field, nor one inside what the other renames.
  void CheckPairs() {
    const std::vector<RenameField>& renames = version_.conversions;
    for (std::size_t i = 0; i < renames.size(); ++i) {
      for (std::size_t j = 0; j < renames.size(); ++j) {
        if (j < i && (renames[i].here == renames[j].here || renames[i].hub == renames[j].hub)) {
          Add(renames[i], "one of them is renamed already");
        }
        if (renames[i].here.starts_with(renames[j].here + ".") ||
            renames[i].hub.starts_with(renames[j].hub + ".")) {
          Add(renames[i], "what it stands in is renamed too");
        }
      }
    }
  }

 private:
  void Add(const RenameField& rename, std::string_view why) {
    std::string& problem = problems_.emplace_back(version_.version);
    problem.append(": cannot rename ").append(field::Quote(rename.here));
    problem.append(" to ").append(field::Quote(rename.hub)).append(": ").append(why);
  }

  static std::string NoField(const KindVersion& version, std::string_view path) {
    return version.version + " has no field " + field::Quote(path);
  }

  // The new name must not be that of a field that stands in `version` and keeps it.
  void CheckFree(const RenameField& rename, const KindVersion& version, const FieldPlace& taken,
                 RenameTo to) {
    std::string path(taken.parent);
    path.append(path.empty() ? "" : ".").append(taken.name);
    if (StructOf(version, path) == nullptr) return;
    if (NewName(version_.conversions, to, taken.parent, taken.name) != taken.name) return;
    Add(rename, version.version + " has a field " + field::Quote(path) + " too");
  }

  const KindVersion& version_;
  const KindVersion& hub_;
  std::vector<std::string>& problems_;
};

}  // namespace

void RenameFields(Object& object, std::span<const RenameField> renames, RenameTo to) {
  for (std::size_t i = 0; i < renames.size(); ++i) {
    // The parents are the same in both versions: each is visited with its first member.
    const std::string_view parent = FieldPlace(renames[i].here).parent;
    const auto before = renames.first(i);
    const bool done = std::any_of(before.begin(), before.end(), [&](const RenameField& other) {
      return FieldPlace(other.here).parent == parent;
    });
    if (!done) RenameMembers(object, parent, renames, to);
  }
}

void CheckRenames(const KindVersion& version, const KindVersion& hub,
                  std::vector<std::string>& problems) {
  RenameCheck check(version, hub, problems);
  for (const RenameField& rename : version.conversions) check.Check(rename);
  check.CheckPairs();
}

}  // namespace apiserver::v0::runtime
