#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/patch/apply/managed_fields.h"

namespace apiserver::inline v0::patch::apply {

inline constexpr std::string_view kApply = "Apply";
inline constexpr std::string_view kUpdate = "Update";

// An entry of managedFields.
struct Owner {
  ManagerInfo info;
  std::optional<runtime::UnixTime> time;  // nullopt: not known.
  runtime::Value fields_v1;
};

// Reads an entry, whose fields are borrowed.
Owner OwnerOf(runtime::Value entry);
// kBadRequest: `entry`, the one at `index` with this `info`, cannot be read.
Status CheckOwner(runtime::Value entry, const ManagerInfo& info, std::size_t index);
// True if AppendFieldsV1() gives `fields` for `set`, and JSON's encoder the same bytes for its
// keys: plain ones, in order. `member`: the place itself is in the set.
bool IsAsWritten(const runtime::Value& fields, FieldSet set, bool member = false);
// Returns managedFields in canonical order. The entries share the owners' fields and otherwise live
// in `arena`.
runtime::Value ListOfOwners(std::vector<Owner> owners, runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch::apply
