#pragma once

#include <string>
#include <vector>

#include "apiserver/flowcontrol/config.h"

namespace apiserver::inline v0::flowcontrol {

// A server's API Priority and Fairness, for who follows its configuration in an API. Any thread.
class FlowControl {
 public:
  virtual ~FlowControl() = default;

  // Takes the place of what was configured, at once. Mandatory parts that are missing are added. A
  // priority level that contradicts itself and schemas that name no level are left out; a level
  // that is no longer wanted stays until what it serves is done.
  virtual void Configure(Configuration configuration) = 0;
  // Names, sorted; those that are about to go too.
  virtual std::vector<std::string> PriorityLevels() const = 0;
};

}  // namespace apiserver::inline v0::flowcontrol
