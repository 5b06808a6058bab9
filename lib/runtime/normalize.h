#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// Normalizes a value of a struct's schema that stands alone, as Settle does an object. `type` names
// the Go type in messages if the schema has no name. kRequestEntityTooLarge: the arena came to hold
// more than `arena_max` bytes.
Status NormalizeStruct(const Schema& schema, std::string_view type, Arena& arena, Value& root,
                       std::size_t arena_max);
// Returns ObjectMetaSchema() with the fields of its structs in the order of their names, in which
// custom resources keep them.
const SchemaPtr& SortedObjectMeta();
// Sorts the members of every map in `root` by key.
void SortKeys(Arena& arena, Value& root);

}  // namespace apiserver::inline v0::runtime
