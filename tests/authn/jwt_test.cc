#include "authn/jwt.h"

#include <catch2/catch.hpp>

#include "authn/signed_tokens.h"

namespace apiserver::inline v0::authn {
namespace {

constexpr SigningAlgorithm kAll[] = {SigningAlgorithm::kRs256, SigningAlgorithm::kRs384,
                                     SigningAlgorithm::kRs512, SigningAlgorithm::kPs256,
                                     SigningAlgorithm::kPs384, SigningAlgorithm::kPs512,
                                     SigningAlgorithm::kEs256, SigningAlgorithm::kEs384,
                                     SigningAlgorithm::kEs512, SigningAlgorithm::kEdDsa};

std::string Refusal(std::string_view token) {
  const auto jwt = ParseJwt(token);
  CHECK(jwt.status().reason() == Reason::kUnauthorized);
  return std::string(jwt.status().message());
}

}  // namespace

TEST_CASE("authn: every algorithm verifies what its own key signed, and nothing else", "[authn]") {
  const std::vector<SigningKey> keys = {RsaKey(), P256Key(), NewEcKey("P-384"), NewEcKey("P-521"),
                                        NewEd25519Key()};
  int verified = 0;
  for (const SigningKey& key : keys) {
    for (const SigningAlgorithm algorithm : kAll) {
      CAPTURE(NameOf(algorithm));
      const auto token = SignJwt(key, algorithm, "a", R"({"iss":"me"})");
      REQUIRE(token.ok() == key.public_key().Fits(algorithm));
      if (!token.ok()) continue;
      const auto jwt = ParseJwt(*token);
      REQUIRE(jwt.ok());
      CHECK(jwt->algorithm == algorithm);
      CHECK(jwt->key_id == "a");
      CHECK(jwt->claims["iss"].AsString() == "me");
      for (const SigningKey& other : keys) {
        const std::vector<Jwk> known = {{other.public_key(), "a"}};
        CHECK(VerifySignature(*jwt, kAll, known).ok() == (&other == &key));
      }
      ++verified;
    }
  }
  CHECK(verified == 10);
}

TEST_CASE("authn: a changed byte anywhere breaks the signature", "[authn]") {
  const std::vector<Jwk> known = {{P256Key().public_key(), ""}};
  const std::string token = *SignJwt(P256Key(), SigningAlgorithm::kEs256, "", R"({"sub":"jane"})");
  const auto whole = ParseJwt(token);
  REQUIRE(VerifySignature(*whole, kAll, known).ok());
  for (std::size_t i = 0; i < whole->signature.size(); ++i) {
    auto jwt = ParseJwt(token);
    jwt->signature[i] = static_cast<char>(jwt->signature[i] ^ 1);
    CHECK_FALSE(VerifySignature(*jwt, kAll, known).ok());
  }
  auto jwt = ParseJwt(token);
  const std::string changed = std::string(jwt->signing_input) + "A";
  jwt->signing_input = changed;
  CHECK_FALSE(VerifySignature(*jwt, kAll, known).ok());
}

TEST_CASE("authn: an algorithm that the issuer does not use is refused by its name", "[authn]") {
  const auto token = SignJwt(RsaKey(), SigningAlgorithm::kPs256, "", "{}");
  const std::vector<SigningAlgorithm> allowed = {SigningAlgorithm::kRs256};
  const std::vector<Jwk> known = {{RsaKey().public_key(), ""}};
  CHECK(VerifySignature(*ParseJwt(*token), allowed, known).message() ==
        "id token signed with unsupported algorithm, expected [\"RS256\"] got \"PS256\"");
}

TEST_CASE("authn: the key id chooses the key, and its alg limits it", "[authn]") {
  const auto token = SignJwt(RsaKey(), SigningAlgorithm::kRs256, "b", "{}");
  const auto jwt = ParseJwt(*token);
  const VerificationKey& key = RsaKey().public_key();
  CHECK(VerifySignature(*jwt, kAll, std::vector<Jwk>{{key, "b"}}).ok());
  CHECK(VerifySignature(*jwt, kAll, std::vector<Jwk>{{key, "b", SigningAlgorithm::kRs256}}).ok());
  CHECK(VerifySignature(*jwt, kAll, std::vector<Jwk>{{key, "a"}}).message() ==
        "failed to verify signature: no keys matches jwk keyid");
  CHECK_FALSE(
      VerifySignature(*jwt, kAll, std::vector<Jwk>{{key, "b", SigningAlgorithm::kPs256}}).ok());
  CHECK(HasKeyFor(*jwt, std::vector<Jwk>{{key, "b"}}));
  CHECK_FALSE(HasKeyFor(*jwt, std::vector<Jwk>{{key, ""}}));
}

TEST_CASE("authn: without a key id a limited number of keys is tried", "[authn]") {
  const auto token = SignJwt(P256Key(), SigningAlgorithm::kEs256, "", "{}");
  const auto jwt = ParseJwt(*token);
  const Jwk other = {NewEcKey("P-256").public_key(), "x"};
  std::vector<Jwk> known(15, other);
  known.push_back({P256Key().public_key(), "y"});
  CHECK(VerifySignature(*jwt, kAll, known).ok());
  known.insert(known.begin(), other);
  CHECK_FALSE(VerifySignature(*jwt, kAll, known).ok());
}

TEST_CASE("authn: what is no token is refused with a reason", "[authn]") {
  CHECK(Refusal("") == "malformed jwt: not three parts of reasonable length");
  CHECK(Refusal("a.b") == "malformed jwt: not three parts of reasonable length");
  CHECK(Refusal("a.b.c.d.e") == "malformed jwt: not three parts of reasonable length");
  CHECK(Refusal("!.e30.AA") == "malformed jwt header: not base64url");
  CHECK(Refusal(RawToken("[]", "{}", "x")) == "malformed jwt header: not a JSON object");
  CHECK(Refusal(RawToken(R"({"alg":"RS256","alg":"ES256"})", "{}", "x")) ==
        "malformed jwt header: a member stands twice");
  CHECK(Refusal(RawToken(R"({"alg":"RS256","kid":7})", "{}", "x")) == "jwt key id is not a string");
  CHECK(Refusal(RawToken(R"({"alg":"RS256"})", "{}", "")) == "malformed jwt signature");
  CHECK(Refusal(RawToken(R"({"alg":"RS256"})", "{}", std::string(1025, 'x'))) ==
        "malformed jwt signature");
  CHECK(Refusal(RawToken(R"({"alg":"RS256"})", "7", "x")) ==
        "malformed jwt payload: not a JSON object");
  CHECK(Refusal(RawToken(R"({"alg":"RS256"})", R"({"sub":"a","sub":"b"})", "x")) ==
        "malformed jwt payload: a member stands twice");
}

TEST_CASE("authn: the issuer of a token is known before anything is believed", "[authn]") {
  CHECK(UntrustedIssuer(RawToken("x", R"({"iss":"https://a"})", "")) == "https://a");
  CHECK(UntrustedIssuer(RawToken("x", R"({"iss":7})", "")).empty());
  CHECK(UntrustedIssuer("opaque").empty());
  CHECK(UntrustedIssuer("a.b").empty());
}

TEST_CASE("authn: a key set gives its usable keys and says why others are not", "[authn]") {
  const std::string text =
      R"({"keys":[)" + JwkText(RsaKey().public_key(), "a") + "," +
      JwkText(NewEcKey("P-384").public_key(), "b", R"(,"alg":"ES384")") + "," +
      JwkText(NewEd25519Key().public_key(), "c") + "," + R"({"kty":"oct","k":"AAAA","kid":"d"},)" +
      R"({"kty":"RSA","use":"enc","n":"AQ","e":"AQAB"},)" +
      R"({"kty":"RSA","n":"AQ","e":"AQAB"},)" + R"({"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"},)" +
      JwkText(P256Key().public_key(), "e", R"(,"alg":"HS256")") + "," +
      JwkText(P256Key().public_key(), "f", R"(,"alg":"RS256")") + "]}";

  const auto set = ParseJwkSet(text);

  REQUIRE(set.ok());
  REQUIRE(set->keys.size() == 3);
  CHECK(set->keys[0].id == "a");
  CHECK(set->keys[1].algorithm == SigningAlgorithm::kEs384);
  CHECK(set->keys[2].key.type() == KeyType::kEd25519);
  CHECK(set->skipped ==
        std::vector<std::string>{
            "keys[3]: the key is none of RSA, EC, Ed25519", "keys[4]: it is not for signatures",
            "keys[5]: an RSA key must have 2048 to 8192 bits, not 1",
            "keys[6]: the point is not on the curve", "keys[7]: it is for another algorithm",
            "keys[8]: its algorithm is of another type"});
}

TEST_CASE("authn: a key set without usable keys is refused", "[authn]") {
  CHECK(ParseJwkSet("").status().message() == "key set: unexpected end of JSON input");
  CHECK(ParseJwkSet("{}").status().message() == "key set: no list \"keys\"");
  CHECK(ParseJwkSet(R"({"keys":[]})").status().message() == "key set: no key that can be used");
  CHECK(ParseJwkSet(R"({"keys":[7]})").status().message() ==
        "key set: no key that can be used: keys[0]: not an object");
}

TEST_CASE("authn: a JWK says what the key is", "[authn]") {
  for (const SigningKey& key : {RsaKey(), P256Key(), NewEcKey("P-521"), NewEd25519Key()}) {
    const auto set = ParseJwkSet(R"({"keys":[)" + JwkText(key.public_key(), "a") + "]}");
    REQUIRE(set.ok());
    CHECK(set->keys.front().key.KeyId() == key.public_key().KeyId());
    CHECK(key.public_key().KeyId().size() == 43);
  }
}

TEST_CASE("authn: numeric dates are whole seconds in range", "[authn]") {
  using runtime::Value;
  CHECK(NumericDate(Value::Int(1300819380)) == 1300819380);
  CHECK(NumericDate(Value::Double(1300819380.9)) == 1300819380);
  CHECK_FALSE(NumericDate(Value::Double(1e300)));
  CHECK_FALSE(NumericDate(Value::String("1300819380")));
  CHECK_FALSE(NumericDate(Value()));
}

TEST_CASE("authn: the public keys of a PEM file are read, whatever holds them", "[authn]") {
  // keyutil's TestReadPrivateKey asks the like of its own files.
  CHECK(ReadPublicKeys("").status().message() ==
        "data does not contain any valid RSA, ECDSA or Ed25519 public keys");
  CHECK_FALSE(ReadPublicKeys("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").ok());
  CHECK_FALSE(ReadPublicKeys("-----BEGIN PUBLIC KEY-----\nAA").ok());
  CHECK_FALSE(SigningKey::FromPem("").ok());
}

}  // namespace apiserver::inline v0::authn
