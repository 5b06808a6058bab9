#pragma once

#include <string>
#include <vector>

#include "bench/closed_loop.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

// Small objects of a built-in kind and of a custom one, on servers with and without many
// CustomResourceDefinitions.
namespace bench {

inline constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// A server whose small kinds are measured. What it refers to must outlive it.
struct Side {
  std::string name;  // "alone": it has no other definitions; "beside": it has.
  const ServerUnderTest& server;
  const Connections& connections;
};

// Waits until the definition of that name is established, at most half a minute.
apiserver::Status WaitUntilEstablished(apiserver::http::Connection& connection,
                                       const std::string& name);

// Defines the custom kind, which is as small as the built-in one, ConfigMap.
apiserver::Status DefineSmallKind(const Connections& connections);

// Creates, patches, applies, reads and lists objects of both kinds on all sides: in short batches
// that take turns, so that whatever else the machine does meets them all. Each ratio is the median
// of the ratios of the rounds, of which the first does not count.
apiserver::Status CompareSmallKinds(const std::string& workload, const std::vector<Side>& sides,
                                    Report& report);

// Deletes all of these objects.
apiserver::Status DeleteSmallObjects(const Connections& connections);

}  // namespace bench
