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

namespace apiserver::v0::patch {
namespace {

using runtime::Value;
using Node = Document::Node;
using Place = Document::Place;

// One operation. Absent members read as empty.
struct Operation {
  Value fields;

  bool Has(std::string_view name) const { return fields[name].is_string(); }
  std::string_view Text(std::string_view name) const { return fields[name].AsString(); }
  Value value() const { return fields["value"]; }
};

Status Wrong(std::string why) { return {Reason::kInvalid, std::move(why)}; }
Status Missing(const std::string& why) { return Wrong(why + ": missing value"); }
std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Applies operations in turn. Errors are in json-patch's words.
class Patcher {
 public:
  Patcher(Value document, runtime::Arena& arena, const JsonPatchLimits& limits)
      : document_(document, arena), limits_(limits) {}

  Status Apply(const Operation& operation) {
    const std::string_view op = operation.Text("op");
    // Each insertion into a list moves the items behind it, so a short patch could cost quadratic
    // time.
    if (document_.exhausted()) return Wrong("the operations move too many items of lists");
    if (op == "add") return Add(operation);
    if (op == "remove") return Remove(operation);
    if (op == "replace") return Replace(operation);
    if (op == "test") return Test(operation);
    if (op == "move") return Move(operation);
    if (op == "copy") return Copy(operation);
    return Wrong("Unexpected kind: " + std::string(operation.Has("op") ? op : "unknown"));
  }

  Result<Value> Whole() {
    const std::optional<Value> whole = document_.Whole();
    if (!whole) return Wrong("the patched document is nested more deeply than JSON may be");
    return *whole;
  }

 private:
  Status Add(const Operation& operation) {
    if (!operation.Has("path")) return Missing("add operation failed to decode path");
    const std::string path(operation.Text("path"));
    const Place place = document_.Find(path);
    if (place.container == nullptr) {
      return Missing("add operation does not apply: doc is missing path: \"" + path + "\"");
    }
    if (document_.Add(place, document_.NewNode(operation.value()))) return {};
    return Wrong("error in add for path: " + Quoted(path) + ": " + NotAdded(place));
  }

  Status Remove(const Operation& operation) {
    if (!operation.Has("path")) return Missing("remove operation failed to decode path");
    const std::string path(operation.Text("path"));
    const Place place = document_.Find(path);
    if (place.container == nullptr) {
      return Missing("remove operation does not apply: doc is missing path: \"" + path + "\"");
    }
    if (document_.Remove(place)) return {};
    return Wrong("error in remove for path: " + Quoted(path) + ": " + Document::NotThere(place));
  }

  // An absent member is added: only a list's index must exist.
  Status Replace(const Operation& operation) {
    if (!operation.Has("path")) return NoPath("replace");
    const std::string path(operation.Text("path"));
    const Value value = operation.value();
    if (path.empty()) {
      if (!value.is_map() && !value.is_list()) {
        return Wrong("replace operation value must be object or array");
      }
      document_.SetRoot(document_.NewNode(value));
      return {};
    }
    const Place place = document_.Find(path);
    if (place.container == nullptr) {
      return Missing("replace operation does not apply: doc is missing path: " + path);
    }
    if (document_.Set(place, document_.NewNode(value))) return {};
    return Missing("replace operation does not apply: doc is missing key: " + path);
  }

  Status Test(const Operation& operation) {
    if (!operation.Has("path")) return NoPath("test");
    const std::string path(operation.Text("path"));
    const Value value = operation.value();
    const Status failed = Wrong("testing value " + path + " failed: test failed");
    if (path.empty()) return document_.Equal(document_.root(), value) ? Status() : failed;
    const Place place = document_.Find(path);
    if (place.container == nullptr) {
      return Missing("test operation does not apply: is missing path: " + path);
    }
    const std::optional<Node*> node = document_.Get(place);
    if (!node) {
      return Wrong("error in test for path: " + Quoted(path) + ": " + Document::NotThere(place));
    }
    // A missing value is as good as null.
    const bool equal = *node == nullptr ? value.is_null() : document_.Equal(*node, value);
    return equal ? Status() : failed;
  }

  Status Move(const Operation& operation) {
    if (!operation.Has("from")) return NoFrom("move");
    const std::string path(operation.Text("path"));
    const Place from = document_.Find(operation.Text("from"));
    if (from.container == nullptr) {
      return Missing("move operation does not apply: doc is missing from path: " +
                     std::string(operation.Text("from")));
    }
    const std::optional<Node*> node = document_.Get(from);
    if (!node || *node == nullptr || !document_.Remove(from)) {
      return Wrong("error in move for path: " + Quoted(from.key) + ": " + Document::NotThere(from));
    }
    if (!operation.Has("path")) return NoPath("move");
    const Place to = document_.Find(path);
    if (to.container == nullptr) {
      return Missing("move operation does not apply: doc is missing destination path: " + path);
    }
    // A new node: the old one marks the place that it left.
    Node* moved = document_.NewNode((*node)->value);
    moved->open = (*node)->open;
    if (document_.Add(to, moved)) return {};
    return Wrong("error in move for path: " + Quoted(path) + ": " + NotAdded(to));
  }

  Status Copy(const Operation& operation) {
    if (!operation.Has("from")) return NoFrom("copy");
    const std::string source(operation.Text("from"));
    const std::string path(operation.Text("path"));
    const Place from = document_.Find(source);
    if (from.container == nullptr) {
      return Missing("copy operation does not apply: doc is missing from path: " + source);
    }
    const std::optional<Node*> node = document_.Get(from);
    if (!node) {
      return Wrong("error in copy for from: " + Quoted(source) + ": " + Document::NotThere(from));
    }
    if (!operation.Has("path")) return Missing("copy operation failed to decode path");
    const Place to = document_.Find(path);
    if (to.container == nullptr) {
      return Missing("copy operation does not apply: doc is missing destination path: " + path);
    }
    ASSIGN_OR_RETURN(const Value value, CopyOf(*node));
    if (document_.Add(to, document_.NewNode(value))) return {};
    return Wrong("error while adding value during copy: " + NotAdded(to));
  }

  // Null for no node.
  Result<Value> CopyOf(const Node* node) {
    if (node == nullptr) return Value();
    const std::optional<Value> whole = document_.ToValue(node);
    if (!whole) return Wrong("error while performing deep copy: it is nested too deeply");
    std::string json;
    codec::AppendJson(*whole, json);
    // A copy may contain earlier copies: without a limit the size would double with each operation.
    copied_ += json.size();
    if (limits_.copy_bytes_max == 0 || copied_ <= limits_.copy_bytes_max) return *whole;
    return Wrong("Unable to complete the copy, the accumulated size increase of copy is " +
                 std::to_string(copied_) + ", exceeding the limit " +
                 std::to_string(limits_.copy_bytes_max));
  }

  static std::string NotAdded(const Place& place) {
    std::string why = Document::NotThere(place);
    if (!why.starts_with("strconv.")) return why;
    return "value was not a proper array index: " + Quoted(place.key) + ": " + why;
  }
  static Status NoPath(const std::string& op) {
    return Missing(op + " operation failed to decode path: operation missing path field");
  }
  static Status NoFrom(const std::string& op) {
    return Missing(op + " operation failed to decode from: operation, missing from field");
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

}  // namespace

std::vector<std::string> JsonPatchStrictErrors(std::string_view patch) {
  constexpr std::array<std::string_view, 4> kKnown = {"op", "path", "from", "value"};
  constexpr std::size_t kReportedMax = 100;  // As many as Go's decoder reports.
  runtime::Arena arena;
  std::vector<std::string> duplicates;
  std::vector<std::string> errors;
  const Result<Value> operations = codec::ParseJson(patch, arena, &duplicates);
  // An unreadable patch is refused when it is applied.
  if (!operations.ok()) return {};
  std::size_t index = 0;
  auto duplicate = duplicates.begin();
  for (const Value& operation : operations->items()) {
    const std::string prefix = "[" + std::to_string(index++) + "].";
    for (; duplicate != duplicates.end() && duplicate->starts_with(prefix); ++duplicate) {
      errors.push_back("json patch duplicate field " + field::QuoteShort(*duplicate));
    }
    for (const runtime::Member& member : operation.members()) {
      if (std::find(kKnown.begin(), kKnown.end(), member.key) != kKnown.end()) continue;
      errors.push_back("json patch unknown field " +
                       field::QuoteShort(prefix + field::Shorten(member.key)));
    }
    if (errors.size() >= kReportedMax) break;
  }
  if (errors.size() > kReportedMax) errors.resize(kReportedMax);
  return errors;
}

Result<Value> ApplyJsonPatch(Value document, std::string_view patch, runtime::Arena& arena,
                             const JsonPatchLimits& limits) {
  Result<Value> patched = ApplyJsonPatchExplained(document, patch, arena, limits);
  // As upstream, a 422 response does not repeat json-patch's message.
  if (patched.status().reason() == Reason::kInvalid) {
    return meta::NewGenericServerResponse(422, "", {}, "");
  }
  return patched;
}

Result<Value> ApplyJsonPatchExplained(Value document, std::string_view patch, runtime::Arena& arena,
                                      const JsonPatchLimits& limits) {
  ASSIGN_OR_RETURN(const Value operations, ParsePatch(patch, arena));
  if (operations.size() > limits.operations_max) {
    return meta::NewRequestEntityTooLarge("The allowed maximum operations in a JSON patch is " +
                                          std::to_string(limits.operations_max) + ", got " +
                                          std::to_string(operations.size()));
  }
  Patcher patcher(document, arena, limits);
  for (const Value& operation : operations.items()) {
    RETURN_IF_ERROR(patcher.Apply({operation}));
  }
  return patcher.Whole();
}

}  // namespace apiserver::v0::patch
