#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/openapi/fragment.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/runtime/names.h"

// Documents of OpenAPI v2 of other servers, merged into that of this one:
// k8s.io/kube-openapi/pkg/aggregator.
namespace apiserver::inline v0::openapi {

// A document of v2 of another server, as far as one of its group versions needs it.
struct ForeignV2 {
  runtime::GroupVersion version;
  std::string json;  // An object with its "paths", "definitions" and "parameters".
  std::string hash;  // The hash of `json`.
};
using ForeignV2Ptr = std::shared_ptr<const ForeignV2>;

// The deepest nesting of a foreign document. Those of Kubernetes have less than thirty levels.
inline constexpr std::size_t kForeignDepthMax = 200;

// Reads a document of v2. It keeps the paths of the group version, and leaves out the definitions
// that only other paths need: FilterSpecByPaths. kBadRequest: it is no JSON, or nested too deep.
// kInvalid: it is no document of v2. Takes time and memory about linear in the size.
Result<ForeignV2Ptr> ReadForeignV2(std::string_view json, const runtime::GroupVersion& version);

// The names that a document of v2 has given, and digests of what they stand for, whose empty text
// equals nothing.
struct V2Names {
  std::set<std::string, std::less<>> paths;
  std::map<std::string, std::string, std::less<>> definitions;
  std::map<std::string, std::string, std::less<>> parameters;
};

// Returns the names of a document, which takes time linear in its size.
V2Names NamesIn(const V2Base& base);

// Returns foreign documents as fragments that stand behind a document with the names `taken`, and
// behind each other: MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters. A path that is
// taken is left out, and so is what is there already; a definition or a parameter whose name stands
// for something else gets a new one ("X_v2"). Foreign documents that share a definition have its
// kinds (x-kubernetes-group-version-kind) together.
std::vector<FragmentPtr> MergeForeignV2(V2Names taken, std::span<const ForeignV2Ptr> foreign);

}  // namespace apiserver::inline v0::openapi
