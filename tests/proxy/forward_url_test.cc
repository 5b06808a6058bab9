#include "proxy/forward_url.h"

#include <catch2/catch.hpp>

namespace proxy_test {
namespace {

namespace proxy = apiserver::proxy;
using proxy::Location;

apiserver::text::GoUrl Asked(const std::string& target) {
  apiserver::http::Request request;
  request.target = target;
  const std::size_t mark = target.find('?');
  request.path = *apiserver::http::PercentDecode(target.substr(0, mark));
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  return proxy::RequestUrl(request);
}

std::string Plain(const std::string& path, const std::string& target, proxy::UrlRules rules = {}) {
  return proxy::PlainTarget({.host = "b", .path = path, .raw_query = "l=1"}, Asked(target), rules);
}

// The rows about paths of TestServeHTTP in apimachinery's upgradeaware_test.go, and what v1.35.4
// was seen to do.
TEST_CASE("proxy: a request goes to the path of its location, with its own query", "[proxy]") {
  CHECK(Plain("/", "/") == "/");
  CHECK(Plain("/path/to/test", "/x") == "/path/to/test");
  CHECK(Plain("/some/path", "/p/some/path/") == "/some/path/");
  CHECK(Plain("/some/path/", "/p/some/path/") == "/some/path/");
  CHECK(Plain("", "/x") == "/");
  CHECK(Plain("/a", "/x?param1=value%2F1&param2=value%252") ==
        "/a?param1=value%2F1&param2=value%252");
  CHECK(Plain("/a", "/x?") == "/a");
  CHECK(Plain("/a/b c%", "/x") == "/a/b%20c%25");
  CHECK(Plain("a", "/x") == "/a");
  CHECK(Plain("/a\r\nX: y", "/x") == "/a%0D%0AX:%20y");
  const proxy::UrlRules append{.append_location_path = true};
  CHECK(Plain("/base", "/base", append) == "/base/base");
  CHECK(Plain("/base/", "/base/", append) == "/base/base/");
}

TEST_CASE("proxy: with use_request_location a path is forwarded as it was written", "[proxy]") {
  const proxy::UrlRules rules{.use_request_location = true};
  CHECK(Plain("/base", "/a%2Fb/c?x=%20y", rules) == "/a%2Fb/c?x=%20y");
  CHECK(Plain("/base", "/a%20b", rules) == "/a%20b");
  CHECK(Plain("/base/", "/a%2Fb?", {.use_request_location = true, .append_location_path = true}) ==
        "/base/a%2Fb?");
}

TEST_CASE("proxy: an upgrade goes to the location and its query", "[proxy]") {
  const Location at{.host = "b", .path = "/exec/ns/p/c", .raw_query = "command=a+b&input=1"};
  CHECK(proxy::UpgradeTarget(at, Asked("/api/x/?y=z"), {}) == "/exec/ns/p/c?command=a+b&input=1");
  CHECK(proxy::UpgradeTarget({.host = "b"}, Asked("/"), {}) == "/");
  CHECK(proxy::UpgradeTarget(at, Asked("/a%2Fb?y=z"), {.use_request_location = true}) ==
        "/a%2Fb?y=z");
  CHECK(proxy::UpgradeTarget(at, Asked("/a"),
                             {.use_request_location = true, .append_location_path = true}) ==
        "/exec/ns/p/c/a");
}

// TestProxyRedirectsforRootPath.
TEST_CASE("proxy: a location without a path is only asked for with a slash", "[proxy]") {
  const auto redirect = [](const std::string& path, const std::string& target,
                           std::string_view method) {
    const auto asked = Asked(target);
    return proxy::RootRedirect(proxy::PlainUrl({.path = path}, asked), asked, method);
  };
  CHECK(redirect("", "", "GET") == "/");
  CHECK(redirect("", "", "HEAD") == "/");
  CHECK_FALSE(redirect("", "", "PUT"));
  CHECK_FALSE(redirect("", "?a=b", "DELETE"));
  CHECK(redirect("", "/api/v1/namespaces/n/pods/p/proxy?a=b%20c", "GET") ==
        "/api/v1/namespaces/n/pods/p/proxy/?a=b%20c");
  CHECK_FALSE(redirect("", "/proxy/", "GET"));
  CHECK_FALSE(redirect("/x", "/proxy", "GET"));
  CHECK(redirect("", "//evil.example", "GET") == "/evil.example/");
  CHECK(redirect("", "/a%0D%0Ab", "GET") == "/a%0D%0Ab/");
}

// TestDefaultProxyTransport.
TEST_CASE("proxy: the prefix of a proxied path is what its location lacks", "[proxy]") {
  const auto prefix = [](const std::string& target, const std::string& path) {
    return proxy::PathPrefix({.host = "localhost", .path = path}, Asked(target));
  };
  CHECK(prefix("/a/test/location", "/location") == "/a/test");
  CHECK(prefix("/a/test/", "") == "/a/test");
  CHECK(prefix("/a/test/", "/") == "/a/test");
  CHECK(prefix("/a/test", "/other") == "/a/test");
}

// Follows TestProxyTransport's rows of X-Forwarded-Uri.
TEST_CASE("proxy: X-Forwarded-Uri has the prefix and the escaped path", "[proxy]") {
  const auto uri = [](const std::string& path) {
    return proxy::ForwardedUrlOf({.path = path}, {}, "/proxy/node/node1:10250").uri;
  };
  CHECK(uri("/logs/log.log") == "/proxy/node/node1:10250/logs/log.log");
  CHECK(uri("/") == "/proxy/node/node1:10250/");
  CHECK(uri("/any/path/") == "/proxy/node/node1:10250/any/path/");
  CHECK(uri(std::string("/logs/log.log\0<script>alert(1)</script>", 39)) ==
        "/proxy/node/node1:10250/logs/log.log%00%3Cscript%3Ealert%281%29%3C/script%3E");
  const auto whole = proxy::ForwardedUrlOf(
      {.path = "/apis/a"}, {.scheme = "https", .host = "10.0.0.1:443", .path = "/apis/a"}, "");
  CHECK(whole.uri == "/apis/a");
  CHECK(whole.host == "10.0.0.1:443");
  CHECK(whole.proto == "https");
}

// Row 55 of docs/security.md.
TEST_CASE("proxy: a query is encoded again without what cannot be read", "[proxy]") {
  CHECK(proxy::EncodeQuery("x=%20y+z&a&a=b") == "a=&a=b&x=+y+z");
  CHECK(proxy::EncodeQuery("").empty());
  CHECK(proxy::EncodeQuery("a;b=c&d=%zz&e=f") == "e=f");
  CHECK(proxy::EncodeQuery("k=a%26b%3Dc&%2F=~") == "%2F=~&k=a%26b%3Dc");
  CHECK(proxy::EncodeQuery("z=1&=2&z=0") == "=2&z=1&z=0");
}

}  // namespace
}  // namespace proxy_test
