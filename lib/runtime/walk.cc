#include "runtime/walk.h"

namespace apiserver::inline v0::runtime {

std::string Walk::Path() const {
  std::string path;
  for (const Frame& frame : frames_) {
    const std::size_t at = frame.next - 1;
    if (frame.value.is_map()) {
      if (!path.empty()) path += '.';
      path += frame.value.members()[at].key;
    } else {
      path += '[' + std::to_string(at) + ']';
    }
  }
  return path;
}

}  // namespace apiserver::inline v0::runtime
