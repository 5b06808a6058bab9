#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::apiextensions {

// The demands on a definition. An update need not meet those that the stored object breaks.
struct Demands {
  bool recognized_review_version = true;
  bool immutable_names = false;
  bool schema = true;
  bool valid_types = true;
  bool structural = true;
  bool pruned_defaults = true;
  bool atomic_sets = true;
  bool sound_list_keys = true;
  bool valid_ca_bundle = false;
  // The versions whose schema an update leaves as it is. The cost of their rules is not judged.
  std::set<std::string_view> unchanged_schemas = {};
  // The versions that may have more selectable fields than allowed; "": all.
  std::set<std::string_view> too_many_selectable_fields = {};
  // The expressions that the stored object has, in rules and for messages.
  std::set<std::string, std::less<>> stored_rules = {};
};

// Returns the demands on the replacement of `old`.
Demands DemandsAfter(const runtime::Object& definition, const runtime::Object& old);

}  // namespace apiserver::inline v0::apiextensions
