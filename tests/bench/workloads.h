#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

struct Workload {
  std::string_view name;     // "W1".
  std::string_view storage;  // What it is stated for.
  std::string_view what;
  apiserver::Status (*run)(ServerUnderTest& server, Report& report);
  // In place of `run` where there is no server: in process.
  apiserver::Status (*run_alone)(Report& report) = nullptr;
  // In place of `run` where servers are compared, unless the server is somebody else's.
  apiserver::Status (*run_several)(const StartServer& start, Report& report) = nullptr;
  // It needs CustomResourceDefinitions: the kube-apiserver is started.
  bool custom_resources = false;
};

// Null: there is none of that name.
const Workload* FindWorkload(std::string_view name);
std::string WorkloadNames();

}  // namespace bench
