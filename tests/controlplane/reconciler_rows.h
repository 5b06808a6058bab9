#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "controlplane/control/endpoint_reconciler.h"
#include "controlplane/world.h"

// The rows that reconcilers/lease_test.go and instancecount_test.go have in common.
namespace controlplane_test {

struct Row {
  std::string name;
  std::string ip = "1.2.3.4";
  std::string ports = "foo:8080:TCP";
  Strings keys = {};
  std::string endpoints = "";
  std::string slice = "";
  // The state of both afterwards.
  std::string expected = "1.2.3.4|foo:8080:TCP";
  Strings leases = {"1.2.3.4"};
  std::string service = "foo";  // The objects that are there are of "foo".
  bool reconcile_ports = true;
  bool mirror = false;      // The Endpoints have no label.
  std::size_t servers = 1;  // For master-count.
};

inline const std::string kRight = "1.2.3.4|foo:8080:TCP";
inline const std::string kTwo = "1.2.3.4 4.3.2.1|foo:8080:TCP";
inline const std::string kFive = "1.2.3.4 4.3.2.1 4.3.2.2 4.3.2.3 4.3.2.4|foo:8080:TCP";
inline const std::string kThreePorts = "foo:8080:TCP bar:1000:TCP baz:1010:TCP";

inline std::vector<Row> CommonRows() {
  return {
      {.name = "no existing endpoints"},
      {.name = "existing endpoints satisfy", .endpoints = kRight, .slice = kRight},
      {.name = "existing endpoints satisfy, no endpointslice", .endpoints = kRight},
      {.name = "existing endpointslice satisfies, no endpoints", .slice = kRight},
      {.name = "existing endpoints satisfy, endpointslice is wrong",
       .endpoints = kRight,
       .slice = "4.3.2.1|foo:8080:TCP"},
      {.name = "existing endpointslice satisfies, endpoints is wrong",
       .endpoints = "4.3.2.1|foo:8080:TCP",
       .slice = kRight},
      {.name = "existing endpoints satisfy but too many", .endpoints = kTwo, .slice = kTwo},
      {.name = "existing endpoints wrong name",
       .ports = "foo:8080:TCP",
       .endpoints = kRight,
       .slice = kRight,
       .service = "bar"},
      {.name = "existing endpoints wrong IP",
       .endpoints = "4.3.2.1|foo:8080:TCP",
       .slice = "4.3.2.1|foo:8080:TCP"},
      {.name = "existing endpoints wrong port",
       .endpoints = "1.2.3.4|foo:9090:TCP",
       .slice = "1.2.3.4|foo:9090:TCP"},
      {.name = "existing endpoints wrong protocol",
       .endpoints = "1.2.3.4|foo:8080:UDP",
       .slice = "1.2.3.4|foo:8080:UDP"},
      {.name = "existing endpoints wrong port name",
       .ports = "baz:8080:TCP",
       .endpoints = kRight,
       .slice = kRight,
       .expected = "1.2.3.4|baz:8080:TCP"},
      {.name = "existing endpoints without skip mirror label",
       .endpoints = kRight,
       .slice = kRight,
       .mirror = true},
      {.name = "existing endpoints extra service ports satisfy",
       .ports = kThreePorts,
       .endpoints = "1.2.3.4|" + kThreePorts,
       .slice = "1.2.3.4|" + kThreePorts,
       .expected = "1.2.3.4|" + kThreePorts},
      {.name = "existing endpoints extra service ports missing port",
       .ports = "foo:8080:TCP bar:1000:TCP",
       .endpoints = kRight,
       .slice = kRight,
       .expected = "1.2.3.4|foo:8080:TCP bar:1000:TCP"},
      {.name = "existing endpoints extra service ports missing port no update",
       .ports = "foo:8080:TCP bar:1000:TCP",
       .endpoints = kRight,
       .slice = kRight,
       .reconcile_ports = false},
      {.name = "existing endpoints extra service ports, wrong ports, wrong IP",
       .ports = "foo:8080:TCP bar:1000:TCP",
       .endpoints = "4.3.2.1|foo:8080:TCP",
       .slice = "4.3.2.1|foo:8080:TCP",
       .reconcile_ports = false},
      {.name = "no existing endpoints, ports are not reconciled", .reconcile_ports = false},
  };
}

inline apiserver::controlplane::ServerEndpoint ServerOf(const Row& row) {
  return {.service_name = row.service, .ip = row.ip, .ports = PortsOf(row.ports)};
}

inline void CheckState(const World& world, const Row& row) {
  CHECK(world.EndpointsNow(row.service) == row.expected);
  CHECK(world.SliceNow(row.service) == row.expected);
}

}  // namespace controlplane_test
