#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/field_filter.h"
#include "apiserver/patch/apply/field_set.h"
#include "apiserver/patch/apply/typed.h"

// Updates the owners of an object's fields after a write, and merges applied configurations:
// sigs.k8s.io/structured-merge-diff's package merge.
namespace apiserver::inline v0::patch::apply {

// The fields of one manager, named in the version in which it last wrote.
struct VersionedSet {
  FieldSet set;
  std::string api_version;
  bool applied = false;  // By apply, which removes fields that it no longer mentions.

  friend bool operator==(const VersionedSet&, const VersionedSet&) = default;
};

// The owners by the manager's identifier, which may be any text.
using Managers = std::map<std::string, VersionedSet, std::less<>>;

// Converts objects from one API version to another. Called on the thread of Updater's methods.
class Converter {
 public:
  virtual ~Converter() = default;

  // Returns the type of objects in `version`. Null: there is no such version (any more), so that
  // its fields have no owners. Lives as long as the Converter.
  virtual const ParseableType* TypeOf(std::string_view version) const = 0;
  // Returns `object` in version `to`, which differs from `from`; in `arena`, sharing what it can.
  // May block if conversion does.
  virtual Result<runtime::Value> Convert(runtime::Value object, std::string_view from,
                                         std::string_view to, runtime::Arena& arena) const = 0;
};

// A field that another manager owns and an apply would change.
struct Conflict {
  std::string manager;
  Path path;  // Borrowed from the manager's set.
};

// Prints `conflict with "x": .spec`, or "conflicts with" and one path a line for each manager.
std::string ConflictsMessage(std::span<const Conflict> conflicts);

// Updates objects of one kind. Immutable; the arguments of its constructor must outlive it.
class Updater {
 public:
  // `filters`, if not null, name the fields that get no owner, by version.
  explicit Updater(const Converter& converter, const FieldFilters* filters = nullptr)
      : converter_(converter), filters_(filters) {}

  // One write and its author.
  struct Write {
    std::string_view version;  // The version of both objects.
    Managers managers;         // The owners of the live object's fields.
    std::string_view manager;  // The writer's identifier, as in `managers`, or a new one.
    bool force = false;        // Makes an apply take conflicting fields from their owners.
    // Tells Update() how its objects differ, without fields that get no owner. Null: not known.
    // Apply() takes no notice of it.
    const Comparison* changes = nullptr;
  };

  // Returns the owners after `object` has replaced `live` (null when it is created): fields that
  // differ become the writer's alone. Both must be valid, but may have duplicate items.
  Result<Managers> Update(const TypedValue& live, const TypedValue& object, Write write,
                          runtime::Arena& arena) const;

  // The outcome of an apply.
  struct Applied {
    // Not empty: other managers own fields that would change. Nothing is done, and the other
    // members are not set.
    std::vector<Conflict> conflicts;
    Managers managers;
    // The object that replaces the live one, in the version of the write.
    TypedValue object;
    bool changed = false;  // The content of `object` differs from that of the live one.
  };
  // Merges `config`, the fields that the writer wants to own, into `live`, and removes fields that
  // the writer applied earlier, that `config` no longer has and that no other manager owns. Both
  // must be valid, `config` without duplicate items.
  Result<Applied> Apply(const TypedValue& live, const TypedValue& config, Write write,
                        runtime::Arena& arena) const;

 private:
  class Run;

  const Converter& converter_;
  const FieldFilters* filters_;
};

}  // namespace apiserver::inline v0::patch::apply
