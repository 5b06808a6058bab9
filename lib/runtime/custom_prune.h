#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::runtime {

// The schemas by which items of lists that preserve unknown fields are pruned: each item preserves
// them, too.
class PreservedItems {
 public:
  // Returns a schema that lives as long as this.
  const Schema* Of(const Schema& items);

 private:
  std::unordered_map<const Schema*, SchemaPtr> made_;
};

// Returns the schema by which a member of a custom object, or an item if `key` is empty and
// `parent` holds a list, is pruned. Null: it is kept as it is. `known`: it is kept at all.
const Schema* KeptMember(const Schema& parent, const Value& holder, std::string_view key,
                         PreservedItems& preserved, bool& known);
// Tells if a key is one of the members that every resource has: apiVersion, kind, metadata.
bool IsResourceMember(std::string_view key);

// The options of PruneCustom(), as in SettleRules.
struct PruneRules {
  // Metadata that does not fit is dropped member by member instead of being an error.
  bool stored = false;
  bool keep_nulls = false;
  std::size_t arena_max = 0;
};
// Drops the members of a custom object that its schema does not know, and nulls that may not be
// there and have no default; normalizes the metadata of embedded resources.
Status PruneCustom(Object& object, const PruneRules& rules);
// Returns `metadata` as Go's ObjectMeta keeps it, without the members that do not fit.
Value FittingMetadata(const Value& metadata, Arena& arena);

}  // namespace apiserver::inline v0::runtime
