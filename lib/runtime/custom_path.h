#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace apiserver::inline v0::runtime {

// The step from a container to a value in it.
struct CustomStep {
  enum class Kind : std::uint8_t {
    kNone,        // The container itself.
    kField,       // A declared property.
    kAdditional,  // Another member: OpenAPI's additionalProperties.
    kItem,
  };
  Kind kind = Kind::kNone;
  std::string_view name = {};
  std::size_t index = 0;
};

// The paths of values with findings, which share their beginnings. The root is 0, "".
class CustomPaths {
 public:
  CustomPaths() : nodes_(1) {}
  std::uint32_t Below(std::uint32_t parent, const CustomStep& step);
  // Returns the path as kube-openapi writes it: "spec.ports[0].name".
  std::string Text(std::uint32_t node) const;

 private:
  struct Node {
    CustomStep step;
    std::uint32_t parent = 0;
  };
  std::vector<Node> nodes_;
};

}  // namespace apiserver::inline v0::runtime
