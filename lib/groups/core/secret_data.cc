#include "groups/core/secret_data.h"

#include <map>
#include <string_view>

#include "text/base64.h"

namespace apiserver::v0::groups::core {

using runtime::Value;

// A known kind holds bytes, a kind without schema base64.
std::optional<std::string> SecretValue(Value value) {
  if (value.type() == Value::Type::kBytes) return std::string(value.AsString());
  return text::DecodeBase64(value.AsString());
}

// Follows the conversion of v1.Secret: values of stringData win over those of data.
void MoveStringData(runtime::Object& secret) {
  const Value texts = secret["stringData"];
  if (texts.is_null()) return;
  // Sorted, as Go writes maps.
  std::map<std::string_view, Value> merged;
  for (const runtime::Member& member : secret["data"].members()) merged[member.key] = member.value;
  for (const runtime::Member& member : texts.members()) {
    std::string encoded;
    text::AppendBase64(member.value.AsString(), encoded);
    merged[member.key] = Value::String(secret.arena().Copy(encoded));
  }
  runtime::MapBuilder data(secret.arena());
  for (const auto& [key, value] : merged) data.Add(key, value);
  if (data.size() > 0) secret.SetPath({"data"}, data.Build());
  secret.Erase("stringData");
}

}  // namespace apiserver::v0::groups::core
