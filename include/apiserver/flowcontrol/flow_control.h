#pragma once

#include <string>
#include <vector>

#include "apiserver/flowcontrol/config.h"

namespace apiserver::inline v0::flowcontrol {

// A server's API Priority and Fairness, as seen by the code that follows its configuration in an
// API. Any thread may call its methods, which do not block.
class FlowControl {
 public:
  virtual ~FlowControl() = default;

  // Replaces the configuration at once. Missing mandatory parts are added. A priority level that
  // contradicts itself and schemas that name no level are left out; a level that is no longer
  // wanted stays until its last request is done.
  virtual void Configure(Configuration configuration) = 0;
  // Returns the names of the levels, sorted; those that are about to go are included.
  virtual std::vector<std::string> PriorityLevels() const = 0;
};

}  // namespace apiserver::inline v0::flowcontrol
