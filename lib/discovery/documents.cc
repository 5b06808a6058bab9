#include "discovery/documents.h"

#include <openssl/sha.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/codec/negotiate.h"
#include "apiserver/meta/errors.h"
#include "apiserver/response/response.h"

namespace apiserver::inline v0::discovery {

namespace {

using Text = std::shared_ptr<const std::string>;

// One aggregated document in one version.
struct Aggregated {
  Text json;
  std::string etag;          // Quoted.
  std::string content_type;  // Echoes the form that was asked for: clients key on it.
};

// Upper-case hex SHA-512, quoted.
std::string Etag(const std::string& json) {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  SHA512(reinterpret_cast<const unsigned char*>(json.data()), json.size(), digest.data());
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string etag = "\"";
  for (unsigned char byte : digest) {
    etag += kHex[byte >> 4];
    etag += kHex[byte & 15];
  }
  return etag + "\"";
}

Aggregated NewAggregated(const std::vector<APIGroup>& groups, const std::string& version) {
  Aggregated document;
  document.json = std::make_shared<const std::string>(APIGroupDiscoveryListJson(groups, version));
  document.etag = Etag(*document.json);
  document.content_type =
      "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList";
  return document;
}

// "/apis" or "/api": the legacy list and its aggregated forms.
struct Root {
  Text legacy;
  std::map<std::string, Aggregated, std::less<>> aggregated;  // By "v2", "v2beta1".
};

Root NewRoot(std::string legacy, const std::vector<APIGroup>& groups) {
  Root root{.legacy = std::make_shared<const std::string>(std::move(legacy)), .aggregated = {}};
  for (const char* version : {"v2", "v2beta1"}) {
    root.aggregated.emplace(version, NewAggregated(groups, version));
  }
  return root;
}

class All final : public Documents {
 public:
  All(const std::vector<APIGroup>& groups, const std::string& server_address) {
    std::vector<APIGroup> named;
    for (const APIGroup& group : groups) {
      const std::string root = group.name.empty() ? "/api" : "/apis/" + group.name;
      for (const APIVersion& version : group.versions) {
        plain_.emplace(root + "/" + version.version, std::make_shared<const std::string>(
                                                         APIResourceListJson(group.name, version)));
      }
      if (group.name.empty()) {
        roots_.emplace("/api", NewRoot(APIVersionsJson(group, server_address), {group}));
      } else {
        plain_.emplace(root, std::make_shared<const std::string>(APIGroupJson(group)));
        named.push_back(group);
      }
    }
    roots_.emplace("/apis", NewRoot(APIGroupListJson(named, server_address), named));
  }

  bool Knows(std::string_view path) const override {
    const std::string_view key = WithoutSlash(path);
    return roots_.contains(key) || plain_.contains(key);
  }

  http::Step Serve(http::Exchange& exchange) const override {
    const std::string_view key = WithoutSlash(exchange.request().path);
    if (const auto root = roots_.find(key); root != roots_.end()) {
      return ServeRoot(exchange, root->second);
    }
    if (const auto plain = plain_.find(key); plain != plain_.end()) {
      return response::WriteJson(exchange, 200, plain->second);
    }
    return meta::NewGenericServerResponse(404, "", {}, "");
  }

 private:
  static std::string_view WithoutSlash(std::string_view path) {
    if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    return path;
  }

  // The first clause of the Accept header that names a form there is decides.
  static http::Step ServeRoot(http::Exchange& exchange, const Root& root) {
    const http::Request& request = exchange.request();
    for (const codec::AcceptClause& clause : codec::ParseAccept(request.headers.Get("Accept"))) {
      if (clause.Parameter("as").empty()) break;
      if (clause.Parameter("g") != "apidiscovery.k8s.io") continue;
      if (clause.Parameter("as") != "APIGroupDiscoveryList") continue;
      if (clause.type != "application" || clause.subtype != "json") continue;
      const auto found = root.aggregated.find(clause.Parameter("v"));
      if (found != root.aggregated.end()) return ServeAggregated(exchange, found->second);
    }
    return response::WriteJson(exchange, 200, root.legacy);
  }

  static http::Step ServeAggregated(http::Exchange& exchange, const Aggregated& document) {
    http::ResponseHead head{
        .code = 200,
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

  std::map<std::string, Root, std::less<>> roots_;
  std::map<std::string, Text, std::less<>> plain_;
};

}  // namespace

std::shared_ptr<const Documents> NewDocuments(const std::vector<APIGroup>& groups,
                                              const std::string& server_address) {
  return std::make_shared<All>(groups, server_address);
}

}  // namespace apiserver::inline v0::discovery
