// Row 29 of docs/security.md: origins that look like those that are allowed.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/testing/server/test_server.h"

namespace apiserver::inline v0::security {
namespace {

constexpr char kAllowOrigin[] = "Access-Control-Allow-Origin";

Result<std::unique_ptr<testing::TestServer>> ServerFor(std::vector<std::string> origins) {
  testing::TestServerOptions options;
  options.configure = [&origins](server::Config& config) {
    config.cors_allowed_origins = std::move(origins);
  };
  return testing::StartTestServer(std::move(options));
}

bool SaysCors(const http::ClientResponse& answer) {
  for (const auto& [name, value] : answer.headers) {
    if (name.starts_with("Access-Control-") || name.starts_with("access-control-")) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("security: row 29, CVE-2022-1996: origins matched in part", "[security]") {
  const auto server =
      ServerFor({"^https://example\\.com(:[0-9]+)?$", "//trusted\\.example\\.org(:|$)"}).value();
  for (const std::string origin :
       {"https://example.com", "https://example.com:8443", "http://trusted.example.org",
        "https://trusted.example.org:8443"}) {
    CAPTURE(origin);
    const auto answer = server->Call("GET", "/version", "", {{"Origin", origin}});
    CHECK(answer.code == 200);
    CHECK(answer.headers.Get(kAllowOrigin) == origin);
    // A preflight request carries no credentials; these would be refused.
    const auto preflight = server->Call("OPTIONS", "/version", "",
                                        {{"Origin", origin}, {"Authorization", "Bearer x"}});
    CHECK(preflight.code == 204);
    CHECK(preflight.headers.Get(kAllowOrigin) == origin);
  }
  for (const std::string origin : {"https://a.example.com.evil",
                                   "https://example.com.evil",
                                   "https://a.example.com",
                                   "https://evilexample.com",
                                   "https://examplescom",
                                   "https://example.com@evil",
                                   "https://example.com:8443.evil",
                                   "https://example.com:",
                                   "https://example.com/",
                                   "http://example.com",
                                   "https://EXAMPLE.com",
                                   "HTTPS://example.com",
                                   "null",
                                   "NULL",
                                   "*",
                                   "https://",
                                   "example.com",
                                   "https://evil https://example.com",
                                   "https://example.com https://evil",
                                   "https://trusted.example.org.evil",
                                   "https://a.trusted.example.org",
                                   "https://Trusted.example.org",
                                   "https://trusted.example.org.evil:8443",
                                   "https://trustedxexample.org",
                                   "file://"}) {
    CAPTURE(origin);
    const auto answer = server->Call("GET", "/version", "", {{"Origin", origin}});
    CHECK(answer.code == 200);
    CHECK_FALSE(SaysCors(answer));
    const auto preflight = server->Call("OPTIONS", "/version", "",
                                        {{"Origin", origin}, {"Authorization", "Bearer x"}});
    CHECK(preflight.code == 401);
    CHECK_FALSE(SaysCors(preflight));
  }
}

TEST_CASE("security: row 29, CVE-2022-1996: of two origins only an allowed one is answered",
          "[security]") {
  const auto server = ServerFor({"^https://example\\.com$"}).value();

  CHECK_FALSE(SaysCors(
      server->Call("GET", "/version", "",
                   {{"Origin", "https://example.com.evil"}, {"Origin", "https://example.com"}})));
  CHECK(server
            ->Call("GET", "/version", "",
                   {{"Origin", "https://example.com"}, {"Origin", "https://example.com.evil"}})
            .headers.GetAll(kAllowOrigin) == std::vector<std::string_view>{"https://example.com"});
  CHECK_FALSE(SaysCors(server->Call("GET", "/version")));
}

TEST_CASE("security: row 29, CVE-2022-1996: a list without anchors starts no server",
          "[security]") {
  for (const char* origins : {"example.com", "//example.com", "example.com$", "example.com(:|$)"}) {
    CAPTURE(origins);
    CHECK(ServerFor({origins}).status().reason() == Reason::kInvalid);
  }
}

}  // namespace apiserver::inline v0::security
