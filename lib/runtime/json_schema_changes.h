#pragma once

#include <cstddef>
#include <unordered_set>
#include <vector>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// The schemas that NormalizeJsonSchema() has to write anew, because they, or schemas that they
// consist of, are not in the form in which Go writes them. All others stay as they are, and that is
// nearly all of what was stored. Finding them costs a walk without recursion; they die with it.
class SchemaChanges {
 public:
  explicit SchemaChanges(const Value& root);

  // Tells if the schema, which is a map, has to be written anew.
  bool Has(const Value& schema) const { return changed_.contains(schema.members().data()); }

 private:
  // A schema of the walk, and the one that it is part of.
  struct Node {
    const Member* members;
    std::size_t parent;
    bool changed = false;
  };
  struct Open {
    Value schema;
    std::size_t parent;
  };

  // Adds what a schema consists of to the walk. False: it has to be written anew.
  bool Enter(const Value& schema, std::size_t at);
  bool EnterMember(std::size_t member, const Value& value, std::size_t at);
  bool EnterList(const Value& list, std::size_t at);
  bool EnterNamed(const Value& named, bool texts, std::size_t at);
  // Notes a schema, and all that it is part of.
  void Note(std::size_t at);

  std::vector<Node> nodes_;
  std::vector<Open> open_;
  std::unordered_set<const Member*> changed_;
};

}  // namespace apiserver::inline v0::runtime
