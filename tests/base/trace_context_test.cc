// The headers of W3C Trace Context: its own test suite (test.py) and opentelemetry-go's tables.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "apiserver/base/trace.h"

namespace trace = apiserver::trace;
using trace::FormatTraceparent;
using trace::ParseTraceparent;
using trace::ParseTracestate;

namespace {

constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kSpanId = "00f067aa0ba902b7";

}  // namespace

TEST_CASE("trace: a traceparent is read and written", "[trace]") {
  struct Case {
    std::string text;
    bool sampled;
  };
  const auto test = GENERATE(values<Case>({
      // TestExtractValidTraceContextFromHTTPReq
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", false},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true},
      {"02-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true},
      {"02-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09", true},
      {"02-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-08", false},
      {"02-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09-XYZxsf09", true},
      {"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09-", true},
      // test_traceparent_version_0xcc
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true},
      {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like",
       true},
      // test_traceparent_ows_handling
      {" 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true},
      {"\t00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ", true},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\t", true},
      {"\t 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 \t", true},
      // "vendors MUST ignore flags they do not know": here Go takes the header for absent.
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09", true},
      {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe", false},
  }));
  INFO(test.text);

  const auto context = ParseTraceparent(test.text);

  REQUIRE(context);
  CHECK(context->TraceIdHex() == kTraceId);
  CHECK(context->SpanIdHex() == kSpanId);
  CHECK(context->sampled == test.sampled);
  CHECK(context->state.empty());
  CHECK(FormatTraceparent(*context) ==
        std::string("00-") + kTraceId + "-" + kSpanId + (test.sampled ? "-01" : "-00"));
}

TEST_CASE("trace: a traceparent that is none is taken for absent", "[trace]") {
  const std::string text = GENERATE(
      as<std::string>(),
      // TestExtractInvalidTraceContextFromHTTPReq
      "0000-00000000000000000000000000000000-0000000000000000-01",
      "00-ab00000000000000000000000000000000-cd00000000000000-01",
      "00-ab000000000000000000000000000000-cd0000000000000000-01",
      "00-ab000000000000000000000000000000-cd00000000000000-0100",
      "qw-00000000000000000000000000000000-0000000000000000-01",
      "00-qw000000000000000000000000000000-cd00000000000000-01",
      "00-ab000000000000000000000000000000-qw00000000000000-01",
      "00-ab000000000000000000000000000000-cd00000000000000-qw",
      "A0-00000000000000000000000000000000-0000000000000000-01",
      "00-AB000000000000000000000000000000-cd00000000000000-01",
      "00-ab000000000000000000000000000000-CD00000000000000-01",
      "00-ab000000000000000000000000000000-cd00000000000000-A1",
      "00-00000000000000000000000000000000-0000000000000000-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-",
      // test_traceparent_version_0x00
      "00-12345678901234567890123456789012-1234567890123456-01.",
      "00-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
      "00-12345678901234567890123456789012-1234567890123456-01-",
      // test_traceparent_version_0xcc
      "cc-12345678901234567890123456789012-1234567890123456-01.what-the-future-will-be-like",
      // test_traceparent_version_0xff
      "ff-12345678901234567890123456789012-1234567890123456-01",
      // test_traceparent_version_illegal_characters, _too_long, _too_short
      ".0-12345678901234567890123456789012-1234567890123456-01",
      "0.-12345678901234567890123456789012-1234567890123456-01",
      "000-12345678901234567890123456789012-1234567890123456-01",
      "0-12345678901234567890123456789012-1234567890123456-01",
      // test_traceparent_trace_id_all_zero, _illegal_characters, _too_long, _too_short
      "00-00000000000000000000000000000000-1234567890123456-01",
      "00-.2345678901234567890123456789012-1234567890123456-01",
      "00-1234567890123456789012345678901.-1234567890123456-01",
      "00-123456789012345678901234567890123-1234567890123456-01",
      "00-1234567890123456789012345678901-1234567890123456-01",
      // test_traceparent_parent_id_all_zero, _illegal_characters, _too_long, _too_short
      "00-12345678901234567890123456789012-0000000000000000-01",
      "00-12345678901234567890123456789012-.234567890123456-01",
      "00-12345678901234567890123456789012-123456789012345.-01",
      "00-12345678901234567890123456789012-12345678901234567-01",
      "00-12345678901234567890123456789012-123456789012345-01",
      // test_traceparent_trace_flags_illegal_characters, _too_long, _too_short
      "00-12345678901234567890123456789012-1234567890123456-.0",
      "00-12345678901234567890123456789012-1234567890123456-0.",
      "00-12345678901234567890123456789012-1234567890123456-001",
      "00-12345678901234567890123456789012-1234567890123456-1", "", " ", "-", "00");
  INFO(text);

  CHECK_FALSE(ParseTraceparent(text));
}

TEST_CASE("trace: a tracestate is kept without white space", "[trace]") {
  struct Case {
    std::string text;
    std::string state;
  };
  const std::string value =
      " !\"#$%&'()*+-./0123456789:;<>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
      "abcdefghijklmnopqrstuvwxyz{|}~";
  const std::string key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
  std::string most;
  for (int i = 10; i < 42; ++i) most += (i > 10 ? ",bar" : "bar") + std::to_string(i) + "=1";
  const std::string long_key = std::string(256, 'z') + "=1";
  const std::string long_tenant = std::string(241, 't') + "@" + std::string(14, 'v') + "=1";
  // TestParseTraceState
  const std::vector<Case> cases = {
      {key + "=" + value, key + "=" + value},
      {key + "@a-z0-9_-*/=" + value, key + "@a-z0-9_-*/=" + value},
      {"", ""},
      {"foo=1", "foo=1"},
      {"foo=1,", "foo=1"},
      {",foo=1", "foo=1"},
      {"foo=1,bar=2", "foo=1,bar=2"},
      {long_key, long_key},
      {long_tenant, long_tenant},
      {most, most},
      {"foo=1,bar=2,rojo=1,congo=2,baz=3", "foo=1,bar=2,rojo=1,congo=2,baz=3"},
      {"foo=1 \t , \t bar=2, \t baz=3", "foo=1,bar=2,baz=3"},
      {"foo=1\t \t,\t \tbar=2,\t \tbaz=3", "foo=1,bar=2,baz=3"},
      {" foo=1", "foo=1"},
      {"foo=1 \t", "foo=1"},
      {"0t@v=1", "0t@v=1"},
      {"foo=" + std::string(256, 'v'), "foo=" + std::string(256, 'v')},
  };
  for (const Case& test : cases) {
    INFO(test.text);
    CHECK(ParseTracestate(test.text) == test.state);
  }
}

TEST_CASE("trace: a tracestate that is none is dropped whole", "[trace]") {
  std::string too_many;
  for (int i = 10; i < 43; ++i) too_many += (i > 10 ? ",bar" : "bar") + std::to_string(i) + "=1";
  // TestParseTraceState; test_tracestate_key_illegal_characters and those that follow it
  const std::vector<std::string> cases = {
      "foo=1,foo=1",
      "foo=1,foo=2",
      "foo =1",
      "FOO=1",
      "foo.bar=1",
      "foo@=1,bar=2",
      "@foo=1,bar=2",
      "foo@@bar=1,bar=2",
      "foo@bar@baz=1,bar=2",
      "foo=1," + std::string(257, 'z') + "=1",
      "foo=1," + std::string(242, 't') + "@v=1",
      "foo=1,t@" + std::string(15, 'v') + "=1",
      "foo=bar=baz",
      "foo=,bar=3",
      too_many,
      "foo",
      "=1",
      "0foo=1",
      "foo=" + std::string(257, 'v'),
      "foo=\x80",
  };
  for (const std::string& text : cases) {
    INFO(text);
    CHECK_FALSE(ParseTracestate(text));
  }
}
