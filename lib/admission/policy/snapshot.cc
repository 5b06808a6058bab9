#include "admission/policy/snapshot.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "apiserver/meta/label_selector_value.h"

namespace apiserver::v0::admission::policy {

namespace {

using runtime::Value;

constexpr std::uint8_t kAllOperations = 0xFF;

std::uint8_t BitOf(Operation operation) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(operation));
}

std::uint8_t BitsOf(const std::vector<std::string>& operations) {
  std::uint8_t bits = 0;
  for (const std::string& name : operations) {
    if (name == "*") return kAllOperations;
    for (const Operation operation :
         {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect}) {
      if (name == OperationName(operation)) bits |= BitOf(operation);
    }
  }
  return bits;
}

// Returns a number that all labels of this key and value have, but no more than a few others.
std::uint32_t MarkOf(std::string_view key, std::string_view value) {
  constexpr std::size_t kFactor = 0x9E37'79B9'7F4A'7C15;
  const std::hash<std::string_view> hash;
  const std::size_t both = hash(key) * kFactor ^ hash(value);
  return static_cast<std::uint32_t>(both >> 32U) | 1U;
}

// Returns the mark of a label that `selector` asks for. 0: it asks for no single one.
std::uint32_t MarkOf(const Result<meta::LabelSelector>& selector) {
  using Operator = meta::LabelSelector::Operator;
  // A selector that cannot be read is an error of the hook.
  if (!selector.ok()) return 0;
  for (const meta::LabelSelector::Requirement& requirement : selector->requirements()) {
    const bool equal = requirement.op == Operator::kEquals || requirement.op == Operator::kIn;
    if (equal && requirement.values.size() == 1) {
      return MarkOf(requirement.key, requirement.values.front());
    }
  }
  return 0;
}

// Returns the marks, ascending, of the labels that either state of the object has.
std::vector<std::uint32_t> MarksOf(const Attributes& attributes) {
  std::vector<std::uint32_t> marks;
  for (const runtime::Object* object : {attributes.object, attributes.old_object}) {
    if (object == nullptr) continue;
    for (const runtime::Member& label : object->labels().members()) {
      marks.push_back(MarkOf(label.key, label.value.AsString()));
    }
  }
  std::ranges::sort(marks);
  return marks;
}

// Returns "pods" of "pods/status".
std::string_view WithoutSubresource(std::string_view resource) {
  return resource.substr(0, resource.find('/'));
}

std::shared_ptr<const ParamRef> ParamRefOf(const Value& ref) {
  if (ref.is_null()) return nullptr;
  ParamRef made{.name = std::string(ref["name"].AsString()),
                .namespace_ = std::string(ref["namespace"].AsString()),
                .deny_if_not_found = ref["parameterNotFoundAction"].AsString() == "Deny"};
  if (const Value selector = ref["selector"]; !selector.is_null()) {
    made.selector = meta::LabelSelectorAsSelector(selector);
  }
  return std::make_shared<const ParamRef>(std::move(made));
}

}  // namespace

BindingPtr BindingOf(const runtime::Object& object) {
  const Value spec = object["spec"];
  auto binding = std::make_shared<Binding>();
  binding->name = object.name();
  binding->policy = spec["policyName"].AsString();
  binding->param_ref = ParamRefOf(spec["paramRef"]);
  if (const Value match = spec["matchResources"]; !match.is_null()) {
    binding->match =
        std::make_shared<const MatchResources>(MatchResourcesOf(match, /*required=*/false));
  }
  for (const Value& action : spec["validationActions"].items()) {
    binding->actions.emplace_back(action.AsString());
  }
  return binding;
}

PolicyPtr PolicyOf(const runtime::Object& object, const PolicyCompiler& compiler) {
  const Value spec = object["spec"];
  auto policy = std::make_shared<Policy>();
  policy->name = object.name();
  policy->match = MatchResourcesOf(spec["matchConstraints"], /*required=*/true);
  policy->fail_open = spec["failurePolicy"].AsString() == "Ignore";
  policy->reinvoke_if_needed = spec["reinvocationPolicy"].AsString() == "IfNeeded";
  if (const Value kind = spec["paramKind"]; !kind.is_null()) {
    policy->param_kind = ParamKind{.api_version = std::string(kind["apiVersion"].AsString()),
                                   .kind = std::string(kind["kind"].AsString())};
  }
  if (compiler.validating) policy->validator = compiler.validating(object);
  if (compiler.mutating) policy->mutator = compiler.mutating(object);
  return policy;
}

Snapshot::Snapshot(std::vector<Hook> hooks) : hooks_(std::move(hooks)) {
  std::ranges::sort(hooks_, {}, [](const Hook& hook) { return hook.policy->name; });
  for (std::uint32_t i = 0; i < hooks_.size(); ++i) Index(i);
}

void Snapshot::Index(std::uint32_t hook) {
  const MatchResources& match = hooks_[hook].policy->match;
  // Such a hook is misconfigured, or matches everything: it decides itself.
  if (!match.incomplete.empty() || match.resource_rules.empty()) {
    wildcards_.push_back({.hook = hook, .operations = kAllOperations});
    return;
  }
  const std::uint32_t label = MarkOf(match.object_selector);
  for (const NamedRule& named : match.resource_rules) {
    const RuleWithOperations& rule = named.rule;
    const Entry entry{hook, label, BitsOf(rule.operations)};
    for (const std::string& group : rule.api_groups) {
      for (const std::string& resource : rule.resources) {
        const std::string_view plain = WithoutSubresource(resource);
        auto& entries =
            group == "*" || plain == "*" ? wildcards_ : by_resource_[{group, std::string(plain)}];
        entries.push_back(entry);
      }
    }
  }
}

std::vector<std::uint32_t> Snapshot::Candidates(const Attributes& attributes) const {
  return Find(attributes, nullptr);
}

std::vector<std::uint32_t> Snapshot::CandidatesByLabels(const Attributes& attributes) const {
  const std::vector<std::uint32_t> labels = MarksOf(attributes);
  return Find(attributes, &labels);
}

std::vector<std::uint32_t> Snapshot::Find(const Attributes& attributes,
                                          const std::vector<std::uint32_t>* labels) const {
  std::vector<std::uint32_t> found;
  const std::uint8_t bit = BitOf(attributes.operation);
  const auto may_have = [labels](std::uint32_t label) {
    return label == 0 || labels == nullptr || std::ranges::binary_search(*labels, label);
  };
  const auto take = [&](const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      if ((entry.operations & bit) != 0 && may_have(entry.label)) found.push_back(entry.hook);
    }
  };
  take(wildcards_);
  // Equivalents are other versions of the same group and resource, so that one look-up is enough.
  const auto at = by_resource_.find({attributes.resource.group, attributes.resource.resource});
  if (at != by_resource_.end()) take(at->second);
  // Each list is in order.
  if (!std::ranges::is_sorted(found)) std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace apiserver::v0::admission::policy
