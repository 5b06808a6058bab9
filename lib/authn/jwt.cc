#include "authn/jwt.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"
#include "text/base64.h"
#include "text/quote.h"

namespace apiserver::v0::authn {
namespace {

using runtime::Value;

constexpr std::size_t kHeaderDepthMax = 8;
constexpr std::size_t kClaimsDepthMax = 64;
// The signature of an RSA key of 8192 bits.
constexpr std::size_t kSignatureBytesMax = 1024;

Status BadToken(std::string why) { return Status(Reason::kUnauthorized, std::move(why)); }

struct TokenParts {
  std::string_view header;
  std::string_view payload;
  std::string_view signature;
  std::string_view signing_input;
};

// Splits at exactly two dots (RFC 7515 §7.1); five parts would be an encrypted token.
std::optional<TokenParts> SplitToken(std::string_view token) {
  if (token.size() > kTokenBytesMax) return std::nullopt;
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  if (token.find('.', second + 1) != std::string_view::npos) return std::nullopt;
  return TokenParts{token.substr(0, first), token.substr(first + 1, second - first - 1),
                    token.substr(second + 1), token.substr(0, second)};
}

// Parses a JSON object without duplicate members at any depth: two parsers could otherwise see two
// tokens.
Result<Value> ParseObject(std::string_view json, runtime::Arena& arena, std::size_t depth_max) {
  codec::JsonLimits limits;
  limits.bytes_max = kTokenBytesMax;
  limits.depth_max = depth_max;
  std::vector<std::string> duplicates;
  auto value = codec::ParseJson(json, arena, &duplicates, limits);
  if (!value.ok()) return BadToken(std::string(value.status().message()));
  if (!value->is_map()) return BadToken("not a JSON object");
  if (!duplicates.empty()) return BadToken("a member stands twice");
  return *value;
}

Status ReadHeader(std::string_view encoded, Jwt& jwt) {
  const std::optional<std::string> json = text::DecodeBase64Url(encoded);
  if (!json) return BadToken("malformed jwt header: not base64url");
  runtime::Arena arena;
  auto header = ParseObject(*json, arena, kHeaderDepthMax);
  if (!header.ok()) {
    return BadToken("malformed jwt header: " + std::string(header.status().message()));
  }
  // No critical member is supported.
  if (header->Find("crit") != nullptr) return BadToken("jwt header has critical members");
  const std::optional<SigningAlgorithm> algorithm =
      ParseSigningAlgorithm((*header)["alg"].AsString());
  if (!algorithm) return BadToken("jwt is signed with an algorithm that is not supported");
  const Value* const key_id = header->Find("kid");
  if (key_id != nullptr && !key_id->is_string()) return BadToken("jwt key id is not a string");
  jwt.algorithm = *algorithm;
  jwt.key_id = (*header)["kid"].AsString();
  return {};
}

// A token without `kid` may be signed by any key of the set.
bool IsMeant(const Jwt& jwt, const Jwk& key) { return jwt.key_id.empty() || key.id == jwt.key_id; }

}  // namespace

std::string UntrustedIssuer(std::string_view token) {
  const std::optional<TokenParts> parts = SplitToken(token);
  if (!parts) return "";
  const std::optional<std::string> json = text::DecodeBase64Url(parts->payload);
  if (!json) return "";
  runtime::Arena arena;
  const auto claims = ParseObject(*json, arena, kClaimsDepthMax);
  return claims.ok() ? std::string((*claims)["iss"].AsString()) : "";
}

Result<Jwt> ParseJwt(std::string_view token) {
  const std::optional<TokenParts> parts = SplitToken(token);
  if (!parts) return BadToken("malformed jwt: not three parts of reasonable length");
  Jwt jwt;
  jwt.signing_input = parts->signing_input;
  RETURN_IF_ERROR(ReadHeader(parts->header, jwt));
  std::optional<std::string> signature = text::DecodeBase64Url(parts->signature);
  if (!signature || signature->empty() || signature->size() > kSignatureBytesMax) {
    return BadToken("malformed jwt signature");
  }
  jwt.signature = *std::move(signature);
  std::optional<std::string> payload = text::DecodeBase64Url(parts->payload);
  if (!payload) return BadToken("malformed jwt payload: not base64url");
  // Held by the arena: a string may move its bytes when it is moved.
  const auto kept = std::make_shared<const std::string>(*std::move(payload));
  jwt.arena.Pin(kept);
  auto claims = ParseObject(*kept, jwt.arena, kClaimsDepthMax);
  if (!claims.ok()) {
    return BadToken("malformed jwt payload: " + std::string(claims.status().message()));
  }
  jwt.claims = *claims;
  return jwt;
}

Status VerifySignature(const Jwt& jwt, std::span<const SigningAlgorithm> allowed,
                       std::span<const Jwk> keys) {
  if (std::ranges::find(allowed, jwt.algorithm) == allowed.end()) {
    std::vector<std::string> names;
    for (const SigningAlgorithm one : allowed) names.emplace_back(NameOf(one));
    return BadToken("id token signed with unsupported algorithm, expected " +
                    text::QuoteAll(names) + " got " + field::Quote(NameOf(jwt.algorithm)));
  }
  std::size_t tried = 0;
  for (const Jwk& key : keys) {
    if (!IsMeant(jwt, key) || !key.key.Fits(jwt.algorithm)) continue;
    if (key.algorithm && *key.algorithm != jwt.algorithm) continue;
    // Without a limit one token could make the server verify with all keys of a set.
    if (tried++ == kKeysTriedMax) break;
    if (key.key.Verify(jwt.algorithm, jwt.signing_input, jwt.signature)) return {};
  }
  return BadToken("failed to verify signature: " +
                  std::string(tried == 0 ? "no keys matches jwk keyid"
                                         : "failed to verify id token signature"));
}

bool HasKeyFor(const Jwt& jwt, std::span<const Jwk> keys) {
  return std::ranges::any_of(keys, [&jwt](const Jwk& key) { return IsMeant(jwt, key); });
}

// RFC 7519 §2 allows fractions of a second. Doubles over 2^53 are refused: they are not exact.
std::optional<std::int64_t> NumericDate(Value value) {
  if (value.type() == Value::Type::kInt) return value.AsInt();
  if (value.type() != Value::Type::kDouble) return std::nullopt;
  constexpr double kExactMax = 9007199254740992.0;  // 2^53.
  const double seconds = std::trunc(value.AsDouble());
  if (!(std::abs(seconds) <= kExactMax)) return std::nullopt;
  return static_cast<std::int64_t>(seconds);
}

// RFC 7519 §4.1.3: one text or a list of texts. nullopt: it is something else or missing.
std::optional<std::vector<std::string>> AudienceOf(Value claims) {
  const Value audience = claims["aud"];
  std::vector<std::string> audiences;
  if (audience.is_string()) {
    audiences.emplace_back(audience.AsString());
    return audiences;
  }
  if (!audience.is_list()) return std::nullopt;
  for (const Value one : audience.items()) {
    if (!one.is_string()) return std::nullopt;
    audiences.emplace_back(one.AsString());
  }
  return audiences;
}

Result<std::string> SignJwt(const SigningKey& key, SigningAlgorithm algorithm,
                            std::string_view key_id, std::string_view claims) {
  std::string header = "{\"alg\":\"";
  header += NameOf(algorithm);
  header += '"';
  if (!key_id.empty()) {
    header += ",\"kid\":";
    codec::AppendJsonString(key_id, header);
  }
  header += '}';
  std::string token;
  text::AppendBase64Url(header, token);
  token += '.';
  text::AppendBase64Url(claims, token);
  ASSIGN_OR_RETURN(const std::string signature, key.Sign(algorithm, token));
  token += '.';
  text::AppendBase64Url(signature, token);
  return token;
}

}  // namespace apiserver::v0::authn
