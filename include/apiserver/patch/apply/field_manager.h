#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/patch/apply/field_set.h"
#include "apiserver/patch/apply/typed.h"
#include "apiserver/patch/apply/updater.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// Who owns which field of an object, kept in metadata.managedFields, and server-side apply on top
// of it: k8s.io/apimachinery/pkg/util/managedfields.FieldManager.
namespace apiserver::inline v0::patch::apply {

// When an eleventh manager has updated an object, the oldest entries become one of the manager
// "ancient-changes" per version.
inline constexpr std::size_t kUpdateManagersMax = 10;

// The annotation in which kubectl keeps what it applied on the client's side.
inline constexpr std::string_view kLastAppliedConfigAnnotation =
    "kubectl.kubernetes.io/last-applied-configuration";

// The types of a kind's versions, made once and shared by its field managers. Immutable.
class TypeConverter {
 public:
  explicit TypeConverter(runtime::KindPtr kind);

  const runtime::KindPtr& kind() const { return kind_; }
  // Null: the kind has no such version (any more).
  const ParseableType* TypeOf(std::string_view version) const;
  // What an object of `version` is before anything is set; null for an unknown version.
  runtime::Value EmptyObject(std::string_view version) const;

 private:
  struct Version {
    ParseableType type;
    std::unique_ptr<const runtime::Object> empty;
  };
  runtime::KindPtr kind_;
  std::map<std::string, Version, std::less<>> versions_;
};
using TypeConverterPtr = std::shared_ptr<const TypeConverter>;

// What somebody applies: a JSON object as it was sent, with apiVersion and kind. Whoever makes one
// sees to it that what `root` borrows lives in `arena` or is pinned there.
struct AppliedConfiguration {
  runtime::Arena arena;
  runtime::Value root;
};
using AppliedConfigurationPtr = std::shared_ptr<const AppliedConfiguration>;

// Of one resource or subresource in one version. Immutable; every method from any thread.
class FieldManager {
 public:
  struct Options {
    TypeConverterPtr types;  // Required.
    std::string version;     // Of the requests; one that the kind has.
    std::string subresource = "";
    // What the strategy resets, by apiVersion: nobody comes to own it here.
    FieldFilters reset_fields = {};
    std::size_t update_managers_max = kUpdateManagersMax;
    const Clock* clock = &RealClock();  // Must outlive the manager.
  };
  explicit FieldManager(Options options);
  ~FieldManager();
  FieldManager(const FieldManager&) = delete;
  FieldManager& operator=(const FieldManager&) = delete;

  // `object` is about to replace `live` (null: to be created): gives it the managedFields that say
  // so. What `manager` (empty: "unknown") changes or adds is its own from now on. Owners sent with
  // the object count, unless they come through a subresource or cannot be read; nobody is tracked
  // in an object that exists and has no owners. Both are in any version of the kind, and converted
  // with `ctx`. Where that fails, the owners stay what they were.
  void Update(const Context& ctx, const runtime::Object* live, runtime::Object& object,
              std::string_view manager) const;

  // `live` (null: nothing is there) with what `manager` applies merged in, and what it applied
  // before and no longer does removed, unless others own it; in the hub version, defaulted.
  //
  // kConflict: others own fields that would change; details and message name them. With `force`
  // they lose them instead. kBadRequest: another kind or version, or managedFields in what is
  // applied. kUnknown (500, as Go has it): what is applied does not fit the kind's schema. Others
  // as runtime::Convert: `live` is in the hub version, owners and result may be in others.
  Result<std::unique_ptr<runtime::Object>> Apply(const Context& ctx, const runtime::ObjectPtr& live,
                                                 const AppliedConfigurationPtr& applied,
                                                 std::string_view manager, bool force) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};
using FieldManagerPtr = std::shared_ptr<const FieldManager>;

}  // namespace apiserver::inline v0::patch::apply
