#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/names.h"

// Says why a server behind an aggregator does not work yet, and what to apply so that it does. What
// it looks at is what delegated authentication and authorization need of the cluster:
// https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/.
namespace apiserver::inline v0::delegation {

struct DoctorOptions {
  // Required. The cluster, asked as the server's authentication will ask it
  // (--authentication-kubeconfig); must outlive the call.
  client::Client* cluster = nullptr;
  // The same for authorization, where that asks as somebody else or another cluster
  // (--authorization-kubeconfig). Null: `cluster`.
  client::Client* authorization_cluster = nullptr;
  // What the server will serve; an APIService is expected for each.
  std::vector<runtime::GroupVersion> group_versions = {};
  // The Service in front of the server; empty: certificate and APIServices are not looked at.
  std::string service_name = "";
  std::string service_namespace = "";
  // The certificate that the server shows, PEM, chain behind it; empty: it is not looked at.
  std::string serving_certificate_pem = "";
  // The authority that signed it, for the APIServices; empty: the last of the chain.
  std::string serving_ca_pem = "";
  const Clock* clock = &RealClock();
};

// What one look has found.
struct Finding {
  enum class Level : std::uint8_t {
    kOk,
    kWarning,  // Works, but not as well or as safely as it should.
    kProblem,  // Does not work.
  };
  Level level = Level::kOk;
  std::string check;        // "request header".
  std::string text;         // What is so, in a sentence.
  std::string remedy = {};  // What to do; empty if nothing.
  std::string yaml = {};    // What to apply; empty if nothing.
};

// Looks at everything it can, in the order in which things must work. Calls the cluster, so it
// waits; any thread that may. Changes nothing.
std::vector<Finding> Diagnose(const Context& ctx, const DoctorOptions& options);

// For a terminal: a line for each, remedies indented, and at the end all the YAML, ready for
// `kubectl apply -f -`.
std::string Render(const std::vector<Finding>& findings);

}  // namespace apiserver::inline v0::delegation
