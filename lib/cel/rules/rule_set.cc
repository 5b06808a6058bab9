#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "apiserver/cel/names.h"
#include "apiserver/cel/rules.h"
#include "apiserver/cel/schema_type.h"
#include "apiserver/runtime/schema.h"
#include "cel/estimate/sizes.h"
#include "cel/rules/rule_tree.h"
#include "cel/run/views.h"
#include "text/trim.h"

namespace apiserver::v0::cel {
namespace {

using runtime::Field;
using runtime::Schema;
using runtime::SchemaPtr;
using runtime::SchemaType;

// Makes the nodes of a tree, equal parts once. Recurses as deep as the schema is, which loaders
// bound.
class TreeBuilder {
 public:
  TreeBuilder(RuleTree& tree, const Environment& environment)
      : tree_(tree), environments_{environment} {}

  // Returns the node of a schema that expressions see as `view`. Null: no rules there or below.
  const RuleNode* Build(const SchemaPtr& schema, const SchemaPtr& view);

 private:
  void AddRules(const SchemaPtr& schema, const SchemaPtr& view, RuleNode& node);
  void AddMembers(const SchemaPtr& schema, const SchemaPtr& view, RuleNode& node);
  void AddMember(const Field& field, const Schema& view, RuleNode& node);

  RuleTree& tree_;
  const RuleEnvironments environments_;
  std::map<std::pair<const Schema*, const Schema*>, const RuleNode*> made_;
};

const RuleNode* TreeBuilder::Build(const SchemaPtr& schema, const SchemaPtr& view) {
  if (!schema->has_rules()) return nullptr;
  const auto key = std::make_pair(schema.get(), view.get());
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  RuleNode& node = tree_.nodes.emplace_back(RuleNode{.schema = schema.get(), .view = view.get()});
  AddRules(schema, view, node);
  if (schema->type == SchemaType::kStruct) {
    AddMembers(schema, view, node);
    std::sort(node.members.begin(), node.members.end());
  } else if (schema->items() != nullptr && view->items() != nullptr) {
    node.items = Build(schema->items(), view->items());
    node.list_keys = schema->list_map_keys();
  }
  const bool used =
      !node.rules.empty() || !node.error.empty() || node.items != nullptr || !node.members.empty();
  return made_.emplace(key, used ? &node : nullptr).first->second;
}

// Compiles the rules of `schema`, which is the node's own or one whose fields it has inlined.
void TreeBuilder::AddRules(const SchemaPtr& schema, const SchemaPtr& view, RuleNode& node) {
  Result<std::vector<CompiledRule>> compiled = CompileRules(schema, view, environments_);
  if (!compiled.ok()) {
    node.error = compiled.status().message();
    return;
  }
  std::vector<runtime::ValidationRule> sources = schema->rules();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    RuleNodeEntry& rule = node.rules.emplace_back();
    rule.source = std::move(sources[i]);
    rule.compiled = std::move((*compiled)[i]);
    const bool told = !rule.source.message.empty();
    rule.shown = text::TrimSpace(told ? rule.source.message : rule.source.rule);
    rule.message = told ? rule.shown : "failed rule: " + rule.shown;
    node.uses_old_self |= rule.compiled.uses_old_self;
  }
}

void TreeBuilder::AddMembers(const SchemaPtr& schema, const SchemaPtr& view, RuleNode& node) {
  for (const Field& field : schema->fields()) {
    if (!field.schema->has_rules()) continue;
    if (!field.inlined) {
      AddMember(field, *view, node);
      continue;
    }
    AddRules(field.schema, view, node);
    AddMembers(field.schema, view, node);
  }
}

// Adds a field, unless expressions do not see its values: its rules never run then.
void TreeBuilder::AddMember(const Field& field, const Schema& view, RuleNode& node) {
  const Field* const seen = view.FindField(field.name());
  if (seen == nullptr || !estimate::DeclaredSizes::IsVisible(*seen->schema)) return;
  const RuleNode* const member = Build(field.schema, seen->schema);
  if (member != nullptr) node.members.emplace_back(field.name(), member);
}

}  // namespace

const RuleNode* RuleNode::MemberNode(std::string_view name) const {
  // Most objects have a few such members.
  constexpr std::size_t kSearchedMax = 8;
  if (members.size() <= kSearchedMax) {
    for (const auto& [key, node] : members) {
      if (key.size() == name.size() && key == name) return node;
    }
    return nullptr;
  }
  const auto found =
      std::lower_bound(members.begin(), members.end(), name,
                       [](const auto& member, std::string_view key) { return member.first < key; });
  return found == members.end() || found->first != name ? nullptr : found->second;
}

RuleSet RuleSet::Compile(const SchemaPtr& schema, bool resource, const Environment& environment) {
  RuleSet made;
  if (schema == nullptr || !schema->has_rules()) return made;
  auto tree = std::make_shared<RuleTree>();
  tree->schema = schema;
  tree->view = WithTypeAndObjectMeta(schema, resource);
  tree->root = TreeBuilder(*tree, environment).Build(tree->schema, tree->view);
  if (tree->root != nullptr) made.tree_ = std::move(tree);
  return made;
}

}  // namespace apiserver::v0::cel
