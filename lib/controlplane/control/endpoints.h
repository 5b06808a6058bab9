#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"

namespace apiserver::inline v0::controlplane {

// A port of Endpoints.
struct EndpointPort {
  std::string name;
  int port = 0;
  std::string protocol = "TCP";

  friend bool operator==(const EndpointPort&, const EndpointPort&) = default;
};

// A subset of Endpoints: each address has each port.
struct EndpointSubset {
  std::vector<std::string> addresses = {};
  std::vector<EndpointPort> ports = {};

  friend bool operator==(const EndpointSubset&, const EndpointSubset&) = default;
};

// Endpoints as the reconcilers need them: only addresses that are ready, without references.
struct Endpoints {
  std::string name;
  std::string resource_version = "";  // Empty: the object is to be created.
  bool skip_mirror = false;  // The label endpointslice.kubernetes.io/skip-mirror is "true".
  std::vector<EndpointSubset> subsets = {};
};

// Sorts the addresses of the only subset, each once; without addresses there is no subset. As
// RepackSubsets of k8s.io/kubernetes/pkg/api/v1/endpoints does with such Endpoints.
void Repack(Endpoints& endpoints);

// Reads and writes Endpoints of the namespace default, and the EndpointSlice of the same name:
// reconcilers.EndpointsAdapter. One thread at a time; calls block.
class EndpointsAdapter {
 public:
  // `api` must outlive it.
  explicit EndpointsAdapter(client::Client& api) : api_(api) {}

  // kNotFound: there are none.
  Result<Endpoints> Get(const Context& ctx, std::string_view name);
  // Write the Endpoints, then their slice. kAlreadyExists, kConflict: another server was first.
  Status Create(const Context& ctx, const Endpoints& endpoints);
  Status Update(const Context& ctx, const Endpoints& endpoints);
  // Makes or mends the slice.
  Status EnsureEndpointSlice(const Context& ctx, const Endpoints& endpoints);

 private:
  client::Client& api_;
  // The object that Get() read, with what Endpoints do not hold.
  std::unique_ptr<runtime::Object> read_;
};

}  // namespace apiserver::inline v0::controlplane
