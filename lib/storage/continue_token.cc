#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "apiserver/storage/interface.h"
#include "base/status_macros.h"
#include "text/base64.h"
#include "text/go_path.h"

namespace apiserver::v0::storage {
namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";

Status Refuse(std::string_view why) {
  std::string text = "invalid continue token: continue key is not valid";
  text.append(why);
  return meta::NewBadRequest(std::move(text));
}

// Decodes as base64.RawURLEncoding does, with its error.
Result<std::string> Decoded(std::string_view token) {
  std::size_t error_at = 0;
  std::optional<std::string> json = text::DecodeLooseBase64Url(token, &error_at);
  if (json) return *std::move(json);
  return Refuse(": illegal base64 data at input byte " + std::to_string(error_at));
}

// encoding/json matches a field's name in any case when no member has it letter for letter.
runtime::Value Member(runtime::Value object, std::string_view name) {
  if (const runtime::Value* exact = object.Find(name)) return *exact;
  for (const runtime::Member& member : object.members()) {
    if (member.key.size() != name.size()) continue;
    bool same = true;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char c = member.key[i];
      same = same && (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == name[i];
    }
    if (same) return member.value;
  }
  return {};
}

std::string_view GoTypeOf(runtime::Value value) {
  switch (value.type()) {
    case runtime::Value::Type::kBool:
      return "bool";
    case runtime::Value::Type::kString:
      return "string";
    case runtime::Value::Type::kList:
      return "array";
    case runtime::Value::Type::kMap:
      return "object";
    default:
      return "number";
  }
}

// Clients see these texts: they are those of encoding/json and the struct names of Go's
// k8s.io/apiserver/pkg/storage.
Status RefuseType(runtime::Value value, std::string_view where, std::string_view type) {
  std::string text = ": json: cannot unmarshal ";
  text.append(GoTypeOf(value)).append(" into Go ").append(where).append(" of type ").append(type);
  return Refuse(text);
}

Result<ContinueToken> FromContent(runtime::Value content) {
  if (!content.is_map() && !content.is_null()) {
    return RefuseType(content, "value", "storage.continueToken");
  }
  const runtime::Value version = Member(content, "v");
  const runtime::Value revision = Member(content, "rv");
  const runtime::Value start = Member(content, "start");
  if (!version.is_null() && !version.is_string()) {
    return RefuseType(version, "struct field continueToken.v", "string");
  }
  if (!revision.is_null() && revision.type() != runtime::Value::Type::kInt) {
    return RefuseType(revision, "struct field continueToken.rv", "int64");
  }
  if (!start.is_null() && !start.is_string()) {
    return RefuseType(start, "struct field continueToken.start", "string");
  }
  if (version.AsString() != kVersion) {
    std::string text = ": server does not recognize this encoded version ";
    return Refuse(text.append(version.AsString()));
  }
  // Go refuses zero too: it is the value of a token without "rv", and would mean "now".
  if (revision.AsInt() == 0) {
    return Refuse(": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (start.AsString().empty()) {
    return Refuse(": encoded start key empty (version meta.k8s.io/v1)");
  }
  std::string key(start.AsString());
  if (!key.starts_with('/')) key.insert(key.begin(), '/');
  // A client must not climb out of the prefix that it may list.
  if (text::CleanPath(key) != key) return Refuse(": " + std::string(start.AsString()));
  return ContinueToken{revision.AsInt(), key.substr(1)};
}

}  // namespace

Result<ContinueToken> DecodeContinueToken(std::string_view token) {
  ASSIGN_OR_RETURN(const std::string json, Decoded(token));
  runtime::Arena arena;
  const auto content = codec::ParseJson(json, arena);
  if (!content.ok()) return Refuse(": " + std::string(content.status().message()));
  return FromContent(*content);
}

std::string EncodeContinueToken(const ContinueToken& token) {
  std::string json =
      R"({"v":"meta.k8s.io/v1","rv":)" + std::to_string(token.resource_version) + R"(,"start":)";
  codec::AppendJsonString(token.start_key, json);
  json.push_back('}');
  std::string encoded;
  text::AppendBase64Url(json, encoded);
  return encoded;
}

}  // namespace apiserver::v0::storage
