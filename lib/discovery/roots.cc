#include "discovery/documents.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/codec/negotiate.h"
#include "apiserver/meta/errors.h"
#include "apiserver/response/response.h"
#include "text/hex.h"

namespace apiserver::v0::discovery {

namespace {

using Text = std::shared_ptr<const std::string>;

Text Shared(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

// One aggregated document in one version.
struct Aggregated {
  Text json;
  std::string etag;          // Quoted.
  std::string content_type;  // Echoes the requested form: clients depend on it.
};

// Returns the SHA-512 in upper-case hex, quoted.
// As upstream's discovery/aggregated/etag.go, though over this server's JSON.
std::string Etag(const std::string& json) {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  SHA512(reinterpret_cast<const unsigned char*>(json.data()), json.size(), digest.data());
  std::string etag = "\"";
  text::AppendUpperHex(digest, etag);
  return etag + "\"";
}

Aggregated NewAggregated(const std::vector<APIGroup>& groups, const std::string& version) {
  Aggregated document;
  document.json = Shared(APIGroupDiscoveryListJson(groups, version));
  document.etag = Etag(*document.json);
  document.content_type =
      "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList";
  return document;
}

// The documents of "/apis" or "/api": the legacy list and its aggregated forms.
struct Root {
  Text legacy;
  std::map<std::string, Aggregated, std::less<>> aggregated;  // By "v2", "v2beta1".
};

// Returns the first name, in the order of texts, of the APIServices that a group has upstream:
// "v1.example.com".
std::string FirstServiceOf(const APIGroup& group) {
  std::string first;
  for (const APIVersion& version : group.versions) {
    std::string name = version.version + "." + group.name;
    if (first.empty() || name < first) first = std::move(name);
  }
  return first;
}

// Puts custom groups behind the others, in upstream's order: by their APIServices.
void SortForLegacyList(std::vector<APIGroup>& groups) {
  const auto custom = std::stable_partition(groups.begin(), groups.end(),
                                            [](const APIGroup& group) { return !group.custom; });
  std::sort(custom, groups.end(), [](const APIGroup& a, const APIGroup& b) {
    return FirstServiceOf(a) < FirstServiceOf(b);
  });
}

// All forms are made once, when the groups change; requests share them.
Root NewRoot(const std::vector<APIGroup>& groups) {
  Root root;
  for (const char* version : {"v2", "v2beta1"}) {
    root.aggregated.emplace(version, NewAggregated(groups, version));
  }
  return root;
}

// Returns the form of the first clause of the Accept header that names an available one. Null: the
// legacy form.
const Aggregated* Choose(const Root& root, std::string_view accept) {
  for (const codec::AcceptClause& clause : codec::ParseAccept(accept)) {
    if (clause.Parameter("as").empty()) return nullptr;
    if (clause.Parameter("g") != "apidiscovery.k8s.io") continue;
    if (clause.Parameter("as") != "APIGroupDiscoveryList") continue;
    if (clause.type != "application" || clause.subtype != "json") continue;
    const auto found = root.aggregated.find(clause.Parameter("v"));
    if (found != root.aggregated.end()) return &found->second;
  }
  return nullptr;
}

// The 304 has the same headers, as RFC 9110 §15.4.5 demands.
http::Step ServeAggregated(http::Exchange& exchange, const Aggregated& document) {
  http::ResponseHead head{
      .code = 200,
      // Clients keep the document and ask with its ETag for changes.
      .headers = {{"ETag", document.etag}, {"Vary", "Accept"}, {"Cache-Control", "public"}}};
  if (exchange.request().headers.Get("If-None-Match") == document.etag) {
    head.code = 304;
    exchange.writer().Send(std::move(head), {});
    return http::Step::Done();
  }
  head.headers.Set("Content-Type", document.content_type);
  exchange.writer().Send(std::move(head), http::Bytes(document.json, *document.json));
  return http::Step::Done();
}

class BothRoots final : public Roots {
 public:
  BothRoots(const std::vector<APIGroup>& groups, const std::string& server_address) {
    std::vector<APIGroup> named;
    for (const APIGroup& group : groups) {
      if (group.name.empty()) {
        legacy_ = NewRoot({group});
        legacy_.legacy = Shared(APIVersionsJson(group, server_address));
      } else {
        named.push_back(group);
      }
    }
    named_ = NewRoot(named);
    SortForLegacyList(named);
    named_.legacy = Shared(APIGroupListJson(named, server_address));
  }

  // Any thread: the documents never change.
  http::Step Serve(http::Exchange& exchange) const override {
    const http::Request& request = exchange.request();
    const Root& root = request.path.starts_with("/apis") ? named_ : legacy_;
    if (!root.legacy) return meta::NewGenericServerResponse(404, "", {}, "");
    if (const Aggregated* found = Choose(root, request.headers.Get("Accept"))) {
      return ServeAggregated(exchange, *found);
    }
    return response::WriteJson(exchange, 200, root.legacy);
  }

 private:
  Root legacy_;  // Empty: there is no legacy group.
  Root named_;
};

}  // namespace

std::shared_ptr<const Roots> NewRoots(const std::vector<APIGroup>& groups,
                                      const std::string& server_address) {
  return std::make_shared<BothRoots>(groups, server_address);
}

}  // namespace apiserver::v0::discovery
