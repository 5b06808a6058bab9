#include "apiserver/authn/openid_metadata.h"

#include <catch2/catch.hpp>

#include "authn/jwk_set.h"

namespace apiserver::inline v0::authn {
namespace {

// rsaPublicKey and ecdsaPublicKey of pkg/serviceaccount/jwt_test.go.
constexpr char kKeys[] = R"(-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA249XwEo9k4tM8fMxV7zx
OhcrP+WvXn917koM5Qr2ZXs4vo26e4ytdlrV0bQ9SlcLpQVSYjIxNfhTZdDt+ecI
zshKuv1gKIxbbLQMOuK1eA/4HALyEkFgmS/tleLJrhc65tKPMGD+pKQ/xhmzRuCG
51RoiMgbQxaCyYxGfNLpLAZK9L0Tctv9a0mJmGIYnIOQM4kC1A1I1n3EsXMWmeJU
j7OTh/AjjCnMnkgvKT2tpKxYQ59PgDgU8Ssc7RDSmSkLxnrv+OrN80j6xrw0OjEi
B4Ycr0PqfzZcvy8efTtFQ/Jnc4Bp1zUtFXt7+QeevePtQ2EcyELXE0i63T1CujRM
WwIDAQAB
-----END PUBLIC KEY-----
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEH6cuzP8XuD5wal6wf9M6xDljTOPL
X2i8uIp/C/ASqiIGUeeKQtX0/IR3qCXyThP/dbCiHrF3v1cuhBOHY8CLVg==
-----END PUBLIC KEY-----
)";

constexpr char kKeyset[] =
    R"({"keys":[{"use":"sig","kty":"RSA","kid":"JHJehTTTZlsspKHT-GaJxK7Kd1NQgZJu3fyK6K_QDYU","a)"
    R"(lg":"RS256","n":"249XwEo9k4tM8fMxV7zxOhcrP-WvXn917koM5Qr2ZXs4vo26e4ytdlrV0bQ9SlcLpQVSYjI)"
    R"(xNfhTZdDt-ecIzshKuv1gKIxbbLQMOuK1eA_4HALyEkFgmS_tleLJrhc65tKPMGD-pKQ_xhmzRuCG51RoiMgbQxa)"
    R"(CyYxGfNLpLAZK9L0Tctv9a0mJmGIYnIOQM4kC1A1I1n3EsXMWmeJUj7OTh_AjjCnMnkgvKT2tpKxYQ59PgDgU8Ss)"
    R"(c7RDSmSkLxnrv-OrN80j6xrw0OjEiB4Ycr0PqfzZcvy8efTtFQ_Jnc4Bp1zUtFXt7-QeevePtQ2EcyELXE0i63T1)"
    R"(CujRMWw","e":"AQAB"},{"use":"sig","kty":"EC","kid":"SoABiieYuNx4UdqYvZRVeuC6SihxgLrhLy9p)"
    R"(eHMHpTc","crv":"P-256","alg":"ES256","x":"H6cuzP8XuD5wal6wf9M6xDljTOPLX2i8uIp_C_ASqiI",")"
    R"(y":"BlHnikLV9PyEd6gl8k4T_3Wwoh6xd79XLoQTh2PAi1Y"}]})";

std::string Config(const std::string& issuer, const std::string& jwks_uri) {
  return R"({"issuer":")" + issuer + R"(","jwks_uri":")" + jwks_uri +
         R"(","response_types_supported":["id_token"],"subject_types_supported":["public"],)"
         R"("id_token_signing_alg_values_supported":["ES256","RS256"]})";
}

const std::string kExample = "https://issuer.example.com";
const std::string kExampleKeys = kExample + "/openid/v1/jwks";

std::string ErrorOf(const OpenIDMetadataOptions& options) {
  const auto metadata = NewOpenIDMetadata(options);
  CHECK(metadata.status().reason() == Reason::kInvalid);
  return std::string(metadata.status().message());
}

}  // namespace

// openidmetadata_test.go TestNewOpenIDMetadata, its good rows.
TEST_CASE("authn: an issuer's metadata are byte for byte those of a Go server", "[authn]") {
  struct Row {
    std::string issuer;
    std::string jwks_uri;
    std::string address;
    std::string want_jwks_uri;
  };
  const Row rows[] = {
      {kExample, kExampleKeys, "", kExampleKeys},
      {kExample, "", "192.0.2.1:80", "https://192.0.2.1:80/openid/v1/jwks"},
      {"https://192.0.2.1:80", "https://192.0.2.1:80/openid/v1/jwks", "",
       "https://192.0.2.1:80/openid/v1/jwks"},
      {kExample, "", "[2001:db8::1]:6443", "https://[2001:db8::1]:6443/openid/v1/jwks"},
  };
  for (const Row& row : rows) {
    INFO(row.want_jwks_uri);
    const auto metadata = NewOpenIDMetadata({.issuer = row.issuer,
                                             .jwks_uri = row.jwks_uri,
                                             .external_address = row.address,
                                             .keys = kKeys});
    REQUIRE(metadata.status() == Status());
    CHECK(metadata->config_json == Config(row.issuer, row.want_jwks_uri));
    CHECK(metadata->keyset_json == kKeyset);
  }
}

// TestNewOpenIDMetadata, its bad rows; the words are upstream's.
TEST_CASE("authn: metadata want https, a plain issuer and a place for the keys", "[authn]") {
  const auto of_issuer = [](const std::string& issuer) {
    return ErrorOf({.issuer = issuer, .jwks_uri = kExampleKeys, .keys = kKeys});
  };
  const auto of_keys = [](const std::string& uri) {
    return ErrorOf({.issuer = kExample, .jwks_uri = uri, .keys = kKeys});
  };
  CHECK(of_issuer("http://issuer.example.com") ==
        "issuer URL must use https scheme, got: http://issuer.example.com");
  CHECK(of_issuer("issuer.example.com") ==
        "issuer URL must use https scheme, got: issuer.example.com");
  CHECK(of_issuer("https://issuer.example.com?foo=bar") ==
        "issuer URL may not include a query, got: https://issuer.example.com?foo=bar");
  CHECK(of_issuer("https://issuer.example.com#baz") ==
        "issuer URL may not include a fragment, got: https://issuer.example.com#baz");
  CHECK(of_issuer("https://issuer.example.com?foo=bar#baz") ==
        "issuer URL may not include a query, got: https://issuer.example.com?foo=bar#baz");
  CHECK(of_issuer("issuer") == "issuer URL must use https scheme, got: issuer");
  CHECK(of_issuer("") == "empty issuer URL");
  CHECK(of_keys("http://issuer.example.com/openid/v1/jwks") ==
        "jwksURI requires https scheme, parsed as: http://issuer.example.com/openid/v1/jwks");
  CHECK(of_keys("issuer.example.com/openid/v1/jwks") ==
        "jwksURI requires https scheme, parsed as: issuer.example.com/openid/v1/jwks");
  CHECK(of_keys("issuer/openid/v1/jwks") ==
        "jwksURI requires https scheme, parsed as: issuer/openid/v1/jwks");
  // Row 70 of docs/security.md.
  CHECK(of_keys("https://[192.0.2.1]/jwks") ==
        R"(parse "https://[192.0.2.1]/jwks": invalid IP-literal)");
  CHECK(of_issuer("https://a:1:2") == R"(parse "https://a:1:2": invalid port ":1:2" after host)");
  const auto at = [](const std::string& address) {
    return ErrorOf({.issuer = kExample, .external_address = address, .keys = kKeys});
  };
  const auto not_at = [](const std::string& address, const std::string& why) {
    return "attempted to build jwks_uri from external address " + address +
           ", but could not construct a valid URL. Error: " + why;
  };
  CHECK(at("https://192.0.2.1:80") ==
        not_at("https://192.0.2.1:80",
               R"(parse "https://https:%2F%2F192.0.2.1:80/openid/v1/jwks": )"
               R"(invalid port ":%2F%2F192.0.2.1:80" after host)"));
  CHECK(at("me@192.0.2.1") == not_at("me@192.0.2.1",
                                     R"(parse "https://me%40192.0.2.1/openid/v1/jwks": )"
                                     R"(invalid URL escape "%40")"));
  CHECK(ErrorOf({.issuer = kExample, .keys = kKeys}) ==
        "either the JWKS URI or the default external address, or both, must be set");
  CHECK_FALSE(ErrorOf({.issuer = kExample, .jwks_uri = kExampleKeys, .keys = ""}).empty());
}

TEST_CASE("authn: what an issuer publishes of its keys is read back as those keys", "[authn]") {
  const auto published = ParseJwkSet(kKeyset);
  REQUIRE(published.ok());
  REQUIRE(published->keys.size() == 2);
  for (const Jwk& jwk : published->keys) CHECK(jwk.id == jwk.key.KeyId());
}

// authentication_test.go TestBuiltInAuthenticationOptionsValidation, its rows on service accounts.
TEST_CASE("authn: an issuer with a colon is a URL, a place for keys an https one", "[authn]") {
  CHECK(CheckServiceAccountIssuer("kubernetes").ok());
  CHECK(CheckServiceAccountIssuer("http://foo.bar.com").ok());
  CHECK(CheckServiceAccountIssuer("").message() ==
        "service-account-issuer should not be an empty string");
  CHECK(CheckServiceAccountIssuer("http://[::1]:namedport").message() ==
        "service-account-issuer \"http://[::1]:namedport\" contained a ':' but was not a valid "
        "URL: parse \"http://[::1]:namedport\": invalid port \":namedport\" after host");
  CHECK(CheckJwksUri("https://host/keys").ok());
  CHECK(CheckJwksUri("https://host:port").message() ==
        "service-account-jwks-uri must be a valid URL: parse \"https://host:port\": invalid port "
        "\":port\" after host");
  CHECK(CheckJwksUri("http://baz.com").message() ==
        "service-account-jwks-uri requires https scheme, parsed as: http://baz.com");
}

}  // namespace apiserver::inline v0::authn
