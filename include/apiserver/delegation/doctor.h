#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/names.h"

// Diagnoses why a server behind an aggregator does not work yet, and what to apply so that it does.
// It checks what delegated authentication and authorization need of the cluster:
// https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/.
namespace apiserver::inline v0::delegation {

// The clusters and the server to check.
struct DoctorOptions {
  // Required. The cluster, with the identity that the server's authentication will have
  // (--authentication-kubeconfig); must outlive the call.
  client::Client* cluster = nullptr;
  // The cluster for authorization, if that has another identity or is another cluster
  // (--authorization-kubeconfig). Null: `cluster`.
  client::Client* authorization_cluster = nullptr;
  // The cluster whose objects the server's admission obeys, if that has another identity or is
  // another cluster (--kubeconfig). Null: `cluster`.
  client::Client* core_cluster = nullptr;
  // The resources that admission must be allowed to list and watch there. Empty: it obeys no
  // cluster.
  std::vector<runtime::GroupResource> followed = {};
  // The versions that the server will serve; an APIService is expected for each.
  std::vector<runtime::GroupVersion> group_versions = {};
  // The Service in front of the server. Empty: certificate and APIServices are not checked.
  std::string service_name = "";
  std::string service_namespace = "";
  // The certificate that the server uses, PEM, followed by its chain. Empty: it is not checked.
  std::string serving_certificate_pem = "";
  // The authority that signed it, for the APIServices. Empty: the last of the chain.
  std::string serving_ca_pem = "";
  const Clock* clock = &RealClock();
};

// The result of one check.
struct Finding {
  // The severity of a finding.
  enum class Level : std::uint8_t {
    kOk,
    kWarning,  // Works, but not as well or as safely as it should.
    kProblem,  // Does not work.
  };
  Level level = Level::kOk;
  std::string check;        // "request header".
  std::string text;         // A sentence that describes the state.
  std::string remedy = {};  // The remedy; empty if none is needed.
  std::string yaml = {};    // The manifest to apply; empty if there is none.
  // The object or file that was checked; empty if the check has only one.
  std::string subject = {};
  // A problem was here and has been repaired; `text` tells how.
  bool repaired = false;
};

// Returns how the loading of the file that a flag names went, in the words that end a start. `flag`
// is without its dashes.
Finding FindingOfFile(const std::string& flag, const std::string& file, const Status& loaded);

// Makes all checks that are possible, in the order in which things must work. It calls the cluster,
// so it blocks. Changes nothing.
std::vector<Finding> Diagnose(const Context& ctx, const DoctorOptions& options);

// Returns a text for a terminal: a line for each finding, remedies indented, and at the end all the
// YAML, ready for `kubectl apply -f -`.
std::string Render(const std::vector<Finding>& findings);

// Returns a JSON document for programs, with a line feed at its end:
//
//   {"apiVersion": "libapiserver.dev/v1alpha1", "kind": "DoctorReport", "checks": [
//     {"name": "request-header", "status": "ok", "message": "…", "fix": "…"}]}
//
// `name` is the check in lower case with hyphens for spaces, and does not change between versions.
// `status` is ok, warning or error. A check may also have `subject`, `manifest` (Finding::yaml) and
// `fixed` (Finding::repaired).
std::string RenderJson(const std::vector<Finding>& findings);

}  // namespace apiserver::inline v0::delegation
