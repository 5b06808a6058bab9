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
  // Adds a named schema and those it refers to. `gvks`: x-kubernetes-group-version-kind.
  void AddSchema(const runtime::Schema& schema,
                 const std::vector<runtime::GroupVersionKind>& gvks = {});
  // Adds a definition that is neither an object nor a list: Patch, Time.
  void AddPlain(std::string_view name, runtime::Value definition);

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

  Tree tree_;
  Format format_;
  std::map<std::string, runtime::Value, std::less<>> definitions_;
};

// Adds the meta/v1 types that routes and kinds name. `group_versions` is for
// x-kubernetes-group-version-kind of DeleteOptions and WatchEvent, which belong to every group.
void AddMetaDefinitions(const std::vector<runtime::GroupVersion>& group_versions,
                        const std::set<std::string>& wanted, Definitions& definitions);

}  // namespace apiserver::inline v0::openapi
