#pragma once

#include <map>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::apiextensions {

// The parts of versions that Kubernetes' internal type has once where all versions agree.
struct Hoisted {
  bool schema = false;
  bool subresources = false;
  bool columns = false;
  bool selectable_fields = false;
};

// A definition's spec as the internal type has it.
class InternalSpec {
 public:
  explicit InternalSpec(const runtime::Object& definition);

  const runtime::Value& json() const { return spec_; }
  const runtime::Value& versions() const { return versions_; }
  const Hoisted& hoisted() const { return hoisted_; }
  // Returns the part `key` of spec.versions that all have, or null if it is not hoisted.
  runtime::Value schema() const { return Common(hoisted_.schema, "schema"); }
  runtime::Value subresources() const { return Common(hoisted_.subresources, "subresources"); }
  runtime::Value columns() const { return Common(hoisted_.columns, "additionalPrinterColumns"); }
  runtime::Value selectable_fields() const {
    return Common(hoisted_.selectable_fields, "selectableFields");
  }
  // Returns the first version of a name. Null: there is none.
  runtime::Value Find(std::string_view name) const;
  // Returns the subresources that hold for an entry of spec.versions.
  runtime::Value SubresourcesOf(const runtime::Value& version) const;
  // True if a version has the status subresource.
  bool HasAnyStatus() const;

 private:
  runtime::Value Common(bool hoisted, std::string_view key) const;

  runtime::Value spec_;
  runtime::Value versions_;
  Hoisted hoisted_;
  // The first version of each name.
  std::map<std::string_view, runtime::Value> by_name_;
};

}  // namespace apiserver::inline v0::apiextensions
