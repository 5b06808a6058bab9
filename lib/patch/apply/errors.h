#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/field_set.h"

namespace apiserver::inline v0::patch::apply {

// The faults of a value, each with the path to it: upstream's ValidationErrors.
class Errors {
 public:
  // More text than this helps no reader; further faults are only counted.
  static constexpr std::size_t kBytesMax = 64 << 10;

  void Add(PathView path, std::string_view message);
  bool empty() const { return messages_.empty(); }
  std::size_t size() const { return messages_.size(); }
  // Forgets all but the first `size`.
  void Truncate(std::size_t size);

  // Returns kBadRequest with one error a line, after "errors:", or a single one alone. There must
  // be one.
  Status ToStatus() const;

 private:
  std::vector<std::string> messages_;
  std::size_t bytes_ = 0;
  std::size_t more_ = 0;
};

constexpr std::string_view kTooDeep = "exceeded max depth";
constexpr std::string_view kInvalidAtom = "schema error: invalid atom: inlined";

}  // namespace apiserver::inline v0::patch::apply
