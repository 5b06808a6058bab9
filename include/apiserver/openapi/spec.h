#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/openapi/fragment.h"
#include "apiserver/openapi/route.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/names.h"

// OpenAPI documents from kinds and routes, which kubectl reads before it creates, applies and
// explains. v2 as JSON and as gnostic's protobuf (kubectl <= 1.28), v3 one document per group
// version.
namespace apiserver::inline v0::openapi {

// The input of the documents. Definitions are made for every served version of every kind, its
// list, and the meta/v1 types that the routes name; fragments have their own.
struct Input {
  Info info;
  std::vector<runtime::KindPtr> kinds;
  std::vector<Route> routes;
  std::vector<FragmentPtr> fragments = {};
  // Those of the fragments, which have no kinds to tell them.
  std::vector<runtime::GroupVersion> fragment_versions = {};
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
// The same as one document of v3. One of fragments alone, without routes, has their EtagOf().
Document BuildV3(const Input& input);
// Returns the ETag of a document of v3 that is made of fragments alone, whatever their order,
// without making it.
std::string EtagOf(const std::vector<FragmentPtr>& fragments);

// The document of v2 without its fragments, and where in its JSON theirs are put in. Protobuf is
// not cut: readers merge what follows it.
struct V2Base {
  Document document;
  std::size_t paths_end = 0;
  std::size_t definitions_end = 0;
};
// Builds it: `input.fragments` count only with what they refer to.
V2Base BuildV2Base(const Input& input);
// Returns the ETag of a document of v2.
std::string EtagOf(const V2Base& base, const std::vector<FragmentPtr>& fragments);

// Writes the document of v2 piece by piece, so that it is never in memory as a whole: with
// thousands of fragments it has a hundred megabytes. Used by one thread at a time.
class V2Writer {
 public:
  V2Writer(std::shared_ptr<const V2Base> base,
           std::shared_ptr<const std::vector<FragmentPtr>> fragments, bool protobuf)
      : base_(std::move(base)), fragments_(std::move(fragments)), protobuf_(protobuf) {}

  // Appends the next piece, which may take long. False: there is none left.
  bool Append(std::string& out);

 private:
  void AppendProtobuf(std::size_t piece, std::string& out);
  void AppendJson(std::size_t piece, std::string& out);
  void AppendFragment(std::size_t piece, std::string& out);

  const std::shared_ptr<const V2Base> base_;
  const std::shared_ptr<const std::vector<FragmentPtr>> fragments_;
  const bool protobuf_;
  std::size_t piece_ = 0;
  std::string_view rest_;  // What is left of a part of the base.
  bool separate_ = false;  // The next member needs a comma.
  std::map<std::string, std::string> parameters_;
};
// Returns the document of v3 that a route belongs to, as a key of Documents::v3.
std::string V3PathOf(const Route& route);
// Builds Documents::v3_index for documents with these etags, by path, and for documents at these
// URLs, which stand in place of others of the same path.
Document V3Index(const std::map<std::string, std::string>& etags,
                 const std::map<std::string, std::string>& urls = {});

// Returns the problems of a v2 or v3 JSON document, for hosts' tests and the check at start. Empty:
// none.
std::vector<std::string> Lint(const std::string& json);

// Returns the definition's name of a kind's version, "com.example.wardle.v1alpha1.Flunder": the
// schema's name, or made from the group as Kubernetes does.
std::string DefinitionName(const runtime::Kind& kind, std::string_view version);

}  // namespace apiserver::inline v0::openapi
