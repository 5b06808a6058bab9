#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/openapi/foreign.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::openapi {

// The extension that tells of which kinds a definition is.
inline constexpr std::string_view kGvkKey = "x-kubernetes-group-version-kind";

// A document of v2 by its names. It borrows from the Value it is made of.
struct V2Parts {
  explicit V2Parts(runtime::Value document);

  std::vector<runtime::Member> paths;
  std::map<std::string_view, runtime::Value> definitions;
  std::map<std::string_view, runtime::Value> parameters;
};

// Tells if it is a document of v2, as far as it is read here.
bool IsV2(runtime::Value document);
// Keeps the paths of a group version, and leaves out definitions that were needed only by others.
void KeepVersion(const runtime::GroupVersion& version, V2Parts& parts);

// Keeps the paths that `keep` has, and leaves out definitions that were needed only by others.
void KeepPaths(const std::set<std::string_view>& keep, V2Parts& parts);

// Returns a digest that is the same for equal values, whatever the order of their members.
std::string DigestOf(runtime::Value value);
// Returns that of a definition, whatever its kinds are.
std::string DigestOfDefinition(runtime::Value definition, runtime::Arena& arena);

// Appends a schema of v2 in the form of v3.
void AppendV3Schema(runtime::Value schema, std::string& json);

// Returns the digest of a text in hexadecimal digits.
std::string HexDigestOf(std::string_view text);

// Returns the kinds of both definitions: `first` as it is if it has all of `second`, else all in
// their order. What is no list of kinds adds nothing.
runtime::Value MergedGvks(runtime::Value first, runtime::Value second, runtime::Arena& arena);

// New names by the old ones.
using Renames = std::map<std::string_view, std::string>;

// Merges documents of v2, one after the other. Used by one thread.
class V2Merger {
 public:
  explicit V2Merger(V2Names taken) : taken_(std::move(taken)) {}

  // The texts of what a document adds: members of maps, separated by commas; parameters by name.
  struct Texts {
    std::string paths;
    std::string definitions;
    std::map<std::string, std::string> parameters;
  };

  // Adds a document; what it was made of must outlive this.
  void Add(V2Parts document);
  // Returns the texts of each document, in the order in which they were added.
  std::vector<Texts> Finish();

 private:
  // A definition that a document has added.
  struct Added {
    std::size_t document = 0;
    runtime::Value definition;
    std::shared_ptr<const Renames> renames;
    runtime::Value gvks;
  };

  void AddDefinitions(const V2Parts& document, const std::shared_ptr<const Renames>& renames,
                      const std::map<std::string_view, std::string>& digests);

  V2Names taken_;
  runtime::Arena arena_;
  std::vector<Texts> texts_;
  std::map<std::string, Added> added_;  // By its new name.
};

}  // namespace apiserver::inline v0::openapi
