#include "proxy/forward_headers.h"

#include <catch2/catch.hpp>

#include "headers_text.h"

namespace proxy_test {
namespace {

using apiserver::http::Headers;
using apiserver::http::Request;
namespace proxy = apiserver::proxy;

Request RequestWith(Headers headers) {
  Request request;
  request.method = "GET";
  request.headers = std::move(headers);
  request.remote_address = "10.1.2.3:40000";
  return request;
}

struct Forwarded {
  Headers sent;
  std::string plain;
};

// The rules of Go's net/http/httputil.ReverseProxy, and row 55 of docs/security.md.
TEST_CASE("proxy: headers of one connection are not forwarded, and others are", "[proxy]") {
  const std::vector<Forwarded> cases{
      {{{"Host", "x"}, {"Accept", "a"}, {"accept", "b"}}, "Accept: a; accept: b; "},
      {{{"Connection", "close"},
        {"Keep-Alive", "5"},
        {"Proxy-Connection", "a"},
        {"Proxy-Authenticate", "b"},
        {"Proxy-Authorization", "c"},
        {"Trailer", "d"},
        {"Transfer-Encoding", "chunked"},
        {"Upgrade", "e"},
        {"Content-Length", "7"}},
       ""},
      {{{"connection", "a, B"},
        {"Connection", " c ,,close"},
        {"A", "1"},
        {"b", "2"},
        {"C", "3"},
        {"D", "4"}},
       "D: 4; "},
      {{{"TE", "gzip, trailers"}}, "TE: trailers; "},
      {{{"TE", "gzip"}}, ""},
      {{{"Expect", "100-continue"}}, ""},
      {{{"Connection", "Upgrade, HTTP2-Settings"}, {"Upgrade", "h2c"}, {"HTTP2-Settings", "AAA"}},
       ""},
      {{{"HTTP2-Settings", "AAA"}}, ""},
      {{{"Authorization", "Bearer t"}, {"X-Remote-User", "a"}, {"Impersonate-User", "b"}}, ""},
      {{{"Cookie", "a=b"}, {"Audit-Id", "c"}, {"Accept-Encoding", "gzip"}},
       "Cookie: a=b; Audit-Id: c; Accept-Encoding: gzip; "},
  };
  for (const Forwarded& each : cases) {
    CHECK(TextOf(proxy::PlainRequestHeaders(RequestWith(each.sent))) ==
          each.plain + "X-Forwarded-For: 10.1.2.3");
  }
}

TEST_CASE("proxy: the address of the client is appended to X-Forwarded-For", "[proxy]") {
  struct Case {
    Headers sent;
    std::string address;
    std::string after;
  };
  const std::vector<Case> cases{
      {{}, "10.0.0.1:1", "X-Forwarded-For: 10.0.0.1"},
      {{{"X-Forwarded-For", "1.1.1.1"}}, "10.0.0.1:1", "X-Forwarded-For: 1.1.1.1, 10.0.0.1"},
      {{{"x-forwarded-for", "a"}, {"B", "c"}, {"X-Forwarded-For", "d, e"}},
       "[::1]:1",
       "x-forwarded-for: a, d, e, ::1; B: c"},
      {{{"X-Forwarded-For", "a"}}, "", "X-Forwarded-For: a"},
      {{}, "@", ""},
  };
  for (const Case& each : cases) {
    Headers headers = each.sent;
    proxy::AppendForwardedFor(headers, each.address);
    CHECK(TextOf(headers) == each.after);
  }
  // A client cannot have its own address left out.
  CHECK(TextOf(proxy::PlainRequestHeaders(
            RequestWith({{"Connection", "X-Forwarded-For"}, {"X-Forwarded-For", "1.1.1.1"}}))) ==
        "X-Forwarded-For: 10.1.2.3");
}

// Row 92 of docs/security.md.
TEST_CASE("proxy: an upgrade is asked for in Connection, and never to HTTP/2", "[proxy]") {
  struct Case {
    Headers sent;
    bool upgrade;
  };
  const std::vector<Case> cases{
      {{{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}}, true},
      {{{"Connection", "keep-alive, upgrade"}, {"Upgrade", "websocket"}}, true},
      {{{"Connection", "keep-alive"}, {"Connection", "UPGRADE"}}, true},
      {{{"Connection", "xupgradex"}}, true},  // As Go's httpstream.IsUpgradeRequest.
      {{{"Upgrade", "websocket"}}, false},
      {{{"Connection", "close"}, {"Upgrade", "websocket"}}, false},
      {{{"Connection", "Upgrade"}, {"Upgrade", "h2c"}}, false},
      {{{"Connection", "Upgrade"}, {"Upgrade", "H2C, h2"}}, false},
      {{{"Connection", "Upgrade"}, {"Upgrade", "h2c, websocket"}}, true},
  };
  for (const Case& each : cases) {
    CAPTURE(TextOf(each.sent));
    Request request = RequestWith(each.sent);
    CHECK(proxy::IsUpgradeRequest(request) == each.upgrade);
    request.http_major = 2;
    CHECK_FALSE(proxy::IsUpgradeRequest(request));
  }
}

TEST_CASE("proxy: an upgrade is forwarded with the headers of both ends", "[proxy]") {
  const Request request = RequestWith({{"Host", "api:6443"},
                                       {"Connection", "Upgrade, X-Secret"},
                                       {"X-Secret", "1"},
                                       {"upgrade", "h2c, SPDY/3.1"},
                                       {"X-Stream-Protocol-Version", "v5.channel.k8s.io"},
                                       {"X-Stream-Protocol-Version", "v4.channel.k8s.io"},
                                       {"Authorization", "Bearer t"},
                                       {"Content-Length", "0"},
                                       {"X-Forwarded-For", "1.1.1.1"}});

  CHECK(TextOf(proxy::UpgradeRequestHeaders(request, "api:6443")) ==
        "Host: api:6443; X-Stream-Protocol-Version: v5.channel.k8s.io; "
        "X-Stream-Protocol-Version: v4.channel.k8s.io; X-Forwarded-For: 1.1.1.1, 10.1.2.3; "
        "Connection: Upgrade; Upgrade: SPDY/3.1");
}

TEST_CASE("proxy: a backend grants no page of another origin access to the server", "[proxy]") {
  Headers headers{
      {"access-control-allow-origin", "*"},  {"Access-Control-Allow-Methods", "GET"},
      {"Access-Control-Allow-Headers", "a"}, {"Access-Control-Allow-Credentials", "true"},
      {"Access-Control-Max-Age", "1"},       {"A", "b"}};
  proxy::RemoveCorsHeaders(headers);
  CHECK(TextOf(headers) == "Access-Control-Max-Age: 1; A: b");
}

}  // namespace
}  // namespace proxy_test
