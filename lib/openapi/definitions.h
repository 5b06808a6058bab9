#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "openapi/tree.h"

namespace apiserver::inline v0::openapi {

// The definitions of one document, made on demand: a reference to a named schema adds it.
class Definitions {
 public:
  Definitions(runtime::Arena& arena, Format format) : tree_(arena), format_(format) {}

  // Adds a version of a kind and, with `list`, its list.
  void AddKind(const runtime::Kind& kind, std::string_view version, bool list);
  // Adds a named schema and those it refers to.
  void AddSchema(const runtime::Schema& schema);
  // Adds a definition that all servers have, and those it refers to. False: `name` is none of them.
  bool AddShared(std::string_view name);
  // Says of which kinds a definition is, in place of what it says itself. Not there: does nothing.
  void SetGvks(std::string_view name, const std::vector<runtime::GroupVersionKind>& gvks);

  bool Has(std::string_view name) const { return definitions_.contains(name); }
  const std::map<std::string, runtime::Value, std::less<>>& all() const { return definitions_; }
  const Tree& tree() const { return tree_; }

 private:
  // Returns the value for a use of a schema: a reference for a named one, else the schema itself.
  runtime::Value Use(const runtime::Schema& schema, std::string_view description,
                     const runtime::Field* field);
  void AddScalar(const runtime::Schema& schema, runtime::MapBuilder& map) const;
  void AddConstraints(runtime::ConstraintsView limits, runtime::MapBuilder& map) const;
  void AddMarkers(const runtime::Schema& schema, runtime::MapBuilder& map) const;
  void AddPatchMarkers(const runtime::Schema& schema, runtime::MapBuilder& map) const;
  // Adds properties and required of a struct; `type_meta`: with kind and apiVersion.
  void AddProperties(const runtime::Schema& schema, bool type_meta, runtime::MapBuilder& map);
  void AppendFields(const runtime::Schema& schema, runtime::MapBuilder& properties,
                    std::vector<std::string>& required);
  void AddTypeMeta(runtime::MapBuilder& properties) const;
  runtime::Value Gvks(const std::vector<runtime::GroupVersionKind>& gvks) const;
  void AddList(const runtime::Kind& kind, std::string_view version, const std::string& item);

  // Returns a definition that all servers have, in the form of v3; null: there is none.
  runtime::Value SharedDefinition(std::string_view name);
  // Returns a part of one in the form of this document, and adds the definitions it refers to.
  runtime::Value InForm(runtime::Value shared);

  Tree tree_;
  Format format_;
  runtime::Value shared_;  // Those that all servers have; null: not read yet.
  std::map<std::string, runtime::Value, std::less<>> definitions_;
};

// Adds those of the wanted definitions that all servers have.
void AddMetaDefinitions(const std::set<std::string>& wanted, Definitions& definitions);
// Says that DeleteOptions and WatchEvent are kinds of these group versions: they belong to all.
void SetGroupsOfMetaKinds(const std::vector<runtime::GroupVersion>& group_versions,
                          Definitions& definitions);

}  // namespace apiserver::inline v0::openapi
