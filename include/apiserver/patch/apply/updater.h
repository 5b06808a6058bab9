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

// Who owns what after a write, and what an apply makes of an object:
// sigs.k8s.io/structured-merge-diff's package merge.
namespace apiserver::inline v0::patch::apply {

// What a manager owns, in the version in which it last wrote.
struct VersionedSet {
  FieldSet set;
  std::string api_version;
  bool applied = false;  // By apply, which removes what it no longer mentions.

  friend bool operator==(const VersionedSet&, const VersionedSet&) = default;
};

// By the manager's identifier, whatever that is made of.
using Managers = std::map<std::string, VersionedSet, std::less<>>;

// Turns objects from one API version into another one.
class Converter {
 public:
  virtual ~Converter() = default;

  // The type of objects in `version`; null: there is no such version (any more), so that nobody can
  // own anything in it. Lives as long as the Converter.
  virtual const ParseableType* TypeOf(std::string_view version) const = 0;
  // `object` as `to` (not `from`) has it; in `arena`, sharing what it can.
  virtual Result<runtime::Value> Convert(runtime::Value object, std::string_view from,
                                         std::string_view to, runtime::Arena& arena) const = 0;
};

// A field that somebody else owns and an apply would change.
struct Conflict {
  std::string manager;
  Path path;  // Borrows what the manager's set does.
};

// `conflict with "x": .spec`, or "conflicts with" and a path a line for each manager.
std::string ConflictsMessage(std::span<const Conflict> conflicts);

// How the objects of one kind are updated. Immutable; what is passed in must outlive it.
class Updater {
 public:
  // `filters`, if any, name the fields that nobody comes to own, by version.
  explicit Updater(const Converter& converter, const FieldFilters* filters = nullptr)
      : converter_(converter), filters_(filters) {}

  struct Write {
    std::string_view version;  // Of both objects.
    Managers managers;         // Who owns what of the live object.
    std::string_view manager;  // Who writes: an identifier as in `managers`, or a new one.
    bool force = false;        // Of an apply: take conflicting fields away from their owners.
  };

  // Who owns what once `object` stands in place of `live` (null when it is created): what differs
  // becomes the writer's alone. Both must be valid, but may have items twice.
  Result<Managers> Update(const TypedValue& live, const TypedValue& object, Write write,
                          runtime::Arena& arena) const;

  struct Applied {
    // Not empty: others own what would change, nothing is done, and the rest is not set.
    std::vector<Conflict> conflicts;
    Managers managers;
    // What stands in place of the live object, in the version of the write.
    TypedValue object;
    bool changed = false;  // Whether `object` says something else than the live one.
  };
  // `live` with `config`, what the writer wants to own: merged in, without what the writer applied
  // earlier, and nobody else owns, but `config` no longer has. Both must be valid, `config` without
  // items that are there twice.
  Result<Applied> Apply(const TypedValue& live, const TypedValue& config, Write write,
                        runtime::Arena& arena) const;

 private:
  class Run;

  const Converter& converter_;
  const FieldFilters* filters_;
};

}  // namespace apiserver::inline v0::patch::apply
