#include "runtime/walk.h"

#include "apiserver/base/field_path.h"

namespace apiserver::v0::runtime {

std::string Walk::Path() const {
  std::string path;
  for (const Frame& frame : frames_) {
    // A key can be megabytes, and have ten thousands of children.
    if (path.size() > field::kTextBytesMax) return field::Shorten(path);
    const std::size_t at = frame.next - 1;
    if (frame.value.is_map()) {
      if (!path.empty()) path += '.';
      path += field::Shorten(frame.value.members()[at].key);
    } else {
      path += '[' + std::to_string(at) + ']';
    }
  }
  return path;
}

}  // namespace apiserver::v0::runtime
