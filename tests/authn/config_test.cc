#include "apiserver/authn/config.h"

#include <catch2/catch.hpp>

#include "apiserver/base/clock.h"
#include "apiserver/http/tls.h"

namespace apiserver::inline v0::authn {
namespace {

// The configuration that most of upstream's cases begin with.
JwtAuthenticator Valid() {
  return {.issuer = {.url = "https://issuer-url", .audiences = {"audience"}},
          .claim_validation_rules = {{.claim = "foo", .required_value = "bar"}},
          .claim_mappings = {.username = {.claim = "sub", .prefix = "prefix"}}};
}

std::string Validate(const std::vector<JwtAuthenticator>& jwt,
                     const std::vector<std::string>& disallowed = {}) {
  return ValidateAuthenticationConfiguration({.jwt = jwt}, disallowed).Aggregate();
}

std::string ValidateIssuer(Issuer issuer, const std::vector<std::string>& disallowed = {}) {
  JwtAuthenticator one = Valid();
  if (issuer.audiences.empty()) issuer.audiences = {"audience"};
  one.issuer = std::move(issuer);
  return Validate({one}, disallowed);
}

std::string ValidateMappings(ClaimMappings mappings) {
  JwtAuthenticator one = Valid();
  if (mappings.username == PrefixedClaimOrExpression{}) {
    mappings.username = {.claim = "claim", .prefix = "prefix"};
  }
  one.claim_mappings = std::move(mappings);
  return Validate({one});
}

std::string ValidateRules(std::vector<ClaimValidationRule> rules) {
  JwtAuthenticator one = Valid();
  one.claim_validation_rules = std::move(rules);
  return Validate({one});
}

}  // namespace

// TestValidateAuthenticationConfiguration
TEST_CASE("authn: a configuration is judged in upstream's words", "[authn]") {
  CHECK(Validate({}).empty());
  CHECK(Validate({Valid()}).empty());

  CHECK(Validate({Valid(), Valid()}) ==
        R"(jwt[1].issuer.url: Duplicate value: "https://issuer-url")");

  JwtAuthenticator first = Valid();
  first.issuer.discovery_url = "https://discovery-url/.well-known/openid-configuration";
  JwtAuthenticator second = first;
  second.issuer.url = "https://different-issuer-url";
  CHECK(Validate({first, second}) == R"(jwt[1].issuer.discoveryURL: Duplicate value: )"
                                     R"("https://discovery-url/.well-known/openid-configuration")");

  JwtAuthenticator bad_url = Valid();
  bad_url.issuer.url = "invalid-url";
  CHECK(Validate({bad_url}) ==
        R"(jwt[0].issuer.url: Invalid value: "invalid-url": URL scheme must be https)");

  JwtAuthenticator rules = Valid();
  rules.claim_validation_rules = {{.claim = "foo", .required_value = "bar"},
                                  {.claim = "foo", .required_value = "baz"}};
  CHECK(Validate({rules}) == R"(jwt[0].claimValidationRules[1].claim: Duplicate value: "foo")");

  JwtAuthenticator mapping = Valid();
  mapping.claim_mappings.username = {.prefix = "prefix"};
  CHECK(Validate({mapping}) ==
        "jwt[0].claimMappings.username: Required value: claim or expression is required");

  CHECK(Validate({Valid()}, {"a", "b", "https://issuer-url", "c"}) ==
        R"(jwt[0].issuer.url: Invalid value: "https://issuer-url": URL must not overlap with )"
        "disallowed issuers: [a b c https://issuer-url]");

  JwtAuthenticator egress = Valid();
  egress.issuer.egress_selector_type = "panda";
  CHECK(Validate({egress}) ==
        R"(jwt[0].issuer.egressSelectorType: Invalid value: "panda": egress selector must be )"
        "either controlplane or cluster");
}

TEST_CASE("authn: more issuers than 64 are too many", "[authn]") {
  std::vector<JwtAuthenticator> many;
  for (int i = 0; i < 65; ++i) {
    many.push_back(Valid());
    many.back().issuer.url += std::to_string(i);
  }
  CHECK(Validate(many) == "jwt: Too many: 65: must have at most 64 items");
  many.pop_back();
  CHECK(Validate(many).empty());
}

TEST_CASE("authn: what this server cannot do is refused, with its field", "[authn]") {
  for (const char* type : {"controlplane", "cluster"}) {
    JwtAuthenticator egress = Valid();
    egress.issuer.egress_selector_type = type;
    CHECK(Validate({egress}) ==
          "jwt[0].issuer.egressSelectorType: Forbidden: egress selectors are not supported by this "
          "server; leave it out");
  }
}

// TestValidateIssuerURL
TEST_CASE("authn: an issuer's URL is https and nothing but a URL", "[authn]") {
  CHECK(ValidateIssuer({.url = ""}) == "jwt[0].issuer.url: Required value");
  for (const auto& [url, why] : std::vector<std::pair<std::string, std::string>>{
           {"https://issuer-url:invalid-port",
            R"(parse "https://issuer-url:invalid-port": invalid port ":invalid-port" after host)"},
           {"http://issuer-url", "URL scheme must be https"},
           {"https://user:pass@issuer-url", "URL must not contain a username or password"},
           {"https://issuer-url?query", "URL must not contain a query"},
           {"https://issuer-url#fragment", "URL must not contain a fragment"}}) {
    CAPTURE(url);
    CHECK(ValidateIssuer({.url = url}) ==
          "jwt[0].issuer.url: Invalid value: \"" + url + "\": " + why);
  }
  CHECK(ValidateIssuer({.url = "https://issuer-url"}).empty());
}

// TestValidateIssuerDiscoveryURL
TEST_CASE("authn: a discovery URL is https and not the issuer's", "[authn]") {
  const auto validate = [](const std::string& discovery, const std::string& issuer = "https://i") {
    return ValidateIssuer({.url = issuer, .discovery_url = discovery});
  };
  CHECK(validate("").empty());
  CHECK(validate("https://oidc.oidc-namespace.svc").empty());
  CHECK(validate("https://oidc.oidc-namespace.svc/path").empty());
  const std::string at = "jwt[0].issuer.discoveryURL: Invalid value: ";
  for (const auto& [url, why] : std::vector<std::pair<std::string, std::string>>{
           {"https://oidc.oidc-namespace.svc:invalid-port",
            R"(parse "https://oidc.oidc-namespace.svc:invalid-port": )"
            R"(invalid port ":invalid-port" after host)"},
           {"http://oidc.oidc-namespace.svc", "URL scheme must be https"},
           {"https://user:pass@oidc.oidc-namespace.svc",
            "URL must not contain a username or password"},
           {"https://oidc.oidc-namespace.svc?query", "URL must not contain a query"},
           {"https://oidc.oidc-namespace.svc#fragment", "URL must not contain a fragment"}}) {
    CAPTURE(url);
    CHECK(validate(url) == at + "\"" + url + "\": " + why);
  }
  for (const char* url : {"https://issuer-url", "https://issuer-url/", "https://issuer-url///"}) {
    CHECK(validate(url, "https://issuer-url") ==
          at + "\"" + url + "\": discoveryURL must be different from URL");
  }
  CHECK(validate("https://issuer-url", "https://issuer-url/") ==
        at + "\"https://issuer-url\": discoveryURL must be different from URL");
}

// Row 70 of docs/security.md.
TEST_CASE("authn: the URL of an issuer and of its discovery has one reading", "[authn]") {
  const std::string user = "URL must not contain a username or password";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"https://[::1]:8443/x", ""},
      {"https://[fe80::1%25eth0]/", ""},
      {"HTTPS://issuer.test", ""},
      {"https://issuer.test@169.254.169.254/", user},
      {"https://@issuer.test", user},
      {"https:/issuer.test?x", "URL must not contain a query"},
      {"//issuer.test", "URL scheme must be https"},
      {"https://[169.254.169.254]/", R"(parse "https://[169.254.169.254]/": invalid IP-literal)"},
      {"https://[issuer.test]/",
       R"(parse "https://[issuer.test]/": invalid host: ParseAddr("issuer.test"): )"
       R"(unexpected character (at "issuer.test"))"},
      {"https://[::1", R"(parse "https://[::1": missing ']' in host)"},
      {"https://[fe80::1%eth0]/", R"(parse "https://[fe80::1%eth0]/": invalid URL escape "%et")"},
      {"https://issuer.test:1:2", R"(parse "https://issuer.test:1:2": )"
                                  R"(invalid port ":1:2" after host)"},
      {"https://%69ssuer.test", R"(parse "https://%69ssuer.test": invalid URL escape "%69")"},
      {"https://a^@b/", R"(parse "https://a^@b/": net/url: invalid userinfo)"},
  };
  for (const auto& [url, why] : cases) {
    CAPTURE(url);
    const std::string found = ": Invalid value: \"" + url + "\": " + why;
    CHECK(ValidateIssuer({.url = url}) == (why.empty() ? "" : "jwt[0].issuer.url" + found));
    CHECK(ValidateIssuer({.url = "https://i", .discovery_url = url}) ==
          (why.empty() ? "" : "jwt[0].issuer.discoveryURL" + found));
  }
}

// TestValidateAudiences
TEST_CASE("authn: several audiences need a policy", "[authn]") {
  const auto validate = [](std::vector<std::string> audiences, const std::string& policy = "") {
    JwtAuthenticator one = Valid();
    one.issuer.audiences = std::move(audiences);
    one.issuer.audience_match_policy = policy;
    return Validate({one});
  };
  CHECK(
      validate({}) ==
      "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required");
  CHECK(validate({""}) == "jwt[0].issuer.audiences[0]: Required value");
  CHECK(validate({"audience"}, "MatchExact") ==
        R"(jwt[0].issuer.audienceMatchPolicy: Invalid value: "MatchExact": )"
        "audienceMatchPolicy must be empty or MatchAny for single audience");
  CHECK(validate({"audience"}).empty());
  CHECK(validate({"audience"}, "MatchAny").empty());
  CHECK(validate({"audience", "audience"}, "MatchAny") ==
        R"(jwt[0].issuer.audiences[1]: Duplicate value: "audience")");
  CHECK(validate({"audience1", "audience2"}) ==
        R"(jwt[0].issuer.audienceMatchPolicy: Invalid value: "": )"
        "audienceMatchPolicy must be MatchAny for multiple audiences");
  CHECK(validate({"audience1", "audience2"}, "MatchAny").empty());
}

// TestValidateCertificateAuthority
TEST_CASE("authn: an issuer's authority is certificates, and never shown", "[authn]") {
  CHECK(ValidateIssuer({.url = "https://i", .certificate_authority = "invalid"}) ==
        R"(jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": )"
        "data does not contain any valid RSA or ECDSA certificates");
  const auto authority = http::NewCertificateAuthority("test-ca", RealClock());
  CHECK(ValidateIssuer({.url = "https://i", .certificate_authority = authority->certificate_pem}) ==
        "");
}

// TestValidateClaimValidationRules, those without expressions
TEST_CASE("authn: a claim rule names a claim once", "[authn]") {
  CHECK(ValidateRules({{}}) ==
        "jwt[0].claimValidationRules[0]: Required value: claim or expression is required");
  CHECK(ValidateRules({{.claim = "claim", .expression = "expression"}}) ==
        R"(jwt[0].claimValidationRules[0]: Invalid value: "claim": )"
        "claim and expression can't both be set");
  CHECK(ValidateRules({{.claim = "claim", .message = "message"}}) ==
        R"(jwt[0].claimValidationRules[0].message: Invalid value: "message": )"
        "may not be specified when claim is set");
  CHECK(ValidateRules({{.claim = "claim"}, {.claim = "claim"}}) ==
        R"(jwt[0].claimValidationRules[1].claim: Duplicate value: "claim")");
}

// TestValidateClaimMappings, those without expressions
TEST_CASE("authn: a claim mapping names its claim and its prefix", "[authn]") {
  const std::string at = "jwt[0].claimMappings.";
  const std::string prefix =
      "Required value: prefix is required when claim is set. It can be set to an empty string to "
      "disable prefixing";
  CHECK(ValidateMappings({.username = {.claim = "claim", .expression = "claims.username"}}) ==
        at + R"(username: Invalid value: "": claim and expression can't both be set)");
  CHECK(ValidateMappings({.username = {.claim = "claim"}}) == at + "username.prefix: " + prefix);
  CHECK(ValidateMappings({.groups = {.claim = "claim", .expression = "claims.groups"}}) ==
        at + R"(groups: Invalid value: "": claim and expression can't both be set)");
  CHECK(ValidateMappings({.groups = {.claim = "claim"}}) == at + "groups.prefix: " + prefix);
  CHECK(ValidateMappings({.uid = {.claim = "claim", .expression = "claims.uid"}}) ==
        at + R"(uid: Invalid value: "": claim and expression can't both be set)");
  CHECK(ValidateMappings({.groups = {.claim = "claim", .prefix = ""}, .uid = {.claim = "u"}}) ==
        "");
  CHECK(ValidateMappings({.groups = {.prefix = "p", .expression = "e"}}) ==
        "[" + at +
            R"(groups.prefix: Invalid value: "p": may not be specified when expression is set, )" +
            at +
            R"(groups.expression: Invalid value: "e": compilation failed: ERROR: <input>:1:1: )" +
            "undeclared reference to 'e' (in container '')\n | e\n | ^]");
}

// TestValidateClaimMappings, the keys of extras
TEST_CASE("authn: the key of an extra is a lower-case path of a domain of one's own", "[authn]") {
  const auto validate = [](const std::string& key) {
    const std::string errors = ValidateMappings({.extra = {{key, ""}}});
    const std::string missing = "jwt[0].claimMappings.extra[0].valueExpression: Required value";
    if (errors == missing) return std::string();
    // "[<complaints>, <missing>]"
    return errors.substr(1, errors.size() - missing.size() - 4);
  };
  const std::string at = "jwt[0].claimMappings.extra[0].key: ";
  const std::string reserved =
      ": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
  CHECK(validate("") == at + "Required value");
  CHECK(validate("foo") ==
        at + R"(Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo"))");
  CHECK(validate("example.org/Foo") ==
        at + R"(Invalid value: "example.org/Foo": must be lowercase)");
  for (const std::string key :
       {"k8s.io/foo", "example.k8s.io/foo", "kubernetes.io/foo", "example.kubernetes.io/foo"}) {
    CHECK(validate(key) == at + "Invalid value: \"" + key + "\"" + reserved);
  }
  for (const char* key :
       {"ak8s.io/foo", "example.ak8s.io/foo", "bkubernetes.io/foo", "example.bkubernetes.io/foo"}) {
    CHECK(validate(key).empty());
  }
  CHECK(ValidateMappings({.extra = {{"example.org/foo", ""}, {"example.org/foo", "e"}}}) ==
        "[jwt[0].claimMappings.extra[0].valueExpression: Required value, "
        R"(jwt[0].claimMappings.extra[1].key: Duplicate value: "example.org/foo"])");
}

// TestValidateUserValidationRules, those without expressions
TEST_CASE("authn: a user rule has an expression", "[authn]") {
  JwtAuthenticator one = Valid();
  one.user_validation_rules = {{.expression = ""}};
  CHECK(Validate({one}) == "jwt[0].userValidationRules[0].expression: Required value");
}

TEST_CASE("authn: conditions of anonymous requests need anonymous requests", "[authn]") {
  AuthenticationConfiguration config;
  config.anonymous = AnonymousAuthConfig{.enabled = false, .paths = {"/livez", "/readyz"}};
  CHECK(ValidateAuthenticationConfiguration(config).Aggregate() ==
        R"(anonymous.conditions: Invalid value: [{"Path":"/livez"},{"Path":"/readyz"}]: )"
        "enabled should be set to true when conditions are defined");
  config.anonymous->enabled = true;
  CHECK(ValidateAuthenticationConfiguration(config).empty());
}

// TestLoadFromFile and its siblings ask the like of the file.
TEST_CASE("authn: the file is read in every version, as YAML and as JSON", "[authn]") {
  for (const char* version : {"v1", "v1beta1", "v1alpha1"}) {
    const auto config = ParseAuthenticationConfiguration("apiVersion: apiserver.config.k8s.io/" +
                                                         std::string(version) + R"(
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: https://issuer.example
    discoveryURL: https://discovery.example/.well-known/openid-configuration
    audiences: [a, b]
    audienceMatchPolicy: MatchAny
  claimValidationRules:
  - claim: hd
    requiredValue: example.com
  claimMappings:
    username:
      claim: sub
      prefix: "oidc:"
    groups:
      claim: groups
      prefix: ""
    uid:
      claim: uid
anonymous:
  enabled: true
  conditions:
  - path: /livez
)");
    REQUIRE(config.ok());
    CHECK(*config ==
          AuthenticationConfiguration{
              .jwt = {{.issuer = {.url = "https://issuer.example",
                                  .discovery_url =
                                      "https://discovery.example/.well-known/openid-configuration",
                                  .audiences = {"a", "b"},
                                  .audience_match_policy = "MatchAny"},
                       .claim_validation_rules = {{.claim = "hd", .required_value = "example.com"}},
                       .claim_mappings = {.username = {.claim = "sub", .prefix = "oidc:"},
                                          .groups = {.claim = "groups", .prefix = ""},
                                          .uid = {.claim = "uid"}}}},
              .anonymous = AnonymousAuthConfig{.enabled = true, .paths = {"/livez"}}});
  }
  const auto json = ParseAuthenticationConfiguration(
      R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthenticationConfiguration",)"
      R"("jwt":[]})");
  REQUIRE(json.ok());
  CHECK(*json == AuthenticationConfiguration{});
}

TEST_CASE("authn: what is wrong in the file is said with its line", "[authn]") {
  const auto refusal = [](const std::string& rest) {
    const auto config = ParseAuthenticationConfiguration(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n" + rest);
    CHECK(config.status().reason() == Reason::kInvalid);
    return std::string(config.status().message());
  };
  CHECK(refusal("jwts: []\n") ==
        "line 3: jwts is no field here; known are apiVersion, kind, jwt, anonymous");
  CHECK(refusal("jwt: 7\n") == "line 3: jwt must be a list");
  CHECK(refusal("jwt:\n- issuer:\n    url: http://a\n    audiences: [a]\n"
                "  claimMappings:\n    username: {claim: sub, prefix: ''}\n") ==
        R"(line 5: jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https)");
  CHECK(refusal("anonymous:\n  enabled: maybe\n") ==
        "line 4: anonymous.enabled must be true or false");
  CHECK(ParseAuthenticationConfiguration("kind: Pod\napiVersion: v1\n").status().message() ==
        "line 1: kind is \"Pod\"; use AuthenticationConfiguration; line 2: apiVersion is \"v1\"; "
        "use apiserver.config.k8s.io/v1, apiserver.config.k8s.io/v1beta1, "
        "apiserver.config.k8s.io/v1alpha1");
}

}  // namespace apiserver::inline v0::authn
