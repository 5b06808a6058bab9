#pragma once

#include <chrono>
#include <functional>

#include "apiserver/runtime/names.h"

// The group versions that come and go with definitions of resources.
namespace apiserver::inline v0::discovery {

// Follows the group versions that definitions ask for: those of CustomResourceDefinitions with at
// least one version that is to be served, be it served already or not. Any thread.
class DefinedVersions {
 public:
  // Called with a group version that is defined from now on, or, `defined` false, no longer: on
  // any thread, where it must not block, as the write of a definition waits for it.
  using Told = std::function<void(const runtime::GroupVersion& version, bool defined)>;

  virtual ~DefinedVersions() = default;
  // Tells of all that are defined, and then of each change: in their order, one call at a time.
  // Null ends it: no call runs when this returns. There is one who is told; a new one takes its
  // place.
  virtual void Follow(Told told) = 0;
  // Waits until the definitions that were stored when the server started have been told. Returns
  // false if `timeout` passes first. Blocks.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
};

}  // namespace apiserver::inline v0::discovery
