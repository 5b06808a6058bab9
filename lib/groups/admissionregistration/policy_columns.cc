#include <string>
#include <string_view>
#include <vector>

#include "groups/admissionregistration/policy_kinds.h"
#include "groups/admissionregistration/policy_strategy.h"
#include "registry/human_duration.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using runtime::Value;

std::string ParamKindOf(const Value& spec) {
  const Value kind = spec["paramKind"];
  if (kind.is_null()) return "<unset>";
  return std::string(kind["apiVersion"].AsString()) + "/" + std::string(kind["kind"].AsString());
}

// Prints as Go's generated LabelSelector.String().
std::string PrintedSelector(const Value& selector) {
  std::string text = "&LabelSelector{MatchLabels:map[string]string{";
  for (const runtime::Member& label : selector["matchLabels"].members()) {
    text += std::string(label.key) + ": " + std::string(label.value.AsString()) + ",";
  }
  text += "},MatchExpressions:[]LabelSelectorRequirement{";
  for (const Value& requirement : selector["matchExpressions"].items()) {
    text += "LabelSelectorRequirement{Key:" + std::string(requirement["key"].AsString()) +
            ",Operator:" + std::string(requirement["operator"].AsString()) + ",Values:[";
    std::string values;
    for (const Value& value : requirement["values"].items()) {
      values += (values.empty() ? "" : " ") + std::string(value.AsString());
    }
    text += values + "],},";
  }
  return text + "},}";
}

std::string ParamRefOf(const Value& spec) {
  const Value ref = spec["paramRef"];
  if (ref.is_null()) return "<unset>";
  const std::string name(ref["name"].AsString());
  if (name.empty()) {
    return ref["selector"].is_null() ? "<unset>" : PrintedSelector(ref["selector"]);
  }
  const std::string_view ns = ref["namespace"].AsString();
  // The kind of the parameters is not known here, so they may be in any namespace.
  return (ns.empty() ? "*" : std::string(ns)) + "/" + name;
}

// Follows pkg/printers/internalversion: printValidatingAdmissionPolicy and its neighbours.
class PolicyColumns final : public rest::TableConvertor {
 public:
  PolicyColumns(runtime::KindPtr kind, const Clock& clock)
      : kind_(std::move(kind)), clock_(clock) {}

  Result<meta::Table> ConvertToTable(const Context& /*ctx*/,
                                     const std::vector<runtime::ObjectPtr>& items,
                                     const meta::TableOptions& options) const override {
    meta::Table table;
    if (!options.no_headers) table.columns = Columns();
    for (const runtime::ObjectPtr& item : items) {
      const auto text = [&table](std::string_view cell) {
        return Value::String(table.arena.Copy(cell));
      };
      const Value spec = (*item)["spec"];
      meta::TableRow row;
      row.cells.push_back(text(item->name()));
      if (IsBinding(*kind_)) {
        row.cells.push_back(text(spec["policyName"].AsString()));
        row.cells.push_back(text(ParamRefOf(spec)));
      } else {
        const Value list = spec[IsMutating(*kind_) ? "mutations" : "validations"];
        row.cells.push_back(Value::Int(static_cast<std::int64_t>(list.size())));
        row.cells.push_back(text(ParamKindOf(spec)));
      }
      row.cells.push_back(text(registry::AgeOf(*item, clock_)));
      row.object = item;
      table.rows.push_back(std::move(row));
    }
    return table;
  }

 private:
  std::vector<meta::TableColumnDefinition> Columns() const {
    const meta::TableColumnDefinition name{"Name", "string", "name", "The object's name.", 0};
    const meta::TableColumnDefinition age{"Age", "string", "", "How long ago it was created.", 0};
    if (IsBinding(*kind_)) {
      return {name,
              {"PolicyName", "string", "", "The policy that it puts into effect.", 0},
              {"ParamRef", "string", "", "The parameters of the policy.", 0},
              age};
    }
    const meta::TableColumnDefinition kind{"ParamKind", "string", "", "The kind of its parameters.",
                                           0};
    if (IsMutating(*kind_)) {
      return {name, {"Mutations", "integer", "", "How many mutations it has.", 0}, kind, age};
    }
    return {name, {"Validations", "integer", "", "How many validations it has.", 0}, kind, age};
  }

  const runtime::KindPtr kind_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<const rest::TableConvertor> NewPolicyColumns(const runtime::KindPtr& kind,
                                                             const Clock& clock) {
  return std::make_shared<PolicyColumns>(kind, clock);
}

}  // namespace apiserver::v0::groups::admissionregistration
