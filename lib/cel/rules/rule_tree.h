#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/cel/rules.h"

// The inside of a RuleSet.
namespace apiserver::inline v0::cel {

// A rule with the texts that its errors are made of.
struct RuleNodeEntry {
  runtime::ValidationRule source;
  CompiledRule compiled;
  std::string shown;    // Names the rule in errors of evaluation: its message, or itself.
  std::string message;  // The error of a value that breaks it.
};

// A schema that has rules or parts with rules. Equal parts of a schema share one.
struct RuleNode {
  const runtime::Schema* schema;  // As it was declared.
  const runtime::Schema* view;    // As expressions see it.
  std::vector<RuleNodeEntry> rules = {};
  std::string error = "";           // The rules could not be compiled at all.
  bool uses_old_self = false;       // One of `rules` does.
  const RuleNode* items = nullptr;  // The node of the items of a kList or the values of a kMap.
  // The fields of a kStruct that have nodes, ordered by name.
  std::vector<std::pair<std::string_view, const RuleNode*>> members = {};
  std::vector<std::string_view> list_keys = {};  // The keys of a list of type map.

  // Returns the node of a member's value. Null: there are no rules.
  const RuleNode* MemberNode(std::string_view name) const;
};

struct RuleTree {
  runtime::SchemaPtr schema;
  runtime::SchemaPtr view;
  std::deque<RuleNode> nodes;
  const RuleNode* root = nullptr;
};

}  // namespace apiserver::inline v0::cel
