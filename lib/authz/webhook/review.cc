#include "authz/webhook/review.h"

#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/meta/selector.h"
#include "base/status_macros.h"

namespace apiserver::v0::authz {
namespace {

using runtime::Value;

constexpr std::string_view kReviewGroup = "authorization.k8s.io/";
constexpr std::string_view kReviewKind = "SubjectAccessReview";

// Writes an object without its empty members.
// A destructor ends the object, so that nested objects need no further call. Members are written in
// the order of their calls, which makes equal reviews equal texts: the text is the key of the
// cache.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  std::string& Key(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    codec::AppendJsonString(key, out_);
    out_ += ':';
    return out_;
  }
  void Text(std::string_view key, std::string_view text) {
    if (!text.empty()) codec::AppendJsonString(text, Key(key));
  }
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    if (!texts.empty()) AppendTexts(texts, Key(key));
  }
  static void AppendTexts(const std::vector<std::string>& texts, std::string& out) {
    out += '[';
    for (const auto& text : texts) {
      if (out.back() != '[') out += ',';
      codec::AppendJsonString(text, out);
    }
    out += ']';
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void AddRequirements(JsonObject& attributes, std::string_view key,
                     const std::vector<ReviewRequirement>& requirements) {
  if (requirements.empty()) return;
  std::string& out = attributes.Key(key);
  JsonObject selector(out);
  selector.Key("requirements") += '[';
  for (const auto& each : requirements) {
    if (out.back() != '[') out += ',';
    JsonObject requirement(out);
    codec::AppendJsonString(each.key, requirement.Key("key"));
    codec::AppendJsonString(each.op, requirement.Key("operator"));
    requirement.Texts("values", each.values);
  }
  out += ']';
}

void AddResource(JsonObject& spec, const auth::Attributes& asked) {
  JsonObject resource(spec.Key("resourceAttributes"));
  resource.Text("namespace", asked.namespace_);
  resource.Text("verb", asked.verb);
  resource.Text("group", asked.group);
  resource.Text("version", asked.version);
  resource.Text("resource", asked.resource);
  resource.Text("subresource", asked.subresource);
  resource.Text("name", asked.name);
  if (!asked.field_selector.empty()) {
    AddRequirements(resource, "fieldSelector", FieldRequirements(asked.field_selector));
  }
  if (!asked.label_selector.empty()) {
    AddRequirements(resource, "labelSelector", LabelRequirements(asked.label_selector));
  }
}

Status BadReview(const std::string& what) {
  return Status(Reason::kInternalError, "the authorization webhook answered " + what);
}

// Absent and null are false; a value of another type is an error.
Result<bool> Flag(Value status, const char* name) {
  const Value value = status[name];
  if (value.is_null() || value.type() == Value::Type::kBool) return value.AsBool();
  return BadReview(std::string("with a status.") + name + " that is no bool");
}

}  // namespace

// Follows fieldSelectorToAuthorizationAPI of the Go plugin webhook.
std::vector<ReviewRequirement> FieldRequirements(std::string_view text) {
  std::vector<ReviewRequirement> found;
  const auto selector = meta::FieldSelector::Parse(text);
  // As upstream: a selector that cannot be parsed restricts nothing, so the webhook sees a broader
  // request.
  if (!selector.ok()) return found;
  for (const auto& each : selector->requirements()) {
    found.push_back({each.field, each.equals ? "In" : "NotIn", {each.value}});
  }
  return found;
}

// Follows labelSelectorToAuthorizationAPI; a selector that cannot be parsed restricts nothing here,
// too.
std::vector<ReviewRequirement> LabelRequirements(std::string_view text) {
  using Operator = meta::LabelSelector::Operator;
  std::vector<ReviewRequirement> found;
  const auto selector = meta::LabelSelector::Parse(text);
  if (!selector.ok()) return found;
  for (const auto& each : selector->requirements()) {
    switch (each.op) {
      case Operator::kEquals:
      case Operator::kIn:
        found.push_back({each.key, "In", each.values});
        break;
      case Operator::kNotEquals:
      case Operator::kNotIn:
        found.push_back({each.key, "NotIn", each.values});
        break;
      case Operator::kExists:
        found.push_back({each.key, "Exists", {}});
        break;
      case Operator::kDoesNotExist:
        found.push_back({each.key, "DoesNotExist", {}});
        break;
      case Operator::kGreaterThan:
      case Operator::kLessThan:
        // SubjectAccessReview has no such operators; without them the request is broader.
        break;
    }
  }
  return found;
}

// The spec alone, without kind and version: it is sent and is the key of the cache.
std::string ReviewSpec(const auth::Attributes& asked, std::string_view version) {
  std::string out;
  {
    JsonObject spec(out);
    if (asked.resource_request) {
      AddResource(spec, asked);
    } else {
      JsonObject other(spec.Key("nonResourceAttributes"));
      other.Text("path", asked.path);
      other.Text("verb", asked.verb);
    }
    spec.Text("user", asked.user->name);
    // v1beta1 has the singular.
    spec.Texts(version == "v1" ? "groups" : "group", asked.user->groups);
    if (!asked.user->extra.empty()) {
      JsonObject extra(spec.Key("extra"));
      for (const auto& [key, values] : asked.user->extra) {
        JsonObject::AppendTexts(values, extra.Key(key));
      }
    }
    spec.Text("uid", asked.user->uid);
  }
  return out;
}

std::string ReviewOf(std::string_view spec, std::string_view version) {
  std::string out = R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/)";
  out.append(version).append(R"(","metadata":{},"spec":)").append(spec);
  return out += R"(,"status":{"allowed":false}})";
}

Result<ReviewStatus> ReadReview(std::string_view body, std::string_view version) {
  runtime::Arena arena;
  constexpr codec::JsonLimits kLimits = {.depth_max = 100, .bytes_max = 4 << 20};
  const auto root = codec::ParseJson(body, arena, nullptr, kLimits);
  if (!root.ok()) return BadReview("no JSON: " + std::string(root.status().message()));
  const std::string_view kind = (*root)["kind"].AsString();
  const std::string_view api_version = (*root)["apiVersion"].AsString();
  const std::string expected = std::string(kReviewGroup) + std::string(version);
  // A webhook may leave kind and apiVersion out; others must be those of the request.
  if (!root->is_map() || (!kind.empty() && kind != kReviewKind) ||
      (!api_version.empty() && api_version != expected)) {
    return BadReview("no SubjectAccessReview of " + expected);
  }
  const Value status = (*root)["status"];
  if (!status.is_null() && !status.is_map()) return BadReview("a status that is no object");
  ReviewStatus read;
  ASSIGN_OR_RETURN(read.allowed, Flag(status, "allowed"));
  ASSIGN_OR_RETURN(read.denied, Flag(status, "denied"));
  const Value reason = status["reason"];
  if (!reason.is_null() && !reason.is_string()) return BadReview("a reason that is no string");
  read.reason = reason.AsString();
  return read;
}

}  // namespace apiserver::v0::authz
