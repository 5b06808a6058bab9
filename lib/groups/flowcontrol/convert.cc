#include "groups/flowcontrol/convert.h"

#include <string>
#include <string_view>
#include <vector>

#include "groups/flowcontrol/names.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

using config::FlowSchema;
using config::PolicyRulesWithSubjects;
using config::PriorityLevelConfiguration;
using config::Subject;
using runtime::Arena;
using runtime::ListBuilder;
using runtime::MapBuilder;
using runtime::Value;

std::vector<std::string> Texts(const Value& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const Value& text : list.items()) texts.emplace_back(text.AsString());
  return texts;
}

int Number(const Value& value) { return static_cast<int>(value.AsInt()); }

// The objects have been validated: an unknown word reads as the last alternative, not as an error.
Subject SubjectOf(const Value& subject) {
  const std::string_view kind = subject["kind"].AsString();
  if (kind == "Group") {
    return {Subject::Kind::kGroup, std::string(subject["group"]["name"].AsString())};
  }
  if (kind == "User") {
    return {Subject::Kind::kUser, std::string(subject["user"]["name"].AsString())};
  }
  const Value account = subject["serviceAccount"];
  return {Subject::Kind::kServiceAccount, std::string(account["name"].AsString()),
          std::string(account["namespace"].AsString())};
}

PolicyRulesWithSubjects RuleOf(const Value& rule) {
  PolicyRulesWithSubjects result;
  for (const Value& subject : rule["subjects"].items()) {
    result.subjects.push_back(SubjectOf(subject));
  }
  for (const Value& each : rule["resourceRules"].items()) {
    result.resource_rules.push_back({.verbs = Texts(each["verbs"]),
                                     .api_groups = Texts(each["apiGroups"]),
                                     .resources = Texts(each["resources"]),
                                     .cluster_scope = each["clusterScope"].AsBool(),
                                     .namespaces = Texts(each["namespaces"])});
  }
  for (const Value& each : rule["nonResourceRules"].items()) {
    result.non_resource_rules.push_back(
        {.verbs = Texts(each["verbs"]), .non_resource_urls = Texts(each["nonResourceURLs"])});
  }
  return result;
}

// Copied into the arena, since the configuration may go before the object.
Value TextOf(std::string_view text, Arena& arena) { return Value::String(arena.Copy(text)); }

Value ListOf(const std::vector<std::string>& texts, Arena& arena) {
  ListBuilder list(arena);
  for (const std::string& text : texts) list.Add(TextOf(text, arena));
  return list.Build();
}

Value ValueOf(const Subject& subject, Arena& arena) {
  MapBuilder named(arena);
  // Each kind has a field of its own, of which exactly one is set.
  const char* kind = "User";
  const char* field = "user";
  if (subject.kind == Subject::Kind::kGroup) {
    kind = "Group";
    field = "group";
  }
  if (subject.kind == Subject::Kind::kServiceAccount) {
    kind = "ServiceAccount";
    field = "serviceAccount";
    named.Add("namespace", TextOf(subject.namespace_, arena));
  }
  named.Add("name", TextOf(subject.name, arena));
  MapBuilder result(arena);
  result.Add("kind", Value::String(kind));
  result.Add(field, named.Build());
  return result.Build();
}

Value ValueOf(const PolicyRulesWithSubjects& rule, Arena& arena) {
  ListBuilder subjects(arena);
  for (const Subject& subject : rule.subjects) subjects.Add(ValueOf(subject, arena));
  MapBuilder result(arena);
  result.Add("subjects", subjects.Build());
  ListBuilder resources(arena);
  for (const auto& each : rule.resource_rules) {
    MapBuilder map(arena);
    map.Add("verbs", ListOf(each.verbs, arena));
    map.Add("apiGroups", ListOf(each.api_groups, arena));
    map.Add("resources", ListOf(each.resources, arena));
    if (each.cluster_scope) map.Add("clusterScope", Value::Bool(true));
    map.Add("namespaces", ListOf(each.namespaces, arena));
    resources.Add(map.Build());
  }
  // Empty lists are left out, as Go's objects omit them: an object that is compared with a stored
  // one must look like it.
  if (!rule.resource_rules.empty()) result.Add("resourceRules", resources.Build());
  ListBuilder paths(arena);
  for (const auto& each : rule.non_resource_rules) {
    MapBuilder map(arena);
    map.Add("verbs", ListOf(each.verbs, arena));
    map.Add("nonResourceURLs", ListOf(each.non_resource_urls, arena));
    paths.Add(map.Build());
  }
  if (!rule.non_resource_rules.empty()) result.Add("nonResourceRules", paths.Build());
  return result.Build();
}

std::unique_ptr<runtime::Object> NewObject(const char* kind, const std::string& name) {
  auto object = std::make_unique<runtime::Object>(
      // Untyped: the client sends the object to the server, which validates it.
      runtime::Kind::Untyped({std::string(kGroup), "v1", kind}), "v1");
  object->Edit("metadata", "name") = name;
  object->Edit("metadata", "annotations", kAutoUpdate) = "true";
  return object;
}

}  // namespace

PriorityLevelConfiguration LevelOf(const runtime::Object& object) {
  const Value spec = object["spec"];
  const bool exempt = spec["type"].AsString() == "Exempt";
  const Value of = spec[exempt ? "exempt" : "limited"];
  // An absent member reads as zero, which is what the defaults of the kind have replaced before.
  PriorityLevelConfiguration level{
      .name = std::string(object.name()),
      .uid = std::string(object.uid()),
      .exempt = exempt,
      .nominal_concurrency_shares = Number(of["nominalConcurrencyShares"]),
      .lendable_percent = Number(of["lendablePercent"]),
      .borrowing_limit_percent = {},
      .queuing = {}};
  const Value borrowing = of["borrowingLimitPercent"];
  if (!borrowing.is_null()) level.borrowing_limit_percent = Number(borrowing);
  const Value queuing = of["limitResponse"]["queuing"];
  if (!queuing.is_null()) {
    level.queuing = {.queues = Number(queuing["queues"]),
                     .hand_size = Number(queuing["handSize"]),
                     .queue_length_limit = Number(queuing["queueLengthLimit"])};
  }
  return level;
}

FlowSchema SchemaOf(const runtime::Object& object) {
  const Value spec = object["spec"];
  FlowSchema schema{
      .name = std::string(object.name()),
      .uid = std::string(object.uid()),
      .priority_level = std::string(spec["priorityLevelConfiguration"]["name"].AsString()),
      .matching_precedence = Number(spec["matchingPrecedence"]),
      .rules = {}};
  // Absent: all requests of the schema are one flow.
  const std::string_view method = spec["distinguisherMethod"]["type"].AsString();
  if (method == "ByUser") schema.distinguisher = FlowSchema::Distinguisher::kByUser;
  if (method == "ByNamespace") schema.distinguisher = FlowSchema::Distinguisher::kByNamespace;
  for (const Value& rule : spec["rules"].items()) schema.rules.push_back(RuleOf(rule));
  return schema;
}

std::unique_ptr<runtime::Object> ObjectOf(const PriorityLevelConfiguration& level) {
  auto object = NewObject("PriorityLevelConfiguration", level.name);
  object->Edit("spec", "type") = level.exempt ? "Exempt" : "Limited";
  const char* of = level.exempt ? "exempt" : "limited";
  object->Edit("spec", of, "nominalConcurrencyShares") = level.nominal_concurrency_shares;
  object->Edit("spec", of, "lendablePercent") = level.lendable_percent;
  // An exempt level neither borrows nor queues.
  if (level.exempt) return object;
  if (level.borrowing_limit_percent) {
    object->Edit("spec", of, "borrowingLimitPercent") = *level.borrowing_limit_percent;
  }
  object->Edit("spec", of, "limitResponse", "type") = level.queuing ? "Queue" : "Reject";
  // Only "Queue" has parameters.
  if (!level.queuing) return object;
  const auto set = [&object, of](const char* field, int value) {
    object->Edit("spec", of, "limitResponse", "queuing", field) = value;
  };
  set("queues", level.queuing->queues);
  set("handSize", level.queuing->hand_size);
  set("queueLengthLimit", level.queuing->queue_length_limit);
  return object;
}

std::unique_ptr<runtime::Object> ObjectOf(const FlowSchema& schema) {
  auto object = NewObject("FlowSchema", schema.name);
  object->Edit("spec", "priorityLevelConfiguration", "name") = schema.priority_level;
  object->Edit("spec", "matchingPrecedence") = schema.matching_precedence;
  if (schema.distinguisher != FlowSchema::Distinguisher::kNone) {
    object->Edit("spec", "distinguisherMethod", "type") =
        schema.distinguisher == FlowSchema::Distinguisher::kByUser ? "ByUser" : "ByNamespace";
  }
  ListBuilder rules(object->arena());
  for (const PolicyRulesWithSubjects& rule : schema.rules) {
    rules.Add(ValueOf(rule, object->arena()));
  }
  object->Edit("spec", "rules") = rules.Build();
  return object;
}

}  // namespace apiserver::v0::groups::flowcontrol
