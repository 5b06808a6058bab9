#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aggregator/control/remote_openapi.h"
#include "aggregator/kind/facts.h"
#include "apiserver/aggregator/proxy_handler.h"
#include "apiserver/base/sync.h"
#include "apiserver/server/route_source.h"

namespace apiserver::inline v0::aggregator {

// The APIServices as requests are routed by them: "/apis/<group>/<version>" and all below it goes
// to the extension server of a remote one. Local ones are served by the rest of the chain, in their
// order of discovery. Documents of OpenAPI v3 are the extension servers' own. Any thread.
class Table final : public server::RouteSource {
 public:
  // Each APIService gets a handler with these options.
  explicit Table(ProxyHandlerOptions handlers) : handlers_(std::move(handlers)) {}

  // An APIService is there, or has changed.
  void Set(const Facts& facts);
  // It has gone.
  void Remove(const std::string& name);
  // Shows what the extension server of an APIService has. Nothing happens if it is not remote.
  void Show(const std::string& name, discovery::APIVersion version);
  // Lets the extension server of an APIService answer for documents of OpenAPI v3. Nothing happens
  // if it is not remote.
  void ShowDocuments(const std::string& name, DocumentUrls urls);
  // Merges the document of OpenAPI v2 of its extension server. Null: it has none.
  void ShowDocument(const std::string& name, openapi::ForeignV2Ptr document);
  // Answers for its group version with a document of OpenAPI v3 made of that of v2. Null: with
  // none.
  void ShowConverted(const std::string& name, ConvertedPtr document);
  // Returns an APIService as it was set last. nullopt: there is none.
  std::optional<Facts> FactsNamed(const std::string& name) const;
  // Returns the names of the remote APIServices.
  std::vector<std::string> RemoteNames() const;
  // Waits until each remote APIService has been shown. Returns false if `timeout` passes first.
  bool WaitUntilShown(std::chrono::milliseconds timeout) const;
  // Returns the names of the APIServices whose extension server is the service.
  std::vector<std::string> NamesOf(std::string_view service_namespace, std::string_view name) const;

  std::shared_ptr<server::Route> Find(const request::RequestInfo& info) const override;
  std::uint64_t generation() const override { return generation_; }
  std::vector<discovery::APIGroup> Groups() const override;
  std::optional<discovery::APIGroup> FindGroup(std::string_view group) const override;
  void Arrange(std::vector<discovery::APIGroup>& groups) const override;
  std::map<std::string, std::string> OpenApiV3Urls() const override;
  std::vector<openapi::ForeignV2Ptr> ForeignOpenApiV2() const override;
  std::map<std::string, ConvertedPtr> OpenApiV3() const override;

 private:
  // The requests of one remote APIService.
  class ProxyRoute;
  struct Entry {
    Facts facts;
    std::shared_ptr<ProxyRoute> route;  // Null: it is local.
    // The resources of a remote one, for discovery. nullopt: its server was not asked yet.
    std::optional<discovery::APIVersion> shown;
    DocumentUrls urls;         // Of its documents of OpenAPI v3.
    openapi::ForeignV2Ptr v2;  // Its document of OpenAPI v2. Null: it is not known.
    ConvertedPtr converted;    // Made of it, if the server has no OpenAPI v3.
  };
  // A document of OpenAPI v3, and who answers for it.
  struct RemoteDocument {
    std::string url;
    std::shared_ptr<ProxyRoute> route;
  };
  struct State {
    std::map<std::string, Entry> entries;  // By name.
    // The names of a group's entries, and those of remote ones.
    std::map<std::string, std::set<std::string>, std::less<>> groups;
    std::set<std::string> remote;
    // By "<group>/<version>", those that are remote.
    std::unordered_map<std::string, std::shared_ptr<ProxyRoute>> routes;
    std::map<std::string, RemoteDocument, std::less<>> documents;  // By path.
    std::size_t documented = 0;                                    // How many entries have URLs.
  };

  // Sets the URLs of an entry.
  static void SetUrls(DocumentUrls urls, Entry& entry, State& state);
  // Forgets the place of an entry in groups and routes.
  static void Displace(const Facts& facts, State& state);
  // Returns a group as discovery shows it.
  static discovery::APIGroup GroupOf(const std::string& group, const std::set<std::string>& names,
                                     const State& state);
  // Finds who answers for each document. Does nothing for servers that only have local APIServices,
  // which may be thousands.
  static void PlaceDocuments(State& state);

  const ProxyHandlerOptions handlers_;
  Guarded<State> state_;
  std::atomic<std::uint64_t> generation_ = 0;
};

}  // namespace apiserver::inline v0::aggregator
