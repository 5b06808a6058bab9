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

// Ownership of an object's fields, kept in metadata.managedFields, and server-side apply on top of
// it: k8s.io/apimachinery/pkg/util/managedfields.FieldManager.
namespace apiserver::inline v0::patch::apply {

// The most managers that own fields by updates. Beyond, the oldest entries become one of the
// manager "ancient-changes" per version.
inline constexpr std::size_t kUpdateManagersMax = 10;

// The annotation in which kubectl keeps the configuration of a client-side apply.
inline constexpr std::string_view kLastAppliedConfigAnnotation =
    "kubectl.kubernetes.io/last-applied-configuration";

// The types of a kind's versions, made once and shared by its field managers. Immutable.
class TypeConverter {
 public:
  // Makes the types of every version that the kind has now.
  explicit TypeConverter(runtime::KindPtr kind);

  const runtime::KindPtr& kind() const { return kind_; }
  // Null: the kind has no such version (any more).
  const ParseableType* TypeOf(std::string_view version) const;
  // Returns an object of `version` in which nothing is set; null for an unknown version.
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

// The configuration that a client applies: a JSON object as it was sent, with apiVersion and kind.
// Text that `root` borrows must live in `arena` or be pinned there.
struct AppliedConfiguration {
  runtime::Arena arena;
  runtime::Value root;
};
using AppliedConfigurationPtr = std::shared_ptr<const AppliedConfiguration>;

// Tracks the owners of one resource or subresource in one version. Immutable but for a memory of
// the latest creates, of at most 16 KiB, which changes no outcome. All methods may be called from
// any thread; they block only if converting objects does.
class FieldManager {
 public:
  // Options of a FieldManager.
  struct Options {
    TypeConverterPtr types;  // Required.
    std::string version;     // The version of the requests; the kind must have it.
    std::string subresource = "";
    // Fields that the strategy resets, by apiVersion: no manager comes to own them here.
    FieldFilters reset_fields = {};
    std::size_t update_managers_max = kUpdateManagersMax;
    const Clock* clock = &RealClock();  // Must outlive the manager.
  };
  // `options.types` must not be null.
  explicit FieldManager(Options options);
  ~FieldManager();
  FieldManager(const FieldManager&) = delete;
  FieldManager& operator=(const FieldManager&) = delete;

  // Sets the managedFields of `object`, which is about to replace `live` (null: to be created).
  // Fields that `manager` (empty: "unknown") changes or adds are its own from now on. Owners sent
  // with the object count, unless they come through a subresource or cannot be read. An object that
  // exists and has no owners stays untracked. Both objects may be in any version of the kind and
  // are converted with `ctx`. If that fails, the owners stay as they were.
  void Update(const Context& ctx, const runtime::Object* live, runtime::Object& object,
              std::string_view manager) const;

  // Returns `live` (null: there is none) with the configuration of `manager` merged in. Fields that
  // it applied before and no longer does are removed, unless other managers own them. The result is
  // in the hub version, defaulted.
  //
  // kConflict: other managers own fields that would change; details and message name them. With
  // `force` they lose these fields instead. kBadRequest: the configuration is of another kind or
  // version, or has managedFields. kUnknown (500, as Go has it): it does not fit the kind's schema.
  // Others as runtime::Convert: `live` is in the hub version, owners and result may be in others.
  Result<std::unique_ptr<runtime::Object>> Apply(const Context& ctx, const runtime::ObjectPtr& live,
                                                 const AppliedConfigurationPtr& applied,
                                                 std::string_view manager, bool force) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};
using FieldManagerPtr = std::shared_ptr<const FieldManager>;

}  // namespace apiserver::inline v0::patch::apply
