// Links and Location headers that lead through this server.
#include <zlib.h>

#include <catch2/catch.hpp>

#include "front.h"
#include "proxy/html_rewriter.h"
#include "proxy/page_body.h"

namespace proxy_test {
namespace {

struct Via {
  std::string scheme;
  std::string host;
  std::string prefix;
};
const Via kTest{"http", "foo.com", "/proxy/node/node1:10250"};
const Via kTest2{"https", "foo.com", "/proxy/node/node1:8080"};
const Via kEmptyHost{"https", "", "/proxy/node/node1:10250"};
const Via kEmptyScheme{"", "foo.com", "/proxy/node/node1:10250"};
const Via kEmptyHostAndScheme{"", "", "/proxy/node/node1:10250"};

proxy::LocationRewriter RewriterOf(const Via& via, std::string source_host = "mynode.com",
                                   std::string request_host = "mynode.com") {
  return {.scheme = via.scheme,
          .host = via.host,
          .path_prepend = via.prefix,
          .source_host = std::move(source_host),
          .request_host = std::move(request_host)};
}

struct PageCase {
  std::string name;
  std::string input;
  Via via;
  std::string output;
  std::string source_host = "mynode.com";
};

// The pages of TestProxyTransport in apimachinery's transport_test.go; "@" stands for the address
// that its proxies put in front. Its Content-Types are in a case below, its X-Forwarded-* headers
// in forward_url_test.cc.
const std::vector<PageCase> kPages{
    {"normal",
     R"(<pre><a href="kubelet.log">kubelet.log</a><a href="/google.log">google.log</a></pre>)",
     kTest,
     R"(<pre><a href="kubelet.log">kubelet.log</a><a href="@/google.log">google.log</a></pre>)"},
    {"full document",
     R"(<html><header></header><body><pre><a href="kubelet.log">kubelet.log</a>)"
     R"(<a href="/google.log">google.log</a></pre></body></html>)",
     kTest,
     R"(<html><header></header><body><pre><a href="kubelet.log">kubelet.log</a>)"
     R"(<a href="@/google.log">google.log</a></pre></body></html>)"},
    {"trailing slash",
     R"(<pre><a href="kubelet.log">kubelet.log</a><a href="/google.log/">google.log</a></pre>)",
     kTest,
     R"(<pre><a href="kubelet.log">kubelet.log</a><a href="@/google.log/">google.log</a></pre>)"},
    {"subdir", R"(<a href="kubelet.log">kubelet.log</a><a href="/google.log">google.log</a>)",
     kTest2, R"(<a href="kubelet.log">kubelet.log</a><a href="@/google.log">google.log</a>)"},
    {"image", R"(<pre><img src="kubernetes.jpg"/><img src="/kubernetes_abs.jpg"/></pre>)", kTest,
     R"(<pre><img src="kubernetes.jpg"/><img src="@/kubernetes_abs.jpg"/></pre>)"},
    {"abs", R"(<script src="http://google.com/kubernetes.js"/>)", kTest,
     R"(<script src="http://google.com/kubernetes.js"/>)"},
    {"abs but same host", R"(<script src="http://mynode.com/kubernetes.js"/>)", kTest,
     R"(<script src="@/kubernetes.js"/>)"},
    {"source contains the redirect already",
     R"(<pre><a href="kubelet.log">kubelet.log</a><a href="@/google.log">google.log</a></pre>)",
     kTest,
     R"(<pre><a href="kubelet.log">kubelet.log</a><a href="@/google.log">google.log</a></pre>)",
     "foo.com"},
    {"no host", "<html></html>", kEmptyHost, "<html></html>"},
    {"no scheme", "<html></html>", kEmptyScheme, "<html></html>"},
};

std::string WithAddress(std::string page, const Via& via) {
  const std::string address = via.scheme + "://" + via.host + via.prefix;
  for (std::size_t at = 0; (at = page.find('@', at)) != std::string::npos;) {
    page.replace(at, 1, address);
  }
  return page;
}

TEST_CASE("proxy: upstream's pages are rewritten as upstream does it", "[proxy]") {
  for (const PageCase& each : kPages) {
    CAPTURE(each.name);
    CHECK(proxy::RewriteHtml(WithAddress(each.input, each.via),
                             RewriterOf(each.via, each.source_host, "x")) ==
          WithAddress(each.output, each.via));
  }
}

TEST_CASE("proxy: upstream's redirects are rewritten as upstream does it", "[proxy]") {
  struct Case {
    std::string redirect;
    Via via;
    std::string expected;
    std::string request_host = "mynode.com";
  };
  const std::string script = "%00<script>alert(1)</script>/";
  const std::string escaped = "%00%3Cscript%3Ealert%281%29%3C/script%3E/";
  const std::string through = "http://foo.com/proxy/node/node1:10250/redirected/target/";
  const std::string kubectl = "http://10.0.0.1:8001/proxy/node/node1:10250/redirected/target/";
  const std::vector<Case> cases{
      {"/redirected/target/", kTest, through},
      {"http://mynode.com/redirected/target/", kTest, through},
      {"http://example.com/redirected/target/", kTest, "http://example.com/redirected/target/"},
      {"http://10.0.0.1:8001/redirected/target/", kEmptyHostAndScheme, kubectl, "10.0.0.1:8001"},
      {"/redirected/target/" + script, kTest, through + escaped},
      {"http://mynode.com/redirected/target/" + script, kTest, through + escaped},
      {"http://example.com/redirected/target/" + script, kTest,
       "http://example.com/redirected/target/" + escaped},
      {"http://10.0.0.1:8001/redirected/target/" + script, kEmptyHostAndScheme, kubectl + escaped,
       "10.0.0.1:8001"},
      {"relative/x", kTest, "relative/x"},
      {"//mynode.com/x", kEmptyHostAndScheme, "/proxy/node/node1:10250/x", "other"},
      {"/../../x", kEmptyHostAndScheme, "/proxy/x", "other"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.redirect);
    const auto url = apiserver::text::ParseGoUrl(each.redirect);
    REQUIRE(url.ok());
    CHECK(RewriterOf(each.via, "mynode.com", each.request_host).Rewrite(*url) == each.expected);
  }
}

TEST_CASE("proxy: only links of HTML are rewritten, and the rest stays byte for byte", "[proxy]") {
  const auto rewrite = [](std::string_view page) {
    return proxy::RewriteHtml(page, RewriterOf({"", "", "/p"}, "b", "h"));
  };
  const auto stays = [&](std::string_view page) {
    CAPTURE(page);
    CHECK(rewrite(page) == page);
  };

  CHECK(rewrite("<A  HREF = /x >") == "<A  HREF = \"/p/x\" >");
  CHECK(rewrite("<a class='c'href='/x?a&amp;b'>") == "<a class='c'href=\"/p/x?a&amp;b\">");
  CHECK(rewrite("<a href=\"/&#x61;&#98;&quot;\">") == "<a href=\"/p/ab%22\">");
  CHECK(rewrite("<form action=\"/\"><video src=/v poster=/q>") ==
        "<form action=\"/p/\"><video src=\"/p/v\" poster=\"/p/q\">");
  CHECK(rewrite("<script>'<a href=\"/x\">'</script><a href=/y>") ==
        "<script>'<a href=\"/x\">'</script><a href=\"/p/y\">");
  CHECK(rewrite("<title></titles><a href=/x></TITLE ><a href=/y>") ==
        "<title></titles><a href=/x></TITLE ><a href=\"/p/y\">");
  CHECK(rewrite("<!--><a href=/x>") == "<!--><a href=\"/p/x\">");
  CHECK(rewrite("a < b <1 <a href=/x>") == "a < b <1 <a href=\"/p/x\">");
  stays("<!-- <a href=\"/x\"> -->");
  stays("<!DOCTYPE a href=/x>");
  stays("</a href=\"/x\">");
  stays("<a title=\"/x\" data-href=\"/y\" href>");
  stays("<abbr href=\"/x\">");
  stays("<a href=\"/p/already\">");
  stays("<a href=\"http://other/x\">");
  stays("<a href=\"#x\"><a href=\"mailto:a@b\"><a href=\"javascript:f()\">");
  stays("<a href=\"http://[bad\">");
  stays("<style>a{b:url(/x)}</style>");
  stays("<plaintext><a href=\"/x\">");
  stays("<a href=\"/x");
  stays("<a href=");
  stays("<a");
  stays("<");
  stays("<!--");
  stays("<script><a href=/x>");
  stays("");
}

// Encodes in gzip (31), zlib's format (15) or bare deflate (-15).
std::string Packed(std::string text, int window_bits) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Unpacked(std::string packed, int window_bits) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, window_bits) == Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST_CASE("proxy: pages are rewritten in the encoding in which they come", "[proxy]") {
  // TestRewriteResponse.
  std::string page;
  for (int i = 0; i < 4097; ++i) page += "long body test<a href=/x>";
  std::string expected;
  for (int i = 0; i < 4097; ++i) expected += "long body test<a href=\"/p/x\">";
  const auto rewriter = RewriterOf({"", "", "/p"}, "b", "h");
  CHECK(proxy::RewritePage(page, rewriter, "") == expected);
  const std::vector<std::pair<std::string, int>> formats{
      {"gzip", 31}, {"deflate", -15}, {"deflate", 15}};
  for (const auto& [encoding, bits] : formats) {
    CAPTURE(encoding, bits);
    const std::string packed = Packed(page, bits);
    CHECK(Unpacked(proxy::RewritePage(packed, rewriter, encoding), bits) == expected);
    // A page that is not encoded, is cut or grows beyond all bounds comes back as it is.
    CHECK(proxy::RewritePage(page, rewriter, encoding) == page);
    const std::string half = packed.substr(0, packed.size() / 2);
    CHECK(proxy::RewritePage(half, rewriter, encoding) == half);
    const std::string bomb = Packed(std::string(64 << 20, ' '), bits);
    CHECK(proxy::RewritePage(bomb, rewriter, encoding) == bomb);
  }
}

TEST_CASE("proxy: a backend's page and its redirects lead through the proxy", "[proxy]") {
  const std::string page = "<a href=\"/x\">x</a>";
  const auto answer_of = [&](http::Headers headers, std::string body) {
    Backend backend(Text(std::move(body), std::move(headers)));
    Front front({.location = backend.At("/a/"), .wrap_transport = true});
    return front.Call({.target = "/p/a/"}).value();
  };

  for (const char* type : {"text/html", "text/html; charset=utf-8"}) {
    const auto answer = answer_of({{"Content-Type", type}}, page);
    CHECK(answer.body == "<a href=\"/p/x\">x</a>");
    CHECK_FALSE(answer.headers.Has("Content-Length"));
  }
  CHECK(answer_of({{"Content-Type", "text/plain"}}, page).body == page);
  CHECK(answer_of({{"Content-Type", "text/html"}, {"Content-Encoding", "br"}}, page).body == page);
  CHECK(answer_of({{"Content-Type", "text/html"}, {"Content-Encoding", "gzip"}}, page).body ==
        page);
  CHECK(answer_of({{"Location", "/y"}}, "").headers.Get("Location") == "/p/y");
  CHECK(answer_of({{"Location", "http://h:x/y"}}, "").code == 500);
  const std::string large = std::string(5 << 20, ' ') + page;
  CHECK(answer_of({{"Content-Type", "text/html"}}, large).body == large);
}

}  // namespace
}  // namespace proxy_test
