#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/control/structure.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/warnings.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::apiextensions {

// The names of a definition: those it asks for, or those it has got.
struct Names {
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::string kind;
  std::string list_kind;
  std::vector<std::string> categories;

  friend bool operator==(const Names&, const Names&) = default;
};

// Holds what is known of a version without reading its schema.
struct VersionFacts {
  std::string name;
  bool served = false;
  bool storage = false;
  bool status = false;  // It has the subresource.
  bool scale = false;   // It has the subresource.
  // The warning of everything that is asked of the version. Null: it is not deprecated.
  rest::WarningPtr deprecation = nullptr;
};

// Holds what control and serving know of a CustomResourceDefinition at all times: a thousandth of
// it. The rest is read from `object` when it is needed, and forgotten again. Immutable.
struct Facts {
  runtime::ObjectPtr object;  // As stored.
  std::string name;           // "foos.example.com".
  std::string uid;
  std::int64_t generation = 0;  // Grows with each change of the spec.
  std::string group;
  bool namespaced = true;
  Names requested;
  Names accepted;
  std::vector<VersionFacts> versions;  // In the order of the definition.
  bool names_accepted = false;         // The condition NamesAccepted is True.
  std::string names_reason;            // Of the condition NamesAccepted.
  std::string names_message;           // Of the condition NamesAccepted.
  bool established = false;            // The condition Established is True.
  bool judged = false;                 // It has the condition Established.
  bool deleting = false;               // It has a deletionTimestamp.
  bool cleanup = false;                // It waits for its objects to be deleted.
  bool finalizers = false;             // It waits for something.
  Structure structure;                 // What is wrong with its schemas.
  Structure structure_told;            // The same, as the condition NonStructuralSchema has it.

  // Returns the version of that name. Null: there is none.
  const VersionFacts* FindVersion(std::string_view version) const;
  // Returns the version that objects are stored in. Null: there is none.
  const VersionFacts* StorageVersion() const;
};
using FactsPtr = std::shared_ptr<const Facts>;

// Returns an object with the content of `definition` in v1. It is parsed for this caller alone if
// that has not been parsed yet, so that a stored definition stays small.
std::unique_ptr<runtime::Object> ReadOnce(const runtime::Object& definition);

// Returns the facts of an earlier state of a definition. Null: there is none.
using FindFacts = std::function<FactsPtr(const std::string& name)>;

// The facts of a definition, and the content in v1 that they were read from, for those who read
// more of it at the same time.
struct ReadDefinition {
  FactsPtr facts;
  std::unique_ptr<runtime::Object> content;
};
// Reads the facts of a stored definition. Schemas that are those of an earlier state are not looked
// at again. kInternalError: its bytes cannot be read.
Result<ReadDefinition> FactsOf(const runtime::ObjectPtr& definition, const FindFacts& find_before);

// Returns the names in a Value such as spec.names or status.acceptedNames.
Names NamesIn(const runtime::Value& names);

// True if requests for the objects of the definition are served: as upstream, from the moment its
// names are accepted on, and for as long as it has been established once.
bool IsServable(const Facts& facts);

}  // namespace apiserver::inline v0::apiextensions
