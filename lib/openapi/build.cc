#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/spec.h"
#include "base/status_macros.h"
#include "openapi/definitions.h"
#include "openapi/gnostic.h"
#include "openapi/paths.h"
#include "text/hex.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::MapBuilder;
using runtime::Value;
using Routes = std::vector<const Route*>;

// Follows computeETag in kube-openapi, which writes capital digits.
std::string HexSha512(const std::string& text) {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  SHA512(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  text::AppendUpperHex(digest, hex);
  return hex;
}

std::vector<runtime::GroupVersion> GroupVersionsOf(const std::vector<runtime::KindPtr>& kinds) {
  std::set<runtime::GroupVersion> group_versions;
  for (const runtime::KindPtr& kind : kinds) {
    for (const runtime::KindVersion& version : kind->versions()) {
      if (version.served) group_versions.insert({kind->group(), version.version});
    }
  }
  return {group_versions.begin(), group_versions.end()};
}

// Returns the definitions that the document must have, beside those of fragments.
std::set<std::string> WantedBy(const Input& input, const Routes& routes) {
  std::set<std::string> wanted = DefinitionsNamedBy(routes);
  for (const FragmentPtr& fragment : input.fragments) {
    for (const std::string_view name : fragment->References()) wanted.emplace(name);
  }
  return wanted;
}

bool IsOfFragmentsAlone(const Input& input) {
  return input.routes.empty() && !input.fragments.empty();
}

// Adds the kinds in `wanted`, with everything they refer to, and the meta types.
void Define(const Input& input, const std::set<std::string>& wanted, Definitions& definitions) {
  std::vector<runtime::KindPtr> kinds = input.kinds;
  for (const FragmentPtr& fragment : input.fragments) {
    for (const runtime::KindPtr& kind : fragment->Kinds()) {
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  for (const runtime::KindPtr& kind : kinds) {
    for (const runtime::KindVersion& version : kind->versions()) {
      const std::string name = DefinitionName(*kind, version.version);
      const bool list = wanted.contains(name + "List");
      if (version.served && (list || wanted.contains(name))) {
        definitions.AddKind(*kind, version.version, list);
      }
    }
  }
  AddMetaDefinitions(wanted, definitions);
  // A document of fragments alone keeps the groups of Kubernetes, as upstream's.
  if (IsOfFragmentsAlone(input)) return;
  std::vector<runtime::GroupVersion> versions = GroupVersionsOf(input.kinds);
  for (const runtime::GroupVersion& version : input.fragment_versions) {
    if (std::ranges::find(versions, version) == versions.end()) versions.push_back(version);
  }
  SetGroupsOfMetaKinds(versions, definitions);
}

void Separate(std::string& json) {
  if (json.back() != '{') json += ',';
}

void AppendMember(std::string_view name, Value value, std::string& json) {
  Separate(json);
  codec::AppendJsonString(name, json);
  json += ':';
  codec::AppendJson(value, json);
}

void AppendMembers(Value map, std::string& json) {
  for (const runtime::Member& member : map.members()) AppendMember(member.key, member.value, json);
}

void AppendAll(const Definitions& definitions, std::string& json) {
  for (const auto& [name, definition] : definitions.all()) AppendMember(name, definition, json);
}

Value Collected(const Definitions& definitions, runtime::Arena& arena) {
  MapBuilder all(arena);
  for (const auto& [name, definition] : definitions.all()) {
    all.Add(arena.Copy(name), definition);
  }
  return all.Build();
}

Value InfoOf(const Info& info, const Tree& tree) {
  MapBuilder map(tree.arena());
  map.Add("title", tree.String(info.title));
  map.Add("version", tree.String(info.version));
  return map.Build();
}

Value BearerToken(runtime::Arena& arena) {
  MapBuilder token(arena);
  token.Add("type", Value::String("apiKey"));
  token.Add("name", Value::String("authorization"));
  token.Add("in", Value::String("header"));
  token.Add("description", Value::String("Bearer Token authentication"));
  MapBuilder schemes(arena);
  schemes.Add("BearerToken", token.Build());
  return schemes.Build();
}

Document Finish(std::string json) {
  Document finished;
  finished.etag = HexSha512(json);
  finished.json = std::move(json);
  return finished;
}

std::string Joined(const std::vector<std::string>& problems) {
  std::string joined;
  for (const std::string& problem : problems) joined += (joined.empty() ? "" : "; ") + problem;
  return joined;
}

Status Checked(const std::string& name, const Document& document) {
  const std::vector<std::string> problems = Lint(document.json);
  if (problems.empty()) return {};
  return {Reason::kInternalError,
          "the OpenAPI document " + name + " is not right: " + Joined(problems)};
}

Routes RoutesOf(const Input& input) {
  Routes routes;
  for (const Route& route : input.routes) routes.push_back(&route);
  return routes;
}

}  // namespace

V2Base BuildV2Base(const Input& input) {
  const Routes routes = RoutesOf(input);
  runtime::Arena arena;
  Definitions definitions(arena, Format::kV2);
  Define(input, WantedBy(input, routes), definitions);
  const Tree& tree = definitions.tree();
  MapBuilder document(arena);
  document.Add("swagger", Value::String("2.0"));
  document.Add("info", InfoOf(input.info, tree));
  document.Add("paths", PathsOf(routes, tree, Format::kV2));
  document.Add("definitions", Collected(definitions, arena));
  document.Add("securityDefinitions", BearerToken(arena));
  const Value built = document.Build();
  V2Base base;
  std::string& json = base.document.json;
  json = "{";
  AppendMember("swagger", built["swagger"], json);
  AppendMember("info", built["info"], json);
  json += ",\"paths\":{";
  AppendMembers(built["paths"], json);
  base.paths_end = json.size();
  json += "},\"definitions\":{";
  AppendMembers(built["definitions"], json);
  base.definitions_end = json.size();
  json += "}";
  AppendMember("securityDefinitions", built["securityDefinitions"], json);
  json += '}';
  base.document.etag = HexSha512(json);
  // kubectl up to 1.28 reads v2 as protobuf only.
  base.document.protobuf = GnosticV2(built);
  return base;
}

Document BuildV2(const Input& input) {
  auto base = std::make_shared<V2Base>(BuildV2Base(input));
  if (input.fragments.empty()) return std::move(base->document);
  const auto fragments = std::make_shared<const std::vector<FragmentPtr>>(input.fragments);
  Document finished;
  finished.etag = EtagOf(*base, *fragments);
  for (V2Writer writer(base, fragments, /*protobuf=*/false); writer.Append(finished.json);) {
  }
  for (V2Writer writer(base, fragments, /*protobuf=*/true); writer.Append(finished.protobuf);) {
  }
  return finished;
}

Document BuildV3(const Input& input) {
  const Routes routes = RoutesOf(input);
  runtime::Arena arena;
  Definitions definitions(arena, Format::kV3);
  Define(input, WantedBy(input, routes), definitions);
  const Tree& tree = definitions.tree();
  std::string json = R"({"openapi":"3.0.0")";
  AppendMember("info", InfoOf(input.info, tree), json);
  json += ",\"paths\":{";
  AppendMembers(PathsOf(routes, tree, Format::kV3), json);
  std::map<std::string, std::string> no_parameters;
  for (const FragmentPtr& fragment : input.fragments) {
    Separate(json);
    fragment->AppendPaths(Format::kV3, json, no_parameters);
  }
  json += "},\"components\":{\"schemas\":{";
  AppendAll(definitions, json);
  for (const FragmentPtr& fragment : input.fragments) {
    Separate(json);
    fragment->AppendDefinitions(Format::kV3, json);
  }
  json += '}';
  const bool fragments_alone = IsOfFragmentsAlone(input);
  // As upstream's, a document of fragments alone tells nothing of tokens.
  if (!fragments_alone) AppendMember("securitySchemes", BearerToken(arena), json);
  json += "}}";
  if (!fragments_alone) return Finish(std::move(json));
  return {.json = std::move(json), .protobuf = "", .etag = EtagOf(input.fragments)};
}

std::string EtagOf(const std::vector<FragmentPtr>& fragments) {
  std::set<std::string_view> hashes;
  for (const FragmentPtr& fragment : fragments) hashes.insert(fragment->hash());
  std::string all;
  for (const std::string_view hash : hashes) all.append(hash).append("\n");
  return HexSha512(all);
}

std::string EtagOf(const V2Base& base, const std::vector<FragmentPtr>& fragments) {
  return HexSha512(base.document.etag + EtagOf(fragments));
}

std::string V3PathOf(const Route& route) {
  const std::string& path = route.path;
  std::vector<std::string> parts;
  std::size_t begin = 1;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.empty()) return "";
  // A document covers apis/GROUP/VERSION, api/VERSION, or all paths with the same first segment.
  const std::size_t own = parts[0] == "apis" ? 3 : parts[0] == "api" ? 2 : 1;
  std::string document = parts[0];
  for (std::size_t i = 1; i < std::min(own, parts.size()); ++i) document += "/" + parts[i];
  return document;
}

Document V3Index(const std::map<std::string, std::string>& etags,
                 const std::map<std::string, std::string>& urls) {
  std::map<std::string, std::string> all = urls;
  for (const auto& [path, etag] : etags) {
    std::string url(kV3Prefix);
    // The hash lets clients cache a document until its content changes.
    url.append(path).append("?hash=").append(etag);
    all.emplace(path, std::move(url));
  }
  runtime::Arena arena;
  MapBuilder paths(arena);
  for (const auto& [path, url] : all) {
    MapBuilder entry(arena);
    entry.Add("serverRelativeURL", Value::String(arena.Copy(url)));
    paths.Add(arena.Copy(path), entry.Build());
  }
  MapBuilder index(arena);
  index.Add("paths", paths.Build());
  std::string json;
  codec::AppendJson(index.Build(), json);
  return Finish(std::move(json));
}

Result<std::shared_ptr<const Documents>> Build(const Input& input) {
  auto documents = std::make_shared<Documents>();
  documents->v2 = BuildV2(input);
  RETURN_IF_ERROR(Checked("v2", documents->v2));
  std::map<std::string, Input> parts;
  for (const Route& route : input.routes) {
    Input& part = parts[V3PathOf(route)];
    part.routes.push_back(route);
  }
  std::map<std::string, std::string> etags;
  for (auto& [path, part] : parts) {
    part.info = input.info;
    // Define() takes those that the routes of the part name.
    part.kinds = input.kinds;
    Document document = BuildV3(part);
    RETURN_IF_ERROR(Checked("v3 " + path, document));
    etags.emplace(path, document.etag);
    documents->v3.emplace(path, std::move(document));
  }
  documents->v3_index = V3Index(etags);
  return documents;
}

}  // namespace apiserver::v0::openapi
