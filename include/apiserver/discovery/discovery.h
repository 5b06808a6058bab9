#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/runtime/names.h"

// The resources of a server in Kubernetes' three forms: legacy lists, aggregated v2 and v2beta1.
namespace apiserver::inline v0::discovery {

// One row of an APIResourceList.
struct APIResource {
  std::string name;  // "flunders", "flunders/status".
  std::string singular_name;
  bool namespaced = false;
  // Empty group and version: those of the list.
  std::string group;
  std::string version;
  std::string kind;
  std::vector<std::string> verbs;  // In the order in which clients are told them.
  std::vector<std::string> short_names;
  // Names for several resources at once, as "all" in `kubectl get all`.
  std::vector<std::string> categories;
  // See StorageVersionHash(). Empty: not stored here. Clients compare it for equality only.
  std::string storage_version_hash;

  friend bool operator==(const APIResource&, const APIResource&) = default;
};

// A version with its resources.
struct APIVersion {
  std::string version;
  std::vector<APIResource> resources;  // Sorted by name; subresources follow their parent.
  // True: the server of these resources does not answer now, so they are what it had.
  bool stale = false;
  // True: nobody serves it, but "/apis" and "/apis/<group>" name it.
  bool unserved = false;
};

// A group with its versions.
struct APIGroup {
  std::string name;
  std::vector<APIVersion> versions;  // The preferred one comes first.
  // Made by CustomResourceDefinitions alone: "/apis" lists such groups behind all others.
  bool custom = false;
};

// Returns base64(first 8 bytes of sha256("group/version/kind")) of the storage version.
std::string StorageVersionHash(const runtime::GroupVersionKind& gvk);

// The documents "/api" and "/apis" of one state of a server, encoded once per form. Any thread;
// answering does not block.
class Roots {
 public:
  virtual ~Roots() = default;
  // Answers GET on "/api" or "/apis".
  virtual http::Step Serve(http::Exchange& exchange) const = 0;
};
// Makes the documents. Each of `groups` must have versions. `server_address`: host:port for
// serverAddressByClientCIDRs.
std::shared_ptr<const Roots> NewRoots(const std::vector<APIGroup>& groups,
                                      const std::string& server_address);

// Returns the document of "/apis/<group>", JSON that ends in a newline. The group must have a
// version.
std::string APIGroupJson(const APIGroup& group);
// Returns the document of "/apis/<group>/<version>", JSON that ends in a newline.
std::string APIResourceListJson(const std::string& group, const APIVersion& version);

}  // namespace apiserver::inline v0::discovery
