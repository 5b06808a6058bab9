#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: url reads absolute URLs and paths", "[cel]") {
  EvaluateAll({
      {"url('https://user:pw@example.com:80/a%20b?k=v#f') == "
       "url('https://user:pw@example.com:80/a%20b?k=v#f')",
       "true"},
      {"url('https://example.com/') == url('https://example.com')", "false"},
      {"url('/absolute-path') == url('/absolute-path')", "true"},
      {"url('../relative-path')",
       "error: URL parse error during conversion from string: parse \"../relative-path\": invalid "
       "URI for request"},
      {"url('')", "error: URL parse error during conversion from string: parse \"\": empty url"},
      {"url('https://a:b:c/')",
       "error: URL parse error during conversion from string: parse \"https://a:b:c/\": invalid "
       "port \":b:c\" after host"},
      {"url('http://a b')",
       "error: URL parse error during conversion from string: parse \"http://a b\": invalid "
       "character \" \" in host name"},
      {"url('https://[::1')",
       "error: URL parse error during conversion from string: parse \"https://[::1\": missing ']' "
       "in host"},
      {"url('1http://x')",
       "error: URL parse error during conversion from string: parse \"1http://x\": invalid URI for "
       "request"},
      {"url('/%zz')",
       "error: URL parse error during conversion from string: parse \"/%zz\": invalid URL escape "
       "\"%zz\""},
      {"url('https://host:port/')",
       "error: URL parse error during conversion from string: parse \"https://host:port/\": "
       "invalid port \":port\" after host"},
      {"isURL('https://example.com/')", "true"},
      {"isURL('/path')", "true"},
      {"isURL('../path')", "false"},
      {"isURL('a')", "false"},
      {"isURL('https://a:b:c/')", "false"},
      {"isURL('mailto:joe@example.com')", "true"},
      {"url('http://h/#%zz')",
       "error: URL parse error during conversion from string: parse \"http://h/#%zz\": invalid URL "
       "escape \"%zz\""},
  });
}

TEST_CASE("cel: accessors return the parts of a URL", "[cel]") {
  EvaluateAll({
      {"url('https://example.com/').getScheme()", "https"},
      {"url('HTTP://Example.com/').getScheme()", "http"},
      {"url('/path').getScheme()", ""},
      {"url('https://example.com:80/').getHost()", "example.com:80"},
      {"url('https://[::1]:80/').getHost()", "[::1]:80"},
      {"url('/path').getHost()", ""},
      {"url('https://example.com:80/').getHostname()", "example.com"},
      {"url('https://[::1]:80/').getHostname()", "::1"},
      {"url('https://example.com:80/').getPort()", "80"},
      {"url('https://example.com/').getPort()", ""},
      {"url('https://example.com/path').getEscapedPath()", "/path"},
      {"url('https://example.com/with space/%2F').getEscapedPath()", "/with%20space//"},
      {"url('https://example.com').getEscapedPath()", ""},
      {"url('mailto:joe@example.com').getEscapedPath()", ""},
  });
}

TEST_CASE("cel: getQuery decodes the parameters of a URL", "[cel]") {
  EvaluateAll({
      {"url('https://example.com/path?k1=a&k1=b&k2=c').getQuery()['k1']", "[a, b]"},
      {"url('https://example.com/path?k2=c%20d+e').getQuery()['k2']", "[c d e]"},
      {"url('https://example.com/path?k').getQuery()['k']", "[]"},
      {"url('https://example.com/path').getQuery()", "{}"},
      {"url('https://example.com/path?').getQuery()", "{}"},
      {"url('/?a;b=1&%zz=2&c=%zz&d=4').getQuery()", "{d: [4]}"},
      {"url('/?a=1&b=2').getQuery().size()", "2"},
      {"url('/?=x').getQuery()", "{: [x]}"},
  });
}

TEST_CASE("cel: URLs are compared by their text", "[cel]") {
  EvaluateAll({
      {"url('/a') == url('/a?')", "false"},
      {"url('/a') != url('/b')", "true"},
      {"dyn(url('/a')) == 1", "error: no such overload"},
      {"dyn(url('/a')) == dyn(ip('::1'))", "error: no such overload"},
      {"[url('/a')] == [url('/a')]", "true"},
      {"null == dyn(url('/a'))", "false"},
      {"url(dyn(1))", "error: no such overload: url(int)"},
      {"dyn(1).getHost()", "error: no such overload: getHost(int)"},
      {"string(dyn(url('/a')))", "error: no such overload: string(kubernetes.URL)"},
      {"type(url('/a'))", "kubernetes.URL"},
  });
}
