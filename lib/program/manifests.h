#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/client/client.h"

namespace apiserver::inline v0::program {

// The words behind the command `manifests`.
struct ManifestOptions {
  std::string name_space;       // The namespace; also the front of other names.
  std::string service = "api";  // The Service that the aggregator asks.
  std::string image;
};

// A resource of the program's own groups, as discovery has it.
struct ServedResource {
  bool namespaced = true;
  bool scale = false;  // It has a scale.
  std::set<std::string> verbs;
};

// An API group of the program's own.
struct ServedGroup {
  std::vector<std::string> versions;                // The preferred one first.
  std::map<std::string, ServedResource> resources;  // Those of all versions.
};

// Reads options: `--namespace=NAME`, `--service-name=NAME`, `--image=IMAGE`; each may also have its
// value in the next word. `defaults` are what is not given. kInvalid: another word, or a name that
// Kubernetes would not take.
Result<ManifestOptions> ReadManifestOptions(const std::vector<std::string>& words,
                                            ManifestOptions defaults);

// Asks a server for its groups, by name, without those of Kubernetes itself. Blocks.
Result<std::map<std::string, ServedGroup>> OwnGroups(client::Client& client);

// Returns what makes a server of these groups run behind a cluster's aggregator, as a YAML stream:
// namespace, service account, roles, Deployment, volume, Service and APIServices.
std::string Manifests(const ManifestOptions& options,
                      const std::map<std::string, ServedGroup>& groups);

}  // namespace apiserver::inline v0::program
