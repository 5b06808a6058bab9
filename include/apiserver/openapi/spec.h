#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/openapi/route.h"
#include "apiserver/runtime/kind.h"

// OpenAPI documents from kinds and routes, which kubectl reads before it creates, applies and
// explains. v2 as JSON and as gnostic's protobuf (kubectl <= 1.28), v3 one document per group
// version.
namespace apiserver::inline v0::openapi {

// The title and version of a document.
struct Info {
  std::string title = "Kubernetes";
  std::string version = "unversioned";
};

// The input of the documents. Definitions are made for every served version of every kind, its
// list, and the meta/v1 types that the routes name.
struct Input {
  Info info;
  std::vector<runtime::KindPtr> kinds;
  std::vector<Route> routes;
};

// A finished document and its hash.
struct Document {
  std::string json;
  std::string protobuf;
  std::string etag;  // Upper-case hex SHA-512 of the JSON, without quotes.
};

// The path below which a server serves the documents of v3.
inline constexpr std::string_view kV3Prefix = "/openapi/v3/";

// All documents of a server.
struct Documents {
  Document v2;
  // Lists all of `v3` with their URLs, hashes included.
  Document v3_index;
  // The documents of v3 by path without leading slash: "apis/wardle.example.com/v1alpha1",
  // "version", "api", "apis".
  std::map<std::string, Document> v3;
};

// Builds all documents. kInternalError: the result is not self-consistent (a $ref without
// definition, a kind defined twice, an operation id used twice); the message lists what is wrong.
Result<std::shared_ptr<const Documents>> Build(const Input& input);

// The parts of Build(), for servers whose routes change while they run; they do not check the
// result.
//
// Builds all of `input` as one document of v2, or of v3.
Document BuildV2(const Input& input);
// The same as one document of v3.
Document BuildV3(const Input& input);
// Returns the document of v3 that a route belongs to, as a key of Documents::v3.
std::string V3PathOf(const Route& route);
// Builds Documents::v3_index for documents with these etags, by path.
Document V3Index(const std::map<std::string, std::string>& etags);

// Returns the problems of a v2 or v3 JSON document, for hosts' tests and the check at start. Empty:
// none.
std::vector<std::string> Lint(const std::string& json);

// Returns the definition's name of a kind's version, "com.example.wardle.v1alpha1.Flunder": the
// schema's name, or made from the group as Kubernetes does.
std::string DefinitionName(const runtime::Kind& kind, std::string_view version);

}  // namespace apiserver::inline v0::openapi
