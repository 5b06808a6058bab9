#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/runtime/names.h"

// What a server serves, told in Kubernetes' three ways: legacy lists, aggregated v2 and v2beta1.
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
  std::vector<std::string> verbs;  // Sorted.
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::string storage_version_hash;
};

struct APIVersion {
  std::string version;
  std::vector<APIResource> resources;  // Parents before their subresources, names sorted.
};

struct APIGroup {
  std::string name;
  std::vector<APIVersion> versions;  // Preferred first.
};

// base64(first 8 bytes of sha256("group/version/kind")) of the storage version.
std::string StorageVersionHash(const runtime::GroupVersionKind& gvk);

// The documents of one state of a server, encoded once per form; swapped whole when groups come or
// go. Serves /api, /apis, /apis/<group>, /apis/<group>/<version>. Any thread.
class Documents {
 public:
  virtual ~Documents() = default;
  // Whether `path` ("/apis", "/apis/<group>", …) is one of ours.
  virtual bool Knows(std::string_view path) const = 0;
  // Answers GET on a discovery path; Step of 404 or 406 otherwise.
  virtual http::Step Serve(http::Exchange& exchange) const = 0;
};
// `server_address`: host:port for serverAddressByClientCIDRs.
std::shared_ptr<const Documents> NewDocuments(const std::vector<APIGroup>& groups,
                                              const std::string& server_address);

}  // namespace apiserver::inline v0::discovery
