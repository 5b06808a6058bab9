#include "apiserver/patch/json_patch.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"

#include "base/status_macros.h"
#include "patch/document.h"

namespace apiserver::inline v0::patch {
namespace {

using runtime::Value;
using Node = Document::Node;
using Place = Document::Place;

// One operation. What it does not have reads as empty.
struct Operation {
  Value fields;

  bool Has(std::string_view name) const { return fields[name].is_string(); }
  std::string_view Text(std::string_view name) const { return fields[name].AsString(); }
  Value value() const { return fields["value"]; }
};

// Applies operations in turn. Each returns false when it does not apply: the client is not told
// which, just as by a Go server.
class Patcher {
 public:
  Patcher(Value document, runtime::Arena& arena, const JsonPatchLimits& limits)
      : document_(document, arena), limits_(limits) {}

  bool Apply(const Operation& operation) {
    const std::string_view op = operation.Text("op");
    if (!operation.Has("path") || document_.exhausted()) return false;
    if (op == "add") return Add(operation.Text("path"), document_.NewNode(operation.value()));
    if (op == "remove") return Remove(operation.Text("path"));
    if (op == "replace") return Replace(operation);
    if (op == "test") return Test(operation);
    if (!operation.Has("from")) return false;
    if (op == "move") return Move(operation);
    return op == "copy" && Copy(operation);
  }

  std::optional<Value> Result() { return document_.Whole(); }

 private:
  bool Add(std::string_view path, Node* node) {
    const Place place = document_.Find(path);
    return place.container != nullptr && document_.Add(place, node);
  }

  bool Remove(std::string_view path) {
    const Place place = document_.Find(path);
    return place.container != nullptr && document_.Remove(place);
  }

  // A member that is not there is added: only a list's index must exist.
  bool Replace(const Operation& operation) {
    const Value value = operation.value();
    if (operation.Text("path").empty()) {
      if (!value.is_map() && !value.is_list()) return false;
      document_.SetRoot(document_.NewNode(value));
      return true;
    }
    const Place place = document_.Find(operation.Text("path"));
    return place.container != nullptr && document_.Set(place, document_.NewNode(value));
  }

  bool Test(const Operation& operation) {
    if (operation.Text("path").empty()) return document_.Equal(document_.root(), operation.value());
    const Place place = document_.Find(operation.Text("path"));
    if (place.container == nullptr) return false;
    const std::optional<Node*> node = document_.Get(place);
    if (!node) return false;
    // What is missing is as good as null.
    return *node == nullptr ? operation.value().is_null()
                            : document_.Equal(*node, operation.value());
  }

  bool Move(const Operation& operation) {
    const Place from = document_.Find(operation.Text("from"));
    if (from.container == nullptr) return false;
    const std::optional<Node*> node = document_.Get(from);
    if (!node || *node == nullptr || !document_.Remove(from)) return false;
    // A node of its own: the old one marks the place that was left.
    Node* moved = document_.NewNode((*node)->value);
    moved->open = (*node)->open;
    return Add(operation.Text("path"), moved);
  }

  bool Copy(const Operation& operation) {
    const Place from = document_.Find(operation.Text("from"));
    if (from.container == nullptr) return false;
    const std::optional<Node*> node = document_.Get(from);
    if (!node) return false;
    Value value;
    if (*node != nullptr) {
      const std::optional<Value> whole = document_.ToValue(*node);
      if (!whole) return false;
      value = *whole;
      std::string json;
      codec::AppendJson(value, json);
      copied_ += json.size();
      if (limits_.copy_bytes_max > 0 && copied_ > limits_.copy_bytes_max) return false;
    }
    return Add(operation.Text("path"), document_.NewNode(value));
  }

  Document document_;
  const JsonPatchLimits& limits_;
  std::size_t copied_ = 0;
};

std::string_view JsonTypeWord(const Value& value) {
  constexpr std::array<std::string_view, 7> kWords = {"null",   "bool",  "number", "number",
                                                      "string", "array", "object"};
  const auto type = static_cast<std::size_t>(value.type());
  return type < kWords.size() ? kWords[type] : "string";
}

Status Malformed(std::string_view what) {
  return meta::NewBadRequest("error decoding patch: " + std::string(what));
}

Status Misfit(const Value& value, std::string_view into) {
  return Malformed("json: cannot unmarshal " + std::string(JsonTypeWord(value)) + " into Go " +
                   std::string(into));
}

Status CheckOperation(const Value& operation) {
  if (operation.is_null()) return {};
  if (!operation.is_map()) return Misfit(operation, "value of type handlers.jsonPatchOp");
  for (const std::string_view name : {"op", "path", "from"}) {
    const Value text = operation[name];
    if (text.is_null() || text.is_string()) continue;
    return Misfit(text, "struct field jsonPatchOp." + std::string(name) + " of type string");
  }
  return {};
}

Result<Value> ParsePatch(std::string_view patch, runtime::Arena& arena) {
  Result<Value> operations = codec::ParseJson(patch, arena);
  if (!operations.ok()) return Malformed(operations.status().message());
  if (operations->is_null()) return Value::List({});
  if (!operations->is_list()) return Misfit(*operations, "value of type []handlers.jsonPatchOp");
  for (const Value& operation : operations->items()) RETURN_IF_ERROR(CheckOperation(operation));
  return operations;
}

Status DoesNotApply() { return meta::NewGenericServerResponse(422, "", {}, ""); }

}  // namespace

std::vector<std::string> JsonPatchStrictErrors(std::string_view patch) {
  constexpr std::array<std::string_view, 4> kKnown = {"op", "path", "from", "value"};
  constexpr std::size_t kReportedMax = 100;  // As many as Go's decoder reports.
  runtime::Arena arena;
  std::vector<std::string> duplicates;
  std::vector<std::string> errors;
  const Result<Value> operations = codec::ParseJson(patch, arena, &duplicates);
  if (!operations.ok()) return {};
  std::size_t index = 0;
  auto duplicate = duplicates.begin();
  for (const Value& operation : operations->items()) {
    const std::string prefix = "[" + std::to_string(index++) + "].";
    for (; duplicate != duplicates.end() && duplicate->starts_with(prefix); ++duplicate) {
      errors.push_back("json patch duplicate field " + field::Quote(*duplicate));
    }
    for (const runtime::Member& member : operation.members()) {
      if (std::find(kKnown.begin(), kKnown.end(), member.key) != kKnown.end()) continue;
      errors.push_back("json patch unknown field " +
                       field::Quote(prefix + std::string(member.key)));
    }
    if (errors.size() >= kReportedMax) break;
  }
  if (errors.size() > kReportedMax) errors.resize(kReportedMax);
  return errors;
}

Result<Value> ApplyJsonPatch(Value document, std::string_view patch, runtime::Arena& arena,
                             const JsonPatchLimits& limits) {
  ASSIGN_OR_RETURN(const Value operations, ParsePatch(patch, arena));
  if (operations.size() > limits.operations_max) {
    return meta::NewRequestEntityTooLarge("The allowed maximum operations in a JSON patch is " +
                                          std::to_string(limits.operations_max) + ", got " +
                                          std::to_string(operations.size()));
  }
  Patcher patcher(document, arena, limits);
  for (const Value& operation : operations.items()) {
    if (!patcher.Apply({operation})) return DoesNotApply();
  }
  const std::optional<Value> patched = patcher.Result();
  if (!patched) return DoesNotApply();
  return *patched;
}

}  // namespace apiserver::inline v0::patch
