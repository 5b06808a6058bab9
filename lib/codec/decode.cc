#include <algorithm>
#include <functional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/cbor.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/managed_fields.h"
#include "apiserver/runtime/settle.h"

#include "base/status_macros.h"
#include "codec/json_duplicates.h"
#include "codec/protobuf_message.h"
#include "codec/type_meta.h"
#include "runtime/normalize.h"
#include "text/hex.h"

namespace apiserver::v0::codec {
namespace {

using runtime::GroupVersionKind;
using runtime::Object;
using runtime::Value;

Status BadRequest(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }

Status Prefixed(std::string_view prefix, const Status& status) {
  return BadRequest(std::string(prefix) + std::string(status.message()));
}

std::string DuplicateField(const std::string& path) {
  return "duplicate field " + field::QuoteShort(path);
}

Status ParseJsonBody(std::string_view text, const JsonLimits& limits, DecodedBody& decoded,
                     std::vector<DuplicateKey>& duplicates) {
  Result<Value> root = ParseJsonKeepingDuplicates(text, decoded.arena, &duplicates, limits);
  if (!root.ok()) {
    return Prefixed("couldn't get version/kind; json parse error: ", root.status());
  }
  decoded.root = *root;
  return {};
}

Status ParseYamlBody(std::string_view text, const JsonLimits& limits, DecodedBody& decoded) {
  std::vector<std::string> duplicates;
  ASSIGN_OR_RETURN(decoded.root, ParseYaml(text, decoded.arena, &duplicates, limits));
  // Go converts YAML to JSON first, which sorts.
  runtime::SortKeys(decoded.arena, decoded.root);
  if (duplicates.empty()) return {};
  // Go parses a second time, strictly, and reports all that it finds as one error.
  std::string error = "yaml: unmarshal errors:";
  for (const std::string& duplicate : duplicates) error += "\n  " + duplicate;
  decoded.strict_errors.push_back(std::move(error));
  return {};
}

Status ParseCborBody(std::string_view bytes, const JsonLimits& limits, DecodedBody& decoded) {
  Result<Value> root = ParseCbor(bytes, decoded.arena,
                                 {.depth_max = limits.depth_max, .bytes_max = limits.bytes_max});
  if (!root.ok()) return Prefixed("unable to determine group/version/kind: ", root.status());
  decoded.root = *root;
  return {};
}

Status ParseProtobufBody(std::string_view bytes, DecodedBody& decoded) {
  ASSIGN_OR_RETURN(const ProtobufEnvelope envelope, OpenProtobufEnvelope(bytes));
  const runtime::SchemaPtr schema = MetaMessageSchema(envelope.kind);
  if (schema == nullptr) {
    return BadRequest("no kind " + field::Quote(envelope.kind) + " is registered for version " +
                      field::Quote(envelope.api_version));
  }
  decoded.api_version = envelope.api_version;
  decoded.kind = envelope.kind;
  ASSIGN_OR_RETURN(decoded.root, DecodeMessage(envelope.raw, *schema, decoded.arena));
  return {};
}

// As handlers.summarizeData.
std::string Summary(std::string_view body) {
  constexpr std::size_t kMax = 30;
  if (body.empty()) return "<empty>";
  const std::string_view head = body.substr(0, kMax);
  std::string out;
  if (body[0] == '{') {
    out = head;
  } else {
    text::AppendHex(head, out);
  }
  return body.size() > kMax ? out + " ..." : out;
}

// As handlers.transformDecodeError before and after the body's kind is known.
Status Unrecognized(const runtime::Kind& kind, const Status& error, std::string_view body) {
  return BadRequest("the object provided is unrecognized (must be of type " + kind.kind() +
                    "): " + std::string(error.message()) + " (" + Summary(body) + ")");
}
Status CannotBeHandled(const GroupVersionKind& gvk, const runtime::Kind& kind,
                       std::string_view error) {
  return BadRequest(gvk.kind + " in version " + field::Quote(gvk.version) +
                    " cannot be handled as a " + kind.kind() + ": " + std::string(error));
}

// As json.gvkWithDefaults.
GroupVersionKind WithDefaults(GroupVersionKind actual, const GroupVersionKind& fallback) {
  if (actual.kind.empty()) actual.kind = fallback.kind;
  if (actual.version.empty() && actual.group.empty()) {
    actual.group = fallback.group;
    actual.version = fallback.version;
  }
  if (actual.version.empty() && actual.group == fallback.group) actual.version = fallback.version;
  return actual;
}

bool IsCustom(const runtime::Kind& kind) {
  return kind.semantics() == runtime::Semantics::kCustomResource;
}

// A custom object must say itself what it is: upstream has no Go type that tells.
Result<GroupVersionKind> GvkOf(const std::string& api_version, const std::string& kind,
                               const DecodeOptions& options) {
  ASSIGN_OR_RETURN(runtime::GroupVersion gv, ParseGroupVersion(api_version));
  if (IsCustom(*options.kind)) return GroupVersionKind{gv.group, gv.version, kind};
  return WithDefaults({std::move(gv.group), std::move(gv.version), kind},
                      options.kind->gvk(options.version));
}

// True if `path` is that of `outer` or lies below it: Go never looks there.
bool Within(std::string_view path, std::string_view outer) {
  if (!path.starts_with(outer)) return false;
  return path.size() == outer.size() || path[outer.size()] == '.' || path[outer.size()] == '[';
}

// The refusal of a custom object of another kind or version: upstream decodes any kind, and
// compares afterwards.
Status NotThisCustomKind(const DecodeOptions& options, const GroupVersionKind& gvk,
                         const runtime::Value& root) {
  const GroupVersionKind expected = options.kind->gvk(options.version);
  if (gvk.group_version() != expected.group_version()) {
    return BadRequest("the API version in the data (" + gvk.group_version().ToString() +
                      ") does not match the expected API version (" +
                      expected.group_version().ToString() + ")");
  }
  field::ErrorList errors;
  errors.Invalid(field::Path("kind"), gvk.kind, "must be " + expected.kind);
  return meta::NewInvalid({gvk.group, gvk.kind}, root["metadata"]["name"].AsString(), errors);
}

// The refusal of a custom object that does not say its kind. A lenient decoder of JSON has taken
// the kind from the path by then.
Status WithoutKind(MediaType type, const DecodeOptions& options, const std::string& api_version,
                   const std::string& body) {
  const Status missing = BadRequest(MissingKindMessage(body));
  if (!options.lenient || type != MediaType::kJson) {
    return Unrecognized(*options.kind, missing, body);
  }
  const auto gv = ParseGroupVersion(api_version);
  if (!gv.ok()) return Unrecognized(*options.kind, gv.status(), body);
  const GroupVersionKind gvk =
      WithDefaults({gv->group, gv->version, ""}, options.kind->gvk(options.version));
  return CannotBeHandled(gvk, *options.kind, missing.message());
}

// Orders unknown and duplicate fields as encoding/json meets them when it decodes into a Go type.
void AddInOrder(const std::vector<runtime::UnknownMember>& unknown,
                const std::vector<DuplicateKey>& duplicates,
                std::vector<std::string>& strict_errors) {
  struct Found {
    const char* at;
    std::string error;
  };
  std::vector<Found> all;
  all.reserve(unknown.size() + duplicates.size());
  for (const auto& member : unknown) {
    all.push_back({member.key, "unknown field " + field::QuoteShort(member.path)});
  }
  for (const DuplicateKey& duplicate : duplicates) {
    const bool passed_by = std::any_of(unknown.begin(), unknown.end(), [&](const auto& member) {
      return Within(duplicate.path, member.path);
    });
    if (!passed_by) all.push_back({duplicate.at, DuplicateField(duplicate.path)});
  }
  if (!duplicates.empty()) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Found& a, const Found& b) { return std::less<>()(a.at, b.at); });
  }
  for (Found& found : all) strict_errors.push_back(std::move(found.error));
}

// Content that grows too large stays a 413. All other errors are a 400.
Status Unsettled(const Status& error, const GroupVersionKind& gvk, const runtime::Kind& kind) {
  if (error.reason() == Reason::kRequestEntityTooLarge) return error;
  return CannotBeHandled(gvk, kind, error.message());
}

// Settles the content of a decoded body into what a Go server would have. An untyped object is
// decoded whole before its schema is looked at.
Status Settle(Object& object, const std::string& body, const std::vector<DuplicateKey>& duplicates,
              std::vector<std::string>& strict_errors) {
  meta::KeepManagedFieldsReset(object);
  std::vector<runtime::UnknownMember> unknown;
  RETURN_IF_ERROR(runtime::Settle(
      object, {.growth_max = runtime::GrowthMax(body.size()), .unknown = &unknown}));
  if (!IsCustom(object.kind())) {
    AddInOrder(unknown, duplicates, strict_errors);
    return {};
  }
  for (const DuplicateKey& key : duplicates) strict_errors.push_back(DuplicateField(key.path));
  for (const runtime::UnknownMember& member : unknown) {
    strict_errors.push_back("unknown field " + field::QuoteShort(member.path));
  }
  return {};
}

// True for an object of the kind in a version that it does not have, if the caller wants that.
bool IsOfUnknownVersion(const DecodeOptions& options, const GroupVersionKind& gvk) {
  if (!options.unknown_versions) return false;
  const GroupVersionKind expected = options.kind->gvk(options.version);
  return gvk.group == expected.group && gvk.kind == expected.kind;
}

// Returns a custom object in a version that its definition does not have. Upstream decodes it
// without a schema, which knows its metadata alone, and refuses it when versions are compared.
DecodedObject OfUnknownVersion(const DecodeOptions& options, const GroupVersionKind& gvk,
                               DecodedBody parsed, const std::vector<DuplicateKey>& duplicates) {
  DecodedObject decoded;
  decoded.strict_errors = std::move(parsed.strict_errors);
  for (const DuplicateKey& key : duplicates) {
    decoded.strict_errors.push_back(DuplicateField(key.path));
  }
  std::vector<std::string_view> unknown;
  for (const runtime::Member& member : parsed.root.members()) {
    if (member.key != "metadata") unknown.push_back(member.key);
  }
  std::sort(unknown.begin(), unknown.end());
  for (const std::string_view key : unknown) {
    decoded.strict_errors.push_back("unknown field " + field::QuoteShort(key));
  }
  decoded.object =
      std::make_unique<Object>(options.kind, gvk.version, std::move(parsed.arena), parsed.root);
  return decoded;
}

Result<DecodedObject> DecodeProtobufObject(const std::shared_ptr<const std::string>& body,
                                           const DecodeOptions& options) {
  const Result<ProtobufEnvelope> envelope = OpenProtobufEnvelope(*body);
  if (!envelope.ok()) return Unrecognized(*options.kind, envelope.status(), *body);
  const Result<GroupVersionKind> gvk = GvkOf(envelope->api_version, envelope->kind, options);
  if (!gvk.ok()) return Unrecognized(*options.kind, gvk.status(), *body);
  if (const Status known = CheckRegistered(*options.kind, *gvk); !known.ok()) {
    return CannotBeHandled(*gvk, *options.kind, known.message());
  }
  if (!HasProtobuf(*options.kind, gvk->version)) {
    return CannotBeHandled(*gvk, *options.kind, NoProtobufMessage(*options.kind, gvk->version));
  }
  runtime::Arena arena;
  arena.Pin(body);
  const Result<Value> root =
      DecodeMessage(envelope->raw, *options.kind->FindVersion(gvk->version)->schema, arena);
  if (!root.ok()) return CannotBeHandled(*gvk, *options.kind, root.status().message());
  DecodedObject decoded;
  decoded.object = std::make_unique<Object>(options.kind, gvk->version, std::move(arena), *root);
  // The decoder skips unknown fields: there is no strict decoding of protobuf.
  const Status settled =
      runtime::Settle(*decoded.object, {.growth_max = runtime::GrowthMax(body->size())});
  if (!settled.ok()) return Unsettled(settled, *gvk, *options.kind);
  return decoded;
}

// The same as DecodeBody, but keeps the duplicate keys of JSON apart.
Result<DecodedBody> ParseBody(MediaType type, const std::shared_ptr<const std::string>& body,
                              const JsonLimits& limits, std::vector<DuplicateKey>& duplicates) {
  DecodedBody decoded;
  // The content borrows its texts from the body, which must live as long as the arena.
  decoded.arena.Pin(body);
  if (type == MediaType::kProtobuf) {
    RETURN_IF_ERROR(ParseProtobufBody(*body, decoded));
    return decoded;
  }
  if (type == MediaType::kCbor) {
    RETURN_IF_ERROR(ParseCborBody(*body, limits, decoded));
  } else if (type == MediaType::kYaml) {
    RETURN_IF_ERROR(ParseYamlBody(*body, limits, decoded));
  } else {
    RETURN_IF_ERROR(ParseJsonBody(*body, limits, decoded, duplicates));
  }
  ASSIGN_OR_RETURN(TypeMeta meta, TakeTypeMeta(decoded.root, decoded.arena));
  decoded.api_version = std::move(meta.api_version);
  decoded.kind = std::move(meta.kind);
  return decoded;
}

}  // namespace

Result<DecodedBody> DecodeBody(MediaType type, std::shared_ptr<const std::string> body,
                               const JsonLimits& limits) {
  if (body == nullptr) body = std::make_shared<const std::string>();
  std::vector<DuplicateKey> duplicates;
  ASSIGN_OR_RETURN(DecodedBody decoded, ParseBody(type, body, limits, duplicates));
  for (const DuplicateKey& key : duplicates) {
    decoded.strict_errors.push_back(DuplicateField(key.path));
  }
  return decoded;
}

Result<DecodedObject> DecodeObject(MediaType type, std::shared_ptr<const std::string> body,
                                   const DecodeOptions& options) {
  if (body == nullptr) body = std::make_shared<const std::string>();
  if (type == MediaType::kProtobuf) return DecodeProtobufObject(body, options);
  std::vector<DuplicateKey> duplicates;
  Result<DecodedBody> parsed = ParseBody(type, body, {}, duplicates);
  if (!parsed.ok()) return Unrecognized(*options.kind, parsed.status(), *body);
  const bool custom = IsCustom(*options.kind);
  if (custom && parsed->kind.empty()) {
    return WithoutKind(type, options, parsed->api_version, *body);
  }
  const Result<GroupVersionKind> gvk = GvkOf(parsed->api_version, parsed->kind, options);
  if (!gvk.ok()) return Unrecognized(*options.kind, gvk.status(), *body);
  if (const Status known = CheckRegistered(*options.kind, *gvk); !known.ok()) {
    if (custom && IsOfUnknownVersion(options, *gvk)) {
      return OfUnknownVersion(options, *gvk, *std::move(parsed), duplicates);
    }
    if (custom) return NotThisCustomKind(options, *gvk, parsed->root);
    return CannotBeHandled(*gvk, *options.kind, known.message());
  }
  DecodedObject decoded;
  decoded.strict_errors = std::move(parsed->strict_errors);
  decoded.object =
      std::make_unique<Object>(options.kind, gvk->version, std::move(parsed->arena), parsed->root);
  const Status settled = Settle(*decoded.object, *body, duplicates, decoded.strict_errors);
  if (!settled.ok()) return Unsettled(settled, *gvk, *options.kind);
  return decoded;
}

}  // namespace apiserver::v0::codec
