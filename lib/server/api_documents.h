#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/spec.h"
#include "server/foreign_documents.h"
#include "server/fragment_documents.h"
#include "server/lazy.h"
#include "server/openapi_handlers.h"
#include "server/owner.h"
#include "server/route_sources.h"
#include "server/routes.h"

namespace apiserver::inline v0::server {

// The documents that tell clients what is served: discovery and OpenAPI. Each is made on the first
// request after a change of its contents: those of a group version when that has changed; "/api",
// "/apis", the aggregated forms, OpenAPI v2 and the index of v3 when anything has. Any thread.
class ApiDocuments {
 public:
  struct Needs {
    const Routes& routes;  // All references must outlive this.
    const RouteSources& sources;
    // Returns the handlers of the chain, the server's own first.
    std::function<std::vector<const Owner*>()> owners;
    Executor& pool;
    const Clock& clock;
    openapi::Info info;
    std::vector<openapi::Route> extra_routes;  // "/version" and siblings.
    std::function<std::string()> server_address;
  };
  explicit ApiDocuments(Needs needs);

  // True if `path` ("/apis", "/apis/<group>", …) has a discovery document now.
  bool KnowsDiscovery(std::string_view path) const;
  // Answers GET on a discovery path; 404 for others.
  http::Step ServeDiscovery(http::Exchange& exchange);
  http::Step ServeOpenApiV2(http::Exchange& exchange);
  http::Step ServeOpenApiV3(http::Exchange& exchange);

 private:
  using Text = Lazy<std::string>;
  using OpenApi = Lazy<openapi::Document>;
  using OpenApiV2 = Lazy<V2Document>;
  using Roots = Lazy<std::shared_ptr<const discovery::Roots>>;
  // The documents of one path of v3, for example "apis/<group>/<version>": OpenAPI, and discovery
  // if it is a group version.
  struct Slot {
    std::shared_ptr<OpenApi> v3;
    std::shared_ptr<Text> discovery;  // Null: it is no group version's.
  };
  using Slots = std::map<std::string, Slot, std::less<>>;
  // A slot, and the version that its documents must have.
  struct Part {
    Slot slot;
    std::uint64_t version = 0;
  };

  // The generation of everything shown.
  std::uint64_t Generation() const {
    return needs_.sources.generation() + needs_.routes.generation();
  }
  // Answers "/apis/<group>/<name>".
  http::Step ServeVersion(http::Exchange& exchange, const std::string& group,
                          const std::string& name);
  // Returns the document of "/apis/<group>". nullopt: there is no such group.
  std::optional<std::string> GroupJson(const std::string& group) const;
  // Returns the part of a served group version.
  Part PartOf(std::string_view group, const Routes::Version& version);
  // Returns the part of one of discovery's own paths: "apis", "apis/<group>", "api".
  Part PartOf(std::string_view path);
  // Finds a part by its path of v3. nullopt: there is none.
  std::optional<Part> FindPart(std::string_view path);
  // Returns all parts by path. Forgets those that are not served any more.
  std::map<std::string, Part> AllParts();

  Roots::Made MakeRoots() const;
  Text::Made MakeDiscovery(const std::string& group, const std::string& version) const;
  OpenApiV2::Made MakeV2();
  // Returns the part of v2 that is made of installed resources.
  std::shared_ptr<const openapi::V2Base> BaseOf(const Routes::Snapshot& snapshot,
                                                const std::vector<openapi::FragmentPtr>& fragments,
                                                const std::vector<openapi::ForeignV2Ptr>& foreign);
  OpenApi::Made MakeV3(const std::string& group, const std::string& version) const;
  OpenApi::Made MakeV3(const std::string& path) const;
  OpenApi::Made MakeIndex();
  // Returns the kinds of `owners` and of `served`, and the routes of the latter.
  openapi::Input InputOf(const std::vector<const Owner*>& owners,
                         const std::vector<ServedPtr>& served) const;

  const Needs needs_;
  const std::shared_ptr<Roots> roots_;
  const std::shared_ptr<OpenApiV2> v2_;
  const std::shared_ptr<OpenApi> v3_index_;
  FragmentDocuments fragments_;
  ForeignDocuments foreign_;
  Guarded<Slots> slots_;
  // The base of v2 that was made last, with the generations and the references it was made of.
  struct KeptBase {
    std::string of;
    std::shared_ptr<const openapi::V2Base> base;
  };
  Guarded<KeptBase> v2_base_;
};

}  // namespace apiserver::inline v0::server
