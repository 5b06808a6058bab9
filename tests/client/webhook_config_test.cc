#include "apiserver/client/webhook_config.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/tls.h"

namespace apiserver::inline v0::client {
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

// Row 70: spellings that hide a host. As upstream, an address is a host like another, however it is
// spelt: who may write webhook configurations is trusted with where they lead, and no redirect is
// followed.
TEST_CASE("client: a webhook's URL has one reading of its host", "[client]") {
  const auto errors = [](const std::string& url) {
    return ValidateWebhookURL(field::Path("u"), url).Aggregate();
  };
  const std::string form = "; desired format: https://host[/path]";
  for (const std::string url :
       {"https://127.0.0.1/", "https://127.1/", "https://0177.0.0.1/", "https://2130706433/",
        "https://0x7f000001/", "https://169.254.169.254/latest/", "https://localhost./",
        "https://[::ffff:169.254.169.254]/", "https://[fe80::1%25eth0]/",
        "https://[fe80::1]:8443/"}) {
    CAPTURE(url);
    CHECK(errors(url).empty());
  }
  const auto unreadable = [&](const std::string& url, const std::string& why) {
    return "u: Required value: url must be a valid URL: parse \"" + url + "\": " + why + form;
  };
  const std::string user = ": user information is not permitted in the URL";
  CHECK(errors("https://a.test@169.254.169.254/") == "u: Invalid value: \"a.test\"" + user);
  CHECK(errors("https://a.test:443@169.254.169.254/") == "u: Invalid value: \"a.test:443\"" + user);
  CHECK(errors("https://@169.254.169.254/").find(user) != std::string::npos);
  CHECK(errors("https://[fe80::1%eth0]/") ==
        unreadable("https://[fe80::1%eth0]/", "invalid URL escape \"%et\""));
  CHECK(errors("https://%31%36%39.254.169.254/") ==
        unreadable("https://%31%36%39.254.169.254/", "invalid URL escape \"%31\""));
  CHECK(errors("https://a.test\\@169.254.169.254/").find("net/url: invalid userinfo") !=
        std::string::npos);
  CHECK(errors("https://a test/") ==
        unreadable("https://a test/", "invalid character \" \" in host name"));
  CHECK(errors("https://[::1]169.254.169.254/") ==
        unreadable("https://[::1]169.254.169.254/", "invalid port \"169.254.169.254\" after host"));
  for (const std::string url : {"https:/169.254.169.254/", "https:169.254.169.254", "https:///x",
                                "//169.254.169.254/", "file:///etc/passwd", "javascript:x"}) {
    CAPTURE(url);
    CHECK(!errors(url).empty());
  }
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
}  // namespace apiserver::inline v0::client
