#include "authn/jwt.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>

#include "authn/signed_tokens.h"
#include "text/base64.h"

// Row 65 of docs/security.md: CVE-2024-28180, CVE-2025-30204, CVE-2024-51744, CVE-2016-9122 and
// their relatives. What an issuer's audience and times say is in tests/authn/oidc_test.cc.
namespace apiserver::inline v0::authn {
namespace {

using std::string_literals::operator""s;

constexpr std::string_view kClaims = R"({"iss":"https://a","sub":"admin","exp":9999999999})";

constexpr SigningAlgorithm kEvery[] = {SigningAlgorithm::kRs256, SigningAlgorithm::kRs384,
                                       SigningAlgorithm::kRs512, SigningAlgorithm::kPs256,
                                       SigningAlgorithm::kPs384, SigningAlgorithm::kPs512,
                                       SigningAlgorithm::kEs256, SigningAlgorithm::kEs384,
                                       SigningAlgorithm::kEs512, SigningAlgorithm::kEdDsa};

// Far above what a verification takes, sanitizers included, and far below what an attack wants.
constexpr std::chrono::milliseconds kBounded(250);

std::vector<Jwk> Known() {
  return {{RsaKey().public_key(), "rsa"}, {P256Key().public_key(), "ec"}};
}

// As an authenticator does it.
bool Accepted(std::string_view token, const std::vector<Jwk>& known = Known()) {
  const auto jwt = ParseJwt(token);
  return jwt.ok() && VerifySignature(*jwt, kEvery, known).ok();
}

std::string PemOfPublic(EVP_PKEY* key) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PUBKEY(bio.get(), key);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string DerOfPublic(EVP_PKEY* key) {
  std::string der(static_cast<std::size_t>(i2d_PUBKEY(key, nullptr)), '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(der.data());
  i2d_PUBKEY(key, &bytes);
  return der;
}

// The forms in which a public key is about, each of which a confused verifier could take for the
// secret.
std::vector<std::string> FormsOf(EVP_PKEY* raw, const SigningKey& key) {
  const std::string pem = PemOfPublic(raw);
  return {pem,
          pem.substr(0, pem.size() - 1),
          DerOfPublic(raw),
          *text::DecodeBase64Url(key.public_key().ToJwk().n),
          key.public_key().KeyId(),
          JwkText(key.public_key(), "rsa")};
}

std::string HmacSha256(std::string_view secret, std::string_view input) {
  std::string mac(32, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(input.data()), input.size(),
       reinterpret_cast<unsigned char*>(mac.data()), &size);
  return mac;
}

// Processor time of this thread.
std::chrono::nanoseconds Used() {
  timespec used{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// Processor time of the best of several, as others use the machine too.
template <class Work>
std::chrono::nanoseconds Fastest(Work work) {
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) {
    const auto begin = Used();
    work();
    best = std::min<std::chrono::nanoseconds>(best, Used() - begin);
  }
  return best;
}

}  // namespace

TEST_CASE("security 65: the corpus's honest token is accepted", "[security]") {
  CHECK(Accepted(*SignJwt(RsaKey(), SigningAlgorithm::kRs256, "rsa", kClaims)));
  CHECK(Accepted(*SignJwt(P256Key(), SigningAlgorithm::kEs256, "ec", kClaims)));
}

TEST_CASE("security 65: alg none in any spelling is refused", "[security]") {
  for (const char* alg : {"none", "None", "NONE", "nOnE", "", "null"}) {
    CAPTURE(alg);
    const std::string header = std::string(R"({"alg":")") + alg + R"(","kid":"rsa"})";
    CHECK_FALSE(Accepted(RawToken(header, kClaims, "")));
    CHECK_FALSE(Accepted(RawToken(header, kClaims, "x")));
  }
  CHECK_FALSE(Accepted(RawToken(R"({"kid":"rsa"})", kClaims, "x")));
  CHECK_FALSE(Accepted(RawToken(R"({"alg":null,"kid":"rsa"})", kClaims, "x")));
  CHECK_FALSE(Accepted(RawToken(R"({"alg":["RS256"],"kid":"rsa"})", kClaims, "x")));
}

TEST_CASE("security 65: HS256 with the RSA public key is refused", "[security]") {
  const std::shared_ptr<EVP_PKEY> raw(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}),
                                      EVP_PKEY_free);
  const SigningKey key = SigningKey::Of(raw).value();
  const std::vector<Jwk> known = {{key.public_key(), "rsa"}};
  REQUIRE(Accepted(*SignJwt(key, SigningAlgorithm::kRs256, "rsa", kClaims), known));
  for (const char* alg : {"HS256", "RS256", "PS256"}) {
    CAPTURE(alg);
    const std::string header = std::string(R"({"alg":")") + alg + R"(","kid":"rsa"})";
    const std::string input = Base64Url(header) + "." + Base64Url(kClaims);
    for (const std::string& secret : FormsOf(raw.get(), key)) {
      CHECK_FALSE(Accepted(input + "." + Base64Url(HmacSha256(secret, input)), known));
    }
  }
}

TEST_CASE("security 65: another algorithm than the key's is refused", "[security]") {
  // Signed by the right key, under the name of another algorithm.
  const std::string rsa_as_ec = SignedWithHeader(RsaKey(), R"({"alg":"ES256"})", kClaims);
  const std::string rsa_as_pss = SignedWithHeader(RsaKey(), R"({"alg":"PS256"})", kClaims);
  const std::string ec_as_rsa = SignedWithHeader(P256Key(), R"({"alg":"RS256"})", kClaims);
  const std::string ec_as_other = SignedWithHeader(P256Key(), R"({"alg":"ES384"})", kClaims);
  for (const std::string& token : {rsa_as_ec, rsa_as_pss, ec_as_rsa, ec_as_other}) {
    CHECK_FALSE(Accepted(token));
  }
}

TEST_CASE("security 65: an ES256 signature of zeros, or of the order, is refused", "[security]") {
  // CVE-2022-21449. The order of P-256 is zero to whoever reduces it.
  const std::string order = *text::DecodeBase64Url("_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE");
  const std::string zero(32, '\0');
  const std::string one = std::string(31, '\0') + '\x01';
  const std::string header = R"({"alg":"ES256","kid":"ec"})";
  for (const std::string& r : {zero, one, order}) {
    for (const std::string& s : {zero, one, order}) {
      CHECK_FALSE(Accepted(RawToken(header, kClaims, r + s)));
    }
  }
}

TEST_CASE("security 65: an ECDSA signature of another form is refused", "[security]") {
  const std::string token = *SignJwt(P256Key(), SigningAlgorithm::kEs256, "ec", kClaims);
  const std::size_t dot = token.rfind('.');
  const std::string input = token.substr(0, dot);
  const std::string raw = *text::DecodeBase64Url(token.substr(dot + 1));
  for (const std::string& signature :
       {raw + '\0', '\0' + raw, raw.substr(0, 63), raw + raw, std::string(), raw.substr(32)}) {
    CHECK_FALSE(Accepted(input + "." + Base64Url(signature)));
  }
}

TEST_CASE("security 65: a key id is compared and nothing else", "[security]") {
  for (const char* kid : {"../../../dev/null", "/proc/self/environ", "rsa' OR '1'='1", "*",
                          "rsa\\u0000", "https://evil.example/keys", "RSA", " rsa"}) {
    CAPTURE(kid);
    const std::string header = std::string(R"({"alg":"RS256","kid":")") + kid + R"("})";
    CHECK_FALSE(Accepted(SignedWithHeader(RsaKey(), header, kClaims)));
  }
  CHECK_FALSE(Accepted(SignedWithHeader(RsaKey(), R"({"alg":"RS256","kid":["rsa"]})", kClaims)));
}

TEST_CASE("security 65: a key that the token brings or points to is never used", "[security]") {
  const SigningKey& attacker = OtherRsaKey();
  const std::string jwk = JwkText(attacker.public_key(), "rsa");
  for (const std::string& member :
       {R"("jwk":)" + jwk, std::string(R"("jku":"https://evil.example/jwks.json")"),
        std::string(R"("x5u":"https://evil.example/cert.pem")"),
        std::string(R"("x5c":["MIIB"])")}) {
    CAPTURE(member);
    const std::string with_kid = R"({"alg":"RS256","kid":"rsa",)" + member + "}";
    const std::string without = R"({"alg":"RS256",)" + member + "}";
    CHECK_FALSE(Accepted(SignedWithHeader(attacker, with_kid, kClaims)));
    CHECK_FALSE(Accepted(SignedWithHeader(attacker, without, kClaims)));
  }
}

TEST_CASE("security 65: a critical header member is refused", "[security]") {
  for (const char* crit : {R"(["exp"])", R"(["b64"])", "[]", "null", "7"}) {
    CAPTURE(crit);
    const std::string header =
        std::string(R"({"alg":"RS256","kid":"rsa","b64":false,"crit":)") + crit + "}";
    CHECK_FALSE(Accepted(SignedWithHeader(RsaKey(), header, kClaims)));
  }
}

TEST_CASE("security 65: duplicate members are refused, in the header and the claims",
          "[security]") {
  const std::string header = R"({"alg":"RS256","kid":"rsa"})";
  CHECK_FALSE(
      Accepted(SignedWithHeader(RsaKey(), R"({"alg":"none","alg":"RS256","kid":"rsa"})", kClaims)));
  CHECK_FALSE(
      Accepted(SignedWithHeader(RsaKey(), R"({"alg":"RS256","kid":"ec","kid":"rsa"})", kClaims)));
  CHECK_FALSE(Accepted(SignedWithHeader(RsaKey(), header, R"({"sub":"jane","sub":"admin"})")));
  CHECK_FALSE(
      Accepted(SignedWithHeader(RsaKey(), header, R"({"a":{"sub":"jane","sub":"admin"}})")));
  CHECK_FALSE(Accepted(SignedWithHeader(RsaKey(), header, R"({"sub":"jane","\u0073ub":"x"})")));
}

TEST_CASE("security 65: several signatures in one token are refused", "[security]") {
  // CVE-2016-9122: the JSON serialization is not spoken at all.
  const std::string good = *SignJwt(RsaKey(), SigningAlgorithm::kRs256, "rsa", kClaims);
  CHECK_FALSE(Accepted(R"({"payload":"e30","signatures":[{"signature":"AA"}]})"));
  CHECK_FALSE(Accepted(good + "." + good));
  CHECK_FALSE(Accepted(good + "." + good.substr(good.rfind('.') + 1)));
  // CVE-2024-28180: nor is JWE, so nothing is ever inflated.
  CHECK_FALSE(
      Accepted(RawToken(R"({"alg":"dir","enc":"A256GCM","zip":"DEF"})", "", "") + ".AA.AA"));
}

TEST_CASE("security 65: padding, white space and other alphabets are refused", "[security]") {
  const std::string good = *SignJwt(RsaKey(), SigningAlgorithm::kRs256, "rsa", kClaims);
  for (const std::string& token :
       {good + "=", good + "==", " " + good, good + " ", good + "\n", good + '\0', "." + good}) {
    CHECK_FALSE(Accepted(token));
  }
}

TEST_CASE("security 65: a million dots cost nothing", "[security]") {
  const std::string dots(1'000'000, '.');
  const std::string short_dots(kTokenBytesMax, '.');
  CHECK_FALSE(Accepted(dots));
  CHECK(Fastest([&] { CHECK_FALSE(Accepted(dots)); }) < kBounded);
  CHECK(Fastest([&] { CHECK_FALSE(Accepted(short_dots)); }) < kBounded);
  CHECK(UntrustedIssuer(dots).empty());
}

TEST_CASE("security 65: claims of 64 KiB are over the limit, and just under it judged quickly",
          "[security]") {
  const std::string header = R"({"alg":"ES256","kid":"ec"})";
  const std::string over = R"({"sub":")" + std::string(64 << 10, 'x') + R"("})";
  CHECK_FALSE(Accepted(SignedWithHeader(P256Key(), header, over)));
  // As many members as fit, nested as deep as may be.
  std::string many = "{";
  for (int i = 0; many.size() < (47 << 10); ++i) many += "\"" + std::to_string(i) + "\":[[]],";
  many += R"("sub":"x"})";
  const std::string token = SignedWithHeader(P256Key(), header, many);
  REQUIRE(token.size() <= kTokenBytesMax);
  CHECK(Accepted(token));
  CHECK(Fastest([&] { CHECK(Accepted(token)); }) < kBounded);
  std::string deep = R"({"a":)" + std::string(20'000, '[') + std::string(20'000, ']') + "}";
  CHECK_FALSE(Accepted(SignedWithHeader(P256Key(), header, deep)));
}

TEST_CASE("security 65: a bad signature is found out at once", "[security]") {
  const SigningKey p521 = NewEcKey("P-521");
  const std::string input = Base64Url(R"({"alg":"ES512"})") + "." + Base64Url(kClaims);
  const std::string token =
      input + "." + Base64Url(p521.Sign(SigningAlgorithm::kEs512, "x").value());
  const auto jwt = ParseJwt(token);
  REQUIRE(jwt.ok());
  const std::vector<Jwk> known = {{p521.public_key(), "a"}};
  CHECK(Fastest([&] { CHECK_FALSE(VerifySignature(*jwt, kEvery, known).ok()); }) < kBounded);
}

TEST_CASE("security 65: keys too weak or too costly are not taken from a key set", "[security]") {
  const auto one = [](const std::string& n, const std::string& e) {
    return ParseJwkSet(R"({"keys":[{"kty":"RSA","n":")" + Base64Url(n) + R"(","e":")" +
                       Base64Url(e) + R"("}]})");
  };
  std::string modulus(256, '\xff');
  CHECK(one(modulus, "\x01\x00\x01"s).ok());
  CHECK_FALSE(one(modulus, "\x01").ok());                              // A signature is itself.
  CHECK_FALSE(one(modulus, "\x02").ok());                              // Even.
  CHECK_FALSE(one(modulus, "\xff\xff\xff\xff\xff\xff\xff\xff").ok());  // Slow.
  CHECK_FALSE(one(std::string(128, '\xff'), "\x01\x00\x01"s).ok());    // 1024 bits.
  CHECK_FALSE(one(std::string(2048, '\xff'), "\x01\x00\x01"s).ok());   // 16384 bits.
  modulus.back() = '\xfe';
  CHECK_FALSE(one(modulus, "\x01\x00\x01"s).ok());  // Even.
}

TEST_CASE("security 65: a point that is not on its curve is no key", "[security]") {
  const std::string zero = Base64Url(std::string(32, '\0'));
  const std::string one = Base64Url(std::string(31, '\0') + '\x01');
  for (const std::string& y : {zero, one}) {
    CHECK_FALSE(ParseJwkSet(R"({"keys":[{"kty":"EC","crv":"P-256","x":")" + one + R"(","y":")" + y +
                            R"("}]})")
                    .ok());
  }
}

}  // namespace apiserver::inline v0::authn
