#include "text/go_url.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "text/quote.h"

namespace apiserver::inline v0::text {
namespace {

// Tables of Go 1.26's src/net/url/url_test.go and src/net/netip/netip_test.go; the words of each
// error are what Go 1.26.8 answers.

struct Parsed {
  std::string text;
  GoUrl url;
  std::string written = {};  // Empty: as it was.
};

struct Verdict {
  std::string text;
  std::string error = {};
};

void CheckVerdict(const Verdict& verdict) {
  CAPTURE(verdict.text);
  const Read<GoUrl> url = ParseGoUrl(verdict.text);
  if (verdict.error.empty()) {
    CHECK(url.ok());
    return;
  }
  REQUIRE_FALSE(url.ok());
  CHECK(url.error().message() == "parse " + Quote(verdict.text) + ": " + verdict.error);
}

// urltests of TestParse and TestURLString.
const std::vector<Parsed> kUrls{
    {"http://www.google.com", {.scheme = "http", .host = "www.google.com"}},
    {"http://www.google.com/", {.scheme = "http", .host = "www.google.com", .path = "/"}},
    {"http://www.google.com/file%20one%26two",
     {.scheme = "http",
      .host = "www.google.com",
      .path = "/file one&two",
      .raw_path = "/file%20one%26two"}},
    {"http://www.google.com/#file%20one%26two",
     {.scheme = "http",
      .host = "www.google.com",
      .path = "/",
      .fragment = "file one&two",
      .raw_fragment = "file%20one%26two"}},
    {"ftp://webmaster@www.google.com/",
     {.scheme = "ftp", .user = GoUserInfo{"webmaster"}, .host = "www.google.com", .path = "/"}},
    {"ftp://john%20doe@www.google.com/",
     {.scheme = "ftp", .user = GoUserInfo{"john doe"}, .host = "www.google.com", .path = "/"}},
    {"http://www.google.com/?",
     {.scheme = "http", .host = "www.google.com", .path = "/", .force_query = true}},
    {"http://www.google.com/?foo=bar?",
     {.scheme = "http", .host = "www.google.com", .path = "/", .raw_query = "foo=bar?"}},
    {"http://www.google.com/?q=go+language",
     {.scheme = "http", .host = "www.google.com", .path = "/", .raw_query = "q=go+language"}},
    {"http://www.google.com/?q=go%20language",
     {.scheme = "http", .host = "www.google.com", .path = "/", .raw_query = "q=go%20language"}},
    {"http://www.google.com/a%20b?q=c+d",
     {.scheme = "http", .host = "www.google.com", .path = "/a b", .raw_query = "q=c+d"}},
    {"http:www.google.com/?q=go+language",
     {.scheme = "http", .opaque = "www.google.com/", .raw_query = "q=go+language"}},
    {"http:%2f%2fwww.google.com/?q=go+language",
     {.scheme = "http", .opaque = "%2f%2fwww.google.com/", .raw_query = "q=go+language"}},
    {"mailto:/webmaster@golang.org",
     {.scheme = "mailto", .path = "/webmaster@golang.org", .omit_host = true}},
    {"mailto:webmaster@golang.org", {.scheme = "mailto", .opaque = "webmaster@golang.org"}},
    {"/foo?query=http://bad", {.path = "/foo", .raw_query = "query=http://bad"}},
    {"//foo", {.host = "foo"}},
    {"//user@foo/path?a=b",
     {.user = GoUserInfo{"user"}, .host = "foo", .path = "/path", .raw_query = "a=b"}},
    {"///threeslashes", {.path = "///threeslashes"}},
    {"http://user:password@google.com",
     {.scheme = "http", .user = GoUserInfo{"user", "password"}, .host = "google.com"}},
    {"http://j@ne:password@google.com",
     {.scheme = "http", .user = GoUserInfo{"j@ne", "password"}, .host = "google.com"},
     "http://j%40ne:password@google.com"},
    {"http://jane:p@ssword@google.com",
     {.scheme = "http", .user = GoUserInfo{"jane", "p@ssword"}, .host = "google.com"},
     "http://jane:p%40ssword@google.com"},
    {"http://j@ne:password@google.com/p@th?q=@go",
     {.scheme = "http",
      .user = GoUserInfo{"j@ne", "password"},
      .host = "google.com",
      .path = "/p@th",
      .raw_query = "q=@go"},
     "http://j%40ne:password@google.com/p@th?q=@go"},
    {"http://www.google.com/?q=go+language#foo",
     {.scheme = "http",
      .host = "www.google.com",
      .path = "/",
      .raw_query = "q=go+language",
      .fragment = "foo"}},
    {"http://www.google.com/?q=go+language#foo&bar",
     {.scheme = "http",
      .host = "www.google.com",
      .path = "/",
      .raw_query = "q=go+language",
      .fragment = "foo&bar"}},
    {"http://www.google.com/?q=go+language#foo%26bar",
     {.scheme = "http",
      .host = "www.google.com",
      .path = "/",
      .raw_query = "q=go+language",
      .fragment = "foo&bar",
      .raw_fragment = "foo%26bar"}},
    {"file:///home"
     "/adg/rabbits",
     {.scheme = "file",
      .path = "/home"
              "/adg/rabbits"}},
    {"file:///C:/FooBar/Baz.txt", {.scheme = "file", .path = "/C:/FooBar/Baz.txt"}},
    {"MaIlTo:webmaster@golang.org",
     {.scheme = "mailto", .opaque = "webmaster@golang.org"},
     "mailto:webmaster@golang.org"},
    {"a/b/c", {.path = "a/b/c"}},
    {"http://%3Fam:pa%3Fsword@google.com",
     {.scheme = "http", .user = GoUserInfo{"?am", "pa?sword"}, .host = "google.com"}},
    {"http://192.168.0.1/", {.scheme = "http", .host = "192.168.0.1", .path = "/"}},
    {"http://192.168.0.1:8080/", {.scheme = "http", .host = "192.168.0.1:8080", .path = "/"}},
    {"http://[fe80::1]/", {.scheme = "http", .host = "[fe80::1]", .path = "/"}},
    {"http://[fe80::1]:8080/", {.scheme = "http", .host = "[fe80::1]:8080", .path = "/"}},
    {"https://[2001:db8::1]:8443/test/path",
     {.scheme = "https", .host = "[2001:db8::1]:8443", .path = "/test/path"}},
    {"http://[fe80::1%25en0]/", {.scheme = "http", .host = "[fe80::1%en0]", .path = "/"}},
    {"http://[fe80::1%25en0]:8080/", {.scheme = "http", .host = "[fe80::1%en0]:8080", .path = "/"}},
    {"http://[fe80::1%25%65%6e%301-._~]/",
     {.scheme = "http", .host = "[fe80::1%en01-._~]", .path = "/"},
     "http://[fe80::1%25en01-._~]/"},
    {"http://[fe80::1%25%65%6e%301-._~]:8080/",
     {.scheme = "http", .host = "[fe80::1%en01-._~]:8080", .path = "/"},
     "http://[fe80::1%25en01-._~]:8080/"},
    {"http://rest.rsc.io/foo%2fbar/baz%2Fquux?alt=media",
     {.scheme = "http",
      .host = "rest.rsc.io",
      .path = "/foo/bar/baz/quux",
      .raw_path = "/foo%2fbar/baz%2Fquux",
      .raw_query = "alt=media"}},
    {"mysql://a,b,c/bar", {.scheme = "mysql", .host = "a,b,c", .path = "/bar"}},
    {"scheme://!$&'()*+,;=hello!:1/path",
     {.scheme = "scheme", .host = "!$&'()*+,;=hello!:1", .path = "/path"}},
    {"http://host/!$&'()*+,;=:@[hello]",
     {.scheme = "http",
      .host = "host",
      .path = "/!$&'()*+,;=:@[hello]",
      .raw_path = "/!$&'()*+,;=:@[hello]"}},
    {"http://example.com/oid/[order_id]",
     {.scheme = "http",
      .host = "example.com",
      .path = "/oid/[order_id]",
      .raw_path = "/oid/[order_id]"}},
    {"http://192.168.0.2:8080/foo", {.scheme = "http", .host = "192.168.0.2:8080", .path = "/foo"}},
    {"http://192.168.0.2:/foo", {.scheme = "http", .host = "192.168.0.2:", .path = "/foo"}},
    {"http://[2b01:e34:ef40:7730:8e70:5aff:fefe:edac]:8080/foo",
     {.scheme = "http", .host = "[2b01:e34:ef40:7730:8e70:5aff:fefe:edac]:8080", .path = "/foo"}},
    {"http://[2b01:e34:ef40:7730:8e70:5aff:fefe:edac]:/foo",
     {.scheme = "http", .host = "[2b01:e34:ef40:7730:8e70:5aff:fefe:edac]:", .path = "/foo"}},
    {"http://hello.世界.com/foo",
     {.scheme = "http", .host = "hello.世界.com", .path = "/foo"},
     "http://hello.%E4%B8%96%E7%95%8C.com/foo"},
    {"http://hello.%e4%b8%96%e7%95%8c.com/foo",
     {.scheme = "http", .host = "hello.世界.com", .path = "/foo"},
     "http://hello.%E4%B8%96%E7%95%8C.com/foo"},
    {"http://hello.%E4%B8%96%E7%95%8C.com/foo",
     {.scheme = "http", .host = "hello.世界.com", .path = "/foo"}},
    {"http://example.com//foo", {.scheme = "http", .host = "example.com", .path = "//foo"}},
    {R"(myscheme://authority<"hi">/foo)",
     {.scheme = "myscheme", .host = R"(authority<"hi">)", .path = "/foo"}},
    {"tcp://[2020::2020:20:2020:2020%25Windows%20Loves%20Spaces]:2020",
     {.scheme = "tcp", .host = "[2020::2020:20:2020:2020%Windows Loves Spaces]:2020"}},
    {"magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn",
     {.scheme = "magnet", .raw_query = "xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn"}},
    {"mailto:?subject=hi", {.scheme = "mailto", .raw_query = "subject=hi"}},
    {"postgres://host1:1,host2:2,host3:3",
     {.scheme = "postgres", .host = "host1:1,host2:2,host3:3"}},
    {"postgresql://host1:1,host2:2,host3:3",
     {.scheme = "postgresql", .host = "host1:1,host2:2,host3:3"}},
    {"mongodb://user:password@host1:1,host2:2,host3:3",
     {.scheme = "mongodb",
      .user = GoUserInfo{"user", "password"},
      .host = "host1:1,host2:2,host3:3"}},
    {"mongodb+srv://user:password@host1:1,host2:2,host3:3",
     {.scheme = "mongodb+srv",
      .user = GoUserInfo{"user", "password"},
      .host = "host1:1,host2:2,host3:3"}},
};

TEST_CASE("text: URLs are taken apart and put together as Go does", "[text]") {
  for (const Parsed& row : kUrls) {
    CAPTURE(row.text);
    const Read<GoUrl> url = ParseGoUrl(row.text);
    REQUIRE(url.ok());
    CHECK(*url == row.url);
    CHECK(url->String() == (row.written.empty() ? row.text : row.written));
  }
}

// parseRequestURLTests of TestParseRequestURI, where Parse says the same.
const std::vector<Verdict> kInBrackets{
    {"http://foo.com"},
    {"http://foo.com/"},
    {"http://foo.com/path"},
    {"/"},
    {"//not.a.user@not.a.host/just/a/path"},
    {"*"},
    {"http://192.168.0.1/"},
    {"http://192.168.0.1:8080/"},
    {"http://[fe80::1]/"},
    {"http://[fe80::1]:8080/"},
    {"http://[fe80::1%25en0]/"},
    {"http://[fe80::1%25en0]:8080/"},
    {"http://[fe80::1%25%65%6e%301-._~]/"},
    {"http://[fe80::1%25%65%6e%301-._~]:8080/"},
    {" http://foo.com", "first path segment in URL cannot contain colon"},
    {"http://192.168.0.%31/", R"(invalid URL escape "%31")"},
    {"http://192.168.0.%31:8080/", R"(invalid URL escape "%31")"},
    {"http://[fe80::%31]/", R"(invalid URL escape "%31")"},
    {"http://[fe80::%31]:8080/", R"(invalid URL escape "%31")"},
    {"http://[fe80::%31%25en0]/", R"(invalid URL escape "%31")"},
    {"http://[fe80::%31%25en0]:8080/", R"(invalid URL escape "%31")"},
    {"http://[fe80::1%en0]/", R"(invalid URL escape "%en")"},
    {"http://[fe80::1%en0]:8080/", R"(invalid URL escape "%en")"},
    {"https://[1:2:3:4:5:6:7:8]"},
    {"https://[2001:db8::a:b:c:d]"},
    {"https://[fe80::1%25eth0]"},
    {"https://[fe80::abc:def%254]"},
    {"https://[2001:db8::1]/path"},
    {"https://[fe80::1%25eth0]/path?query=1"},
    {"https://[::ffff:192.0.2.1]"},
    {"https://[:1] ", R"(invalid port " " after host)"},
    {"https://[1:2:3:4:5:6:7:8:9]",
     R"(invalid host: ParseAddr("1:2:3:4:5:6:7:8:9"): trailing garbage after address (at "9"))"},
    {"https://[1::1::1]",
     R"(invalid host: ParseAddr("1::1::1"): multiple :: in address (at ":1"))"},
    {"https://[1:2:3:]",
     R"(invalid host: ParseAddr("1:2:3:"): colon must be followed by more characters (at ":"))"},
    {"https://[ffff::127.0.0.4000]",
     R"(invalid host: ParseAddr("ffff::127.0.0.4000"): IPv4 field has value >255)"},
    {"https://[0:0::test.com]:80",
     R"(invalid host: ParseAddr("0:0::test.com"): )"
     R"(each colon-separated field must have at least one digit (at "test.com"))"},
    {"https://[2001:db8::test.com]",
     R"(invalid host: ParseAddr("2001:db8::test.com"): )"
     R"(each colon-separated field must have at least one digit (at "test.com"))"},
    {"https://[test.com]",
     R"(invalid host: ParseAddr("test.com"): unexpected character (at "test.com"))"},
    {"https://1:2:3:4:5:6:7:8", R"(invalid port ":2:3:4:5:6:7:8" after host)"},
    {"https://1:2:3:4:5:6:7:8:80", R"(invalid port ":2:3:4:5:6:7:8:80" after host)"},
    {"https://example.com:80:", R"(invalid port ":80:" after host)"},
};

TEST_CASE("text: addresses in brackets are those of IPv6", "[text]") {
  for (const Verdict& row : kInBrackets) CheckVerdict(row);
}

// TestParseErrors.
const std::vector<Verdict> kRefused{
    {"http://[::1]"},
    {"http://[::1]:80"},
    {"http://[::1]:namedport", R"(invalid port ":namedport" after host)"},
    {"http://x:namedport", R"(invalid port ":namedport" after host)"},
    {"http://[::1]/"},
    {"http://[::1]a", R"(invalid port "a" after host)"},
    {"http://[::1]%23", R"(invalid port "%23" after host)"},
    {"http://[::1%25en0]"},
    {"http://[::1]:"},
    {"http://x:"},
    {"http://[::1]:%38%30", R"(invalid port ":%38%30" after host)"},
    {"http://[::1%25%41]"},
    {"http://[%10::1]", R"(invalid URL escape "%10")"},
    {"http://[::1]/%48"},
    {"http://%41:8080/", R"(invalid URL escape "%41")"},
    {"mysql://x@y(z:123)/foo", "invalid port \":123)\" after host"},
    {"mysql://x@y(1.2.3.4:123)/foo", "invalid port \":123)\" after host"},
    {" http://foo.com", "first path segment in URL cannot contain colon"},
    {"ht tp://foo.com", "first path segment in URL cannot contain colon"},
    {"ahttp://foo.com"},
    {"1http://foo.com", "first path segment in URL cannot contain colon"},
    {"http://[]%20%48%54%54%50%2f%31%2e%31%0a%4d%79%48%65%61%64%65%72%3a%20%31%32%33%0a%0a/",
     R"(invalid port "%20%48%54%54%50%2f%31%2e%31%0a%4d%79)"
     R"(%48%65%61%64%65%72%3a%20%31%32%33%0a%0a" after host)"},
    {"http://a b.com/", R"(invalid character " " in host name)"},
    {"cache_object://foo", "first path segment in URL cannot contain colon"},
    {"cache_object:foo", "first path segment in URL cannot contain colon"},
    {"cache_object:foo/bar", "first path segment in URL cannot contain colon"},
    {"cache_object/:foo/bar"},
    {"http://[192.168.0.1]/", "invalid IP-literal"},
    {"http://[192.168.0.1]:8080/", "invalid IP-literal"},
    {"http://[::ffff:192.168.0.1]/"},
    {"http://[::ffff:192.168.0.1000]/",
     R"(invalid host: ParseAddr("::ffff:192.168.0.1000"): IPv4 field has value >255)"},
    {"http://[::ffff:192.168.0.1]:8080/"},
    {"http://[::ffff:c0a8:1]/"},
    {"http://[not-an-ip]/", R"(invalid host: ParseAddr("not-an-ip"): unable to parse IP)"},
    {"http://[fe80::1%foo]/", R"(invalid URL escape "%fo")"},
    {"http://[fe80::1", "missing ']' in host"},
    {"http://fe80::1]/", R"(invalid port "::1]" after host)"},
    {"http://[test.com]/",
     R"(invalid host: ParseAddr("test.com"): unexpected character (at "test.com"))"},
    {"http://example.com[::1]", "invalid IP-literal"},
    {"http://example.com[::1", "invalid IP-literal"},
    {"http://[::1", "missing ']' in host"},
    {"http://.[::1]", "invalid IP-literal"},
    {"http:// [::1]", "invalid IP-literal"},
    {"hxxp://mathepqo[.]serveftp(.)com:9059", "invalid IP-literal"},
};

TEST_CASE("text: what is no URL is refused in Go's words", "[text]") {
  for (const Verdict& row : kRefused) CheckVerdict(row);
}

TEST_CASE("text: users, controls and escapes of a URL are Go's", "[text]") {
  // TestInvalidUserPassword.
  CheckVerdict({"http://user^:passwo^rd@foo.com/", "net/url: invalid userinfo"});
  // TestRejectControlCharacters.
  for (const std::string text :
       {"http://foo.com/?foo\nbar", "http\r://foo.com/", "http://foo\x7f.com/"}) {
    CheckVerdict({text, "net/url: invalid control character in URL"});
  }
  CheckVerdict({"http://foo.com/ctl\x80"});
  CheckVerdict({"://a", "missing protocol scheme"});
  CheckVerdict({"https://u%zz@a/", R"(invalid URL escape "%zz")"});
  CheckVerdict({"https://a/x%", R"(invalid URL escape "%")"});
  CheckVerdict({"https://a/#%", R"(invalid URL escape "%")"});
  // Controls count before the fragment only, and an error there shows no fragment.
  CheckVerdict({"https://a/#\n"});
  CHECK(ParseGoUrl("https://a/%#b%").error().message() ==
        R"(parse "https://a/%": invalid URL escape "%")");
  CHECK(ParseGoUrl(":foo#x").error().message() == R"(parse ":foo": missing protocol scheme)");
  // TestNilUser.
  CHECK(!ParseGoUrl("http://foo.com/")->user);
}

// stringURLTests of TestURLString.
TEST_CASE("text: parts of a URL are put together so that they are read again", "[text]") {
  CHECK(GoUrl{.scheme = "http", .host = "www.google.com", .path = "search"}.String() ==
        "http://www.google.com/search");
  CHECK(GoUrl{.path = "this:that"}.String() == "./this:that");
  CHECK(GoUrl{.path = "here/this:that"}.String() == "here/this:that");
  CHECK(GoUrl{.scheme = "http", .host = "www.google.com", .path = "this:that"}.String() ==
        "http://www.google.com/this:that");
}

// TestRequestURI: which spelling of a path is kept.
TEST_CASE("text: a path is written as it was if that is right", "[text]") {
  CHECK(GoUrl{.path = "/a b"}.EscapedPath() == "/a%20b");
  CHECK(GoUrl{.path = "/////", .raw_path = "/%2F/%2F/"}.EscapedPath() == "/%2F/%2F/");
  CHECK(GoUrl{.path = "/////", .raw_path = "/WRONG/"}.EscapedPath() == "/////");
  CHECK(GoUrl{.path = "/a b", .raw_path = "/a b"}.EscapedPath() == "/a%20b");
  CHECK(GoUrl{.path = "/a?b", .raw_path = "/a?b"}.EscapedPath() == "/a%3Fb");
  CHECK(GoUrl{.path = "*"}.EscapedPath() == "*");
}

// TestURLHostnameAndPort.
TEST_CASE("text: a host is a name and a port", "[text]") {
  struct Row {
    std::string host, name, port;
  };
  const std::vector<Row> rows{
      {"foo.com:80", "foo.com", "80"},
      {"foo.com", "foo.com", ""},
      {"foo.com:", "foo.com", ""},
      {"FOO.COM", "FOO.COM", ""},
      {"1.2.3.4", "1.2.3.4", ""},
      {"1.2.3.4:80", "1.2.3.4", "80"},
      {"[1:2:3:4]", "1:2:3:4", ""},
      {"[1:2:3:4]:80", "1:2:3:4", "80"},
      {"[::1]:80", "::1", "80"},
      {"[::1]", "::1", ""},
      {"[::1]:", "::1", ""},
      {"localhost", "localhost", ""},
      {"localhost:443", "localhost", "443"},
      {"some.super.long.domain.example.org:8080", "some.super.long.domain.example.org", "8080"},
      {"[2001:0db8:85a3:0000:0000:8a2e:0370:7334]:17000", "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
       "17000"},
      {"[2001:0db8:85a3:0000:0000:8a2e:0370:7334]", "2001:0db8:85a3:0000:0000:8a2e:0370:7334", ""},
      {"[google.com]:80", "google.com", "80"},
      {"google.com]:80", "google.com]", "80"},
      {"google.com:80_invalid_port", "google.com:80_invalid_port", ""},
      {"[::1]extra]:80", "::1]extra", "80"},
      {"google.com]extra:extra", "google.com]extra:extra", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.host);
    const GoUrl url{.host = row.host};
    CHECK(url.Hostname() == row.name);
    CHECK(url.Port() == row.port);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::text

// TestParseRequestURI, and Kubernetes' answers for CEL's url().
TEST_CASE("text: the target of a request is an absolute URL or path", "[text]") {
  for (const std::string_view text :
       {"http://foo.com", "http://foo.com/path", "/", "//not.a.user@not.a.host/just/a/path",
        "//not.a.user@%66%6f%6f.com/just/a/path/also", "*", "http://192.168.0.1:8080/",
        "/with/file#hash", "mailto:x", "https://a/#\x80"}) {
    CAPTURE(text);
    CHECK(ParseGoRequestUri(text).ok());
  }
  struct Row {
    std::string_view text;
    std::string_view error;
  };
  for (const Row& row :
       {Row{"foo.html", R"(parse "foo.html": invalid URI for request)"},
        Row{"../dir/", R"(parse "../dir/": invalid URI for request)"},
        Row{"a:b#c\n", R"(parse "a:b#c\n": net/url: invalid control character in URL)"},
        Row{"", R"(parse "": empty url)"},
        Row{"http://a b.com/", R"(parse "http://a b.com/": invalid character " " in host name)"},
        Row{":a", R"(parse ":a": missing protocol scheme)"}}) {
    const Read<GoUrl> url = ParseGoRequestUri(row.text);
    REQUIRE(!url.ok());
    CHECK(url.error().message() == row.error);
  }
  CHECK(ParseGoRequestUri("//host/path")->host.empty());
  CHECK(ParseGoRequestUri("/a#b")->path == "/a#b");
}
