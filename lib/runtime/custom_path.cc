#include "runtime/custom_path.h"

#include "apiserver/base/field_path.h"

namespace apiserver::v0::runtime {

std::uint32_t CustomPaths::Below(std::uint32_t parent, const CustomStep& step) {
  if (step.kind == CustomStep::Kind::kNone) return parent;
  nodes_.push_back({step, parent});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::string CustomPaths::Text(std::uint32_t node) const {
  std::vector<const CustomStep*> steps;
  for (; node != 0; node = nodes_[node].parent) steps.push_back(&nodes_[node].step);
  std::string path;
  while (!steps.empty()) {
    // A key can be megabytes, and have ten thousands of children.
    if (path.size() > field::kTextBytesMax) return field::Shorten(path);
    const CustomStep& step = *steps.back();
    steps.pop_back();
    if (step.kind == CustomStep::Kind::kItem) {
      path.append("[").append(std::to_string(step.index)).append("]");
      continue;
    }
    // An additional property has its dot even if nothing stands before it.
    if (!path.empty() || step.kind == CustomStep::Kind::kAdditional) path += '.';
    path += field::Shorten(step.name);
  }
  return path;
}

}  // namespace apiserver::v0::runtime
