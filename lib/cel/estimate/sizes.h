#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/cel/environment.h"
#include "apiserver/cel/type.h"
#include "apiserver/runtime/schema_node.h"

// The sizes that a schema allows its values: common/schemas.go of k8s.io/apiserver/pkg/cel, and the
// sizeEstimator of apiextensions-apiserver.
namespace apiserver::inline v0::cel::estimate {

// The size of a request that Kubernetes assumes, whatever the server's limit is.
inline constexpr std::int64_t kRequestBytes = std::int64_t{3} * 1024 * 1024;

// The steps from a variable to an expression's place in its schema: "self", a field's escaped name,
// "@items", "@keys", "@values" or "@indices". Behaves as Go's slices do, which cel-go keeps paths
// in: paths that one variable's uses are appended to share memory, so that the last writer counts.
class Path {
 public:
  Path() = default;
  explicit Path(std::string_view variable);

  bool empty() const { return size_ == 0; }
  std::span<const std::string_view> steps() const;
  Path Append(std::string_view step) const;
  // Appends to a copy that shares nothing.
  Path AppendToCopy(std::string_view step) const;

 private:
  std::shared_ptr<std::vector<std::string_view>> memory_;  // As long as the slice's capacity.
  std::size_t size_ = 0;
};

// Answers what is known of the sizes of values that an expression does not tell. Not thread-safe.
class Sizes {
 public:
  virtual ~Sizes() = default;
  // Returns the highest size of the value of that type at a path: code points, bytes, items or
  // entries; 0 for what has no size. nullopt: it is not known.
  virtual std::optional<std::uint64_t> MaxSize(const Path& path, const Type& type) = 0;
};

// Answers sizes from the schemas of an environment's variables.
class DeclaredSizes final : public Sizes {
 public:
  explicit DeclaredSizes(const Environment& environment) : environment_(environment) {}

  // A path that begins at no variable with a schema is followed from `self`, as Kubernetes does:
  // `int` in `type(self.x) == int` is sized as self is.
  std::optional<std::uint64_t> MaxSize(const Path& path, const Type& type) override;

  // Tells if expressions see values of the schema: they have a type.
  static bool IsVisible(const runtime::Schema& schema);
  // Returns the fewest bytes of JSON that a value of the schema has.
  std::int64_t MinJsonSize(const runtime::Schema& schema);

 private:
  const runtime::Schema* RootOf(std::string_view name) const;
  std::uint64_t MaxSizeOf(const runtime::Schema& schema);
  std::int64_t MinJsonSizeOf(const runtime::Schema& schema);

  const Environment& environment_;
  std::unordered_map<const runtime::Schema*, std::int64_t> min_json_sizes_;
};

}  // namespace apiserver::inline v0::cel::estimate
