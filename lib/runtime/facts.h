#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <unordered_set>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/schema.h"
#include "runtime/patterns.h"

namespace apiserver::inline v0::runtime {

// What is found out about a kind's schemas once, when the Kind is made.
struct Facts {
  Patterns patterns;
  // The schemas that have a default value themselves or somewhere below.
  std::unordered_set<const Schema*> with_defaults;
  // The schemas that cannot be sent as protobuf: a field without number, a list in a list, or what
  // holds such a thing.
  std::unordered_set<const Schema*> without_protobuf;
  // The schemas of a kStruct kind that limit values beyond their type, or have a part that does.
  // The others are not walked by ValidateSchema(); decoding has checked the types.
  std::unordered_set<const Schema*> limited;
};

// Appends to `problems` what makes `schema` unusable, each with the path of where it stands, and
// collects facts. `where` begins each path: "v1".
void CheckSchema(const SchemaPtr& schema, const std::string& where, Semantics semantics,
                 Facts& facts, std::vector<std::string>& problems);

}  // namespace apiserver::inline v0::runtime
