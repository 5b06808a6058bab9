#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <span>
#include <vector>

#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::runtime {

// The fields of a struct as its JSON has them: those of inlined structs in their place.
class FieldList {
 public:
  explicit FieldList(const Schema& schema);

  std::size_t size() const { return flat_.empty() ? direct_.size() : flat_.size(); }
  const Field& operator[](std::size_t i) const { return flat_.empty() ? direct_[i] : *flat_[i]; }

 private:
  std::span<const Field> direct_;
  std::vector<const Field*> flat_;  // Empty when nothing is inlined.
};

}  // namespace apiserver::inline v0::runtime
