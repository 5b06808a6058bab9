#include "registry/scale_view.h"

#include <algorithm>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/meta/selector.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "registry/json_path.h"
#include "runtime/scalar.h"

namespace apiserver::v0::registry {
namespace {

using runtime::Value;
using Path = std::vector<std::string>;

Result<Path> SplitPath(std::string_view what, std::string_view text) {
  std::string_view rest = text.substr(text.starts_with('.') ? 1 : 0);
  Path path;
  for (;;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    path.emplace_back(rest.substr(0, dot));
    if (path.back().empty() || path.back().find_first_of("[]") != std::string::npos) {
      return Status(Reason::kInvalid, "registry scale store: " + std::string(what) + " \"" +
                                          std::string(text) + "\" is no path of member names");
    }
    if (dot == rest.size()) return path;
    rest.remove_prefix(dot + 1);
  }
}

// The words of unstructured.NestedFieldNoCopy, which clients see for custom resources.
Status AccessorError(const Path& path, std::size_t parts, const Value& found,
                     std::string_view expected) {
  std::string text;
  for (std::size_t i = 0; i < parts; ++i) text.append(".").append(path[i]);
  text.append(" accessor error: ").append(TextOf(found)).append(" is of the type ");
  text.append(runtime::GoTypeOf(found)).append(", expected ").append(expected);
  return {Reason::kUnknown, std::move(text)};
}

// Null where it, or something on the way to it, is not there.
Result<Value> Nested(const runtime::Object& object, const Path& path) {
  Value value = object.root();
  for (std::size_t i = 0; i < path.size() && !value.is_null(); ++i) {
    if (!value.is_map()) return AccessorError(path, i + 1, value, "map[string]interface{}");
    value = value[path[i]];
  }
  return value;
}

Result<std::optional<std::int64_t>> NestedInt(const runtime::Object& object, const Path& path) {
  ASSIGN_OR_RETURN(const Value value, Nested(object, path));
  if (value.is_null()) return std::optional<std::int64_t>();
  if (value.type() != Value::Type::kInt) {
    return AccessorError(path, path.size(), value, "int64");
  }
  return std::optional<std::int64_t>(value.AsInt());
}

// Truncates as Go's int32(x) does.
Value Int32(std::optional<std::int64_t> number) {
  return Value::Int(static_cast<std::int32_t>(number.value_or(0)));
}

// Collects requirements in the form that LabelSelector::Parse reads.
class SelectorWriter {
 public:
  Status Add(std::string_view key, std::string_view op, const std::vector<std::string>& values) {
    RETURN_IF_ERROR(Check("key", key, meta::IsQualifiedName(key)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::string path = "values[" + std::to_string(i) + "][";
      path.append(key).append("]");
      RETURN_IF_ERROR(Check(path, values[i], meta::IsValidLabelValue(values[i])));
    }
    if (!text_.empty()) text_ += ",";
    if (op == "DoesNotExist") text_ += "!";
    text_ += key;
    if (op == "=") text_ += "=" + values.front();
    if (op == "In" || op == "NotIn") text_ += op == "In" ? " in " : " notin ";
    if (op == "In" || op == "NotIn") AddValues(values);
    return {};
  }
  const std::string& text() const { return text_; }

 private:
  static Status Check(std::string_view path, std::string_view value,
                      const meta::Complaints& complaints) {
    if (complaints.empty()) return {};
    std::string why(path);
    why.append(": Invalid value: ").append(field::Quote(value)).append(": ");
    for (std::size_t i = 0; i < complaints.size(); ++i) {
      why.append(i > 0 ? "; " : "").append(complaints[i]);
    }
    return meta::NewBadRequest(std::move(why));
  }
  void AddValues(const std::vector<std::string>& values) {
    text_ += "(";
    for (std::size_t i = 0; i < values.size(); ++i)
      text_.append(i > 0 ? "," : "").append(values[i]);
    text_ += ")";
  }

  std::string text_;
};

Status AddExpression(const Value& expression, SelectorWriter& writer) {
  const std::string_view op = expression["operator"].AsString();
  std::vector<std::string> values;
  for (const Value& value : expression["values"].items()) values.emplace_back(value.AsString());
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      return meta::NewBadRequest(
          "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      return meta::NewBadRequest("values: Invalid value: " + TextOf(expression["values"]) +
                                 ": values set must be empty for exists and does not exist");
    }
  } else {
    return meta::NewBadRequest(field::Quote(op) + " is not a valid label selector operator");
  }
  return writer.Add(expression["key"].AsString(), op, values);
}

}  // namespace

// Follows metav1.LabelSelectorAsSelector, including its errors, and prints the result.
Result<std::string> LabelSelectorText(Value selector) {
  SelectorWriter writer;
  for (const runtime::Member& label : selector["matchLabels"].members()) {
    RETURN_IF_ERROR(writer.Add(label.key, "=", {std::string(label.value.AsString())}));
  }
  for (const Value& expression : selector["matchExpressions"].items()) {
    RETURN_IF_ERROR(AddExpression(expression, writer));
  }
  // Parsed for its order: by key.
  ASSIGN_OR_RETURN(const meta::LabelSelector parsed, meta::LabelSelector::Parse(writer.text()));
  return parsed.ToString();
}

Result<ScaleView> ScaleView::New(const ScaleOptions& options) {
  ScaleView view;
  ASSIGN_OR_RETURN(view.spec_replicas_,
                   SplitPath("spec_replicas_path", options.spec_replicas_path));
  for (const auto& [version, path] : options.spec_replicas_path_in) {
    ASSIGN_OR_RETURN(view.spec_replicas_in_[version], SplitPath("spec_replicas_path_in", path));
  }
  ASSIGN_OR_RETURN(view.status_replicas_,
                   SplitPath("status_replicas_path", options.status_replicas_path));
  if (!options.label_selector_path.empty()) {
    ASSIGN_OR_RETURN(view.label_selector_,
                     SplitPath("label_selector_path", options.label_selector_path));
  }
  return view;
}

Result<std::optional<std::int64_t>> ScaleView::SpecReplicas(const runtime::Object& object) const {
  return NestedInt(object, spec_replicas_);
}

void ScaleView::SetSpecReplicas(runtime::Object& object, std::int64_t replicas) const {
  object.SetPath(spec_replicas_, Value::Int(replicas));
}

// Each version may have the replicas at another path, and managedFields name their version.
patch::apply::ResourcePathMappings ScaleView::Mappings(const runtime::Kind& kind) const {
  patch::apply::ResourcePathMappings mappings;
  for (const runtime::KindVersion& version : kind.versions()) {
    const auto other = spec_replicas_in_.find(version.version);
    patch::apply::Path& path = mappings[kind.gvk(version.version).group_version().ToString()];
    for (const std::string& name :
         other == spec_replicas_in_.end() ? spec_replicas_ : other->second) {
      path.push_back(patch::apply::PathElement::FieldName(name));
    }
  }
  return mappings;
}

// Follows scaleFromCustomResource of the Go apiextensions server.
Result<std::unique_ptr<runtime::Object>> ScaleView::ScaleOf(const runtime::KindPtr& scale_kind,
                                                            const runtime::Object& object) const {
  ASSIGN_OR_RETURN(const auto wanted, NestedInt(object, spec_replicas_));
  ASSIGN_OR_RETURN(const auto found, NestedInt(object, status_replicas_));
  std::string selector;
  if (!label_selector_.empty()) {
    ASSIGN_OR_RETURN(const Value value, Nested(object, label_selector_));
    if (value.is_map()) {
      ASSIGN_OR_RETURN(selector, LabelSelectorText(value));
    } else if (value.is_string() || value.is_null()) {
      selector = value.AsString();
    } else {
      return AccessorError(label_selector_, label_selector_.size(), value, "string");
    }
  }

  runtime::Arena arena;
  runtime::MapBuilder metadata(arena);
  for (const std::string_view field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    const Value value = object.metadata()[field];
    if (!value.is_null()) metadata.Add(field, runtime::Copy(value, arena));
  }
  runtime::MapBuilder spec(arena);
  // Omitted when zero, as spec.replicas of autoscaling/v1; status.replicas is always written.
  if (Int32(wanted).AsInt() != 0) spec.Add("replicas", Int32(wanted));
  runtime::MapBuilder status(arena);
  status.Add("replicas", Int32(found));
  if (!selector.empty()) status.Add("selector", Value::String(arena.Copy(selector)));
  runtime::MapBuilder root(arena);
  root.Add("metadata", metadata.Build());
  root.Add("spec", spec.Build());
  root.Add("status", status.Build());
  const Value content = root.Build();
  return std::make_unique<runtime::Object>(scale_kind, "v1", std::move(arena), content);
}

}  // namespace apiserver::v0::registry
