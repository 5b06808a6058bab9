#include "client/call_target.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace apiserver::inline v0::client {
namespace {

TEST_CASE("client: a URL says where to connect, whom to expect and what to ask for", "[client]") {
  struct Case {
    std::string url, address, base, host, host_line, resource;
  };
  const std::vector<Case> cases = {
      {"https://a.svc", "", "https://a.svc:443", "a.svc", "a.svc", "/"},
      {"https://a.svc:8443/x/y?z=1", "", "https://a.svc:8443", "a.svc", "a.svc:8443", "/x/y?z=1"},
      {"HTTPS://a/x", "", "https://a:443", "a", "a", "/x"},
      {"Http://a", "", "http://a:80", "a", "a", "/"},
      {"http://a?z", "", "http://a:80", "a", "a", "/?z"},
      {"https://a.svc/x", "10.0.0.1:6443", "https://10.0.0.1:6443", "a.svc", "a.svc", "/x"},
      {"https://[::1]:8443/", "a:1", "https://a:1", "::1", "[::1]:8443", "/"},
      {"https://[::1]:8443/x", "", "https://[::1]:8443", "::1", "[::1]:8443", "/x"},
      {"https://a/%2F%20", "b:1", "https://b:1", "a", "a", "/%2F%20"},
  };
  for (const auto& each : cases) {
    INFO(each.url);
    const auto target = ParseCallTarget(each.url, each.address);
    REQUIRE(target.ok());
    CHECK(target->base == each.base);
    CHECK(target->host == each.host);
    CHECK(target->host_line == each.host_line);
    CHECK(target->resource == each.resource);
  }
}

TEST_CASE("client: what is no URL to call is refused with the reason", "[client]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "neither https nor http"},
      {"ftp://a", "neither https nor http"},
      {"https://", "no host"},
      {"https://:1/", "no host"},
      {"https://[::1/", "a bracket is not closed"},
      {"https://a:0/", "the port is no number from 1 to 65535"},
      {"https://a:65536/", "the port is no number from 1 to 65535"},
      {"https://a:1x/", "the port is no number from 1 to 65535"},
      {"https://[::1]x/", "the port is no number from 1 to 65535"},
      {"https://a:/", "the port is no number from 1 to 65535"},
      {"https://me:secret@a/", "it names a user"},
      {"https://a/#b", "it has a fragment"},
      {"https://a/b c", "it has characters that no URL has"},
      {"https://a/\r\nX: y", "it has characters that no URL has"},
  };
  for (const auto& [url, why] : cases) {
    const Status status = ParseCallTarget(url, "").status();
    CHECK(status.reason() == Reason::kInvalid);
    CHECK(status.message() == "cannot call \"" + url + "\": " + why);
  }
  CHECK(ParseCallTarget("https://a", "10.0.0.1").status().message() ==
        "cannot call \"10.0.0.1\": an address is host:port");
}

TEST_CASE("client: a request cannot smuggle", "[client]") {
  const auto check = [](const HttpRequest& request) {
    return std::string(CheckCallHead(request).message());
  };
  CHECK(check({.headers = {{"X-A", "b"}, {"Authorization", "Bearer \xc3\xa9"}}}).empty());
  CHECK(check({.method = "GET / HTTP/1.1\r\nX:"}) == "\"GET / HTTP/1.1\r\nX:\" is no HTTP method");
  CHECK(check({.method = ""}) == "\"\" is no HTTP method");
  CHECK(check({.headers = {{"X-A", "b\r\nX-B: c"}}}) == "header \"X-A\" cannot be sent");
  CHECK(check({.headers = {{"X A", "b"}}}) == "header \"X A\" cannot be sent");
  CHECK(check({.headers = {{"", "b"}}}) == "header \"\" cannot be sent");
  for (const std::string name :
       {"content-length", "Transfer-Encoding", "connection", "HOST", "TE", "Upgrade", "Expect"}) {
    CHECK(check({.headers = {{name, "1"}}}) == "header \"" + name + "\" belongs to the transport");
  }
}

}  // namespace
}  // namespace apiserver::inline v0::client
