#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/controller/controller.h"

namespace apiserver::inline v0::aggregator {

// A controller of APIServices, which have no namespace.
struct NamesControllerOptions {
  std::string name;          // The queue's name, as kube-aggregator's metrics have it.
  Executor* pool = nullptr;  // Runs the work. Must outlive the controller.
  int workers = 1;
  metrics::Registry* metrics = nullptr;  // Outlives the controller. Null: nothing is counted.
  // Does the work of a name; may block. After an error it is called again: after 5 ms, doubled by
  // each further one up to 30 s.
  std::function<Status(const std::string& name)> work;
};

// Makes a controller that has begun.
std::unique_ptr<controller::Controller> StartNamesController(NamesControllerOptions options);

}  // namespace apiserver::inline v0::aggregator
