#include "apiserver/client/webhook_config.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/tls.h"

namespace apiserver::client {
namespace {

// TestDefaultServiceResolver.
TEST_CASE("client: a service is found by its name in the cluster", "[client]") {
  const ServiceResolver& resolver = DefaultServiceResolver();
  CHECK(resolver.ResolveEndpoint("andromeda", "ross", 443).value() == "ross.andromeda.svc:443");
  CHECK(resolver.ResolveEndpoint("andromeda", "ross", 1002).value() == "ross.andromeda.svc:1002");
  for (const auto& [namespace_, name, port] :
       std::vector<std::tuple<std::string, std::string, int>>{
           {"", "ross", 443}, {"andromeda", "", 443}, {"andromeda", "ross", 0}}) {
    CHECK(resolver.ResolveEndpoint(namespace_, name, port).status() ==
          Status(Reason::kInvalid, "cannot resolve an empty service name or namespace"));
  }
}

class FixedResolver final : public ServiceResolver {
 public:
  Result<std::string> ResolveEndpoint(std::string_view, std::string_view, int) const override {
    return std::string("10.0.0.7:8443");
  }
};

TEST_CASE("client: a webhook's service is called by its name, wherever it is", "[client]") {
  const auto target =
      TargetOf({.service = WebhookService{.namespace_ = "ns", .name = "hook", .path = "/a"},
                .ca_bundle = "PEM"},
               FixedResolver());
  REQUIRE(target.ok());
  CHECK(target->url == "https://hook.ns.svc:443/a");
  CHECK(target->options.address == "10.0.0.7:8443");
  CHECK(target->options.tls.server_name == "hook.ns.svc");
  CHECK(target->options.tls.ca_pem == "PEM");

  CHECK(TargetOf({.service = WebhookService{.namespace_ = "ns", .name = "hook", .port = 0}})->url ==
        "https://hook.ns.svc:443/");
  const auto url = TargetOf({.url = "https://a.test/b"});
  CHECK(url->url == "https://a.test/b");
  CHECK(url->options.address.empty());
  CHECK(url->options.tls.server_name.empty());
  CHECK(TargetOf({}).status() ==
        Status(Reason::kInvalid, "webhook configuration must have either service or URL"));
}

// Row 70 of docs/security.md.
TEST_CASE("client: a webhook's URL is https, with a host and a path and nothing else", "[client]") {
  const std::string form = "; desired format: https://host[/path]";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"https://a.test", ""},
      {"https://a.test:8443/x/y", ""},
      {"HTTPS://[::1]:8443/", ""},
      {"http://a.test",
       "u: Invalid value: \"http\": 'https' is the only allowed URL scheme" + form},
      {"a.test/x", "[u: Invalid value: \"\": 'https' is the only allowed URL scheme" + form +
                       ", u: Invalid value: \"\": host must be specified" + form + "]"},
      {"https://", "u: Invalid value: \"\": host must be specified" + form},
      {"https://me@a.test",
       "u: Invalid value: \"me\": user information is not permitted in the URL"},
      {"https://a.test/#x", "u: Invalid value: \"x\": fragments are not permitted in the URL"},
      {"https://a.test/?x=1",
       "u: Invalid value: \"x=1\": query parameters are not permitted in the URL"},
      {"https://a.test:x/",
       "u: Required value: url must be a valid URL: parse \"https://a.test:x/\": invalid port "
       "\":x\" after host" +
           form},
      {"https://[::1",
       "u: Required value: url must be a valid URL: parse \"https://[::1\": "
       "missing ']' in host" +
           form},
      {":x",
       "u: Required value: url must be a valid URL: parse \":x\": missing protocol scheme" + form},
      {"https://a.test/\n",
       "u: Required value: url must be a valid URL: parse "
       "\"https://a.test/\\n\": net/url: invalid control character in URL" +
           form},
  };
  for (const auto& [url, errors] : cases) {
    CHECK(ValidateWebhookURL(field::Path("u"), url).Aggregate() == errors);
  }
  CHECK(ValidateWebhookURL(field::Path("u"), "http://a.test", false).empty());
}

TEST_CASE("client: a webhook's service has a name, a namespace, a port and a path of names",
          "[client]") {
  const auto errors = [](const std::string& path) {
    return ValidateWebhookService(field::Path("s"), "ns", "hook", path, 443).Aggregate();
  };
  CHECK(ValidateWebhookService(field::Path("s"), "", "", std::nullopt, 65536).Aggregate() ==
        "[s.name: Required value, s.namespace: Required value, s.port: Invalid value: 65536: port "
        "is not valid: must be between 1 and 65535, inclusive]");
  for (const std::string path :
       {"", "/", "/foo", "/foo/bar", "/foo/bar/", "/apis/foo.bar/v1alpha1"}) {
    CHECK(errors(path).empty());
  }
  CHECK(errors("//") == "s.path: Invalid value: \"//\": segment[0] may not be empty");
  CHECK(errors("foo/") == "s.path: Invalid value: \"foo/\": must start with a '/'");
  CHECK(errors("/foo//bar") == "s.path: Invalid value: \"/foo//bar\": segment[1] may not be empty");
  CHECK(errors("/foo/bar//") ==
        "s.path: Invalid value: \"/foo/bar//\": segment[2] may not be empty");
  CHECK(errors("/apis/foo.bar/v1alpha1*")
            .find("s.path: Invalid value: \"/apis/foo.bar/v1alpha1*\": segment[2]: a lowercase RFC "
                  "1123 "
                  "subdomain must consist of") == 0);
}

// TestValidateCABundle.
TEST_CASE("client: a CA bundle is empty or has certificates", "[client]") {
  const auto ca = http::NewCertificateAuthority("ca", RealClock()).value();
  CHECK(ValidateCABundle(field::Path("c"), "").empty());
  CHECK(ValidateCABundle(field::Path("c"), ca.certificate_pem).empty());
  for (const std::string bad : {"bogus", "Cg=="}) {
    CHECK(ValidateCABundle(field::Path("c"), bad).size() == 1);
  }
}

}  // namespace
}  // namespace apiserver::client
