#include "text/ip.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "text/quote.h"

namespace apiserver::inline v0::text {
namespace {

// A text and why it is no address; the words of each error are what Go 1.26.8 answers.
struct Refusal {
  std::string text;
  std::string error;
};

// The tables of TestParseAddr in Go 1.26's src/net/netip/netip_test.go.
TEST_CASE("text: IP addresses are read as Go does", "[text]") {
  for (const std::string text : {"0.0.0.0", "192.168.140.255"}) {
    CAPTURE(text);
    CHECK(*ParseGoIp(text) == IpFamily::kV4);
  }
  for (const std::string text :
       {"::", "::1", "fd7a:115c:a1e0:ab12:4843:cd96:626b:430b", "fd7a:115c::626b:430b",
        "fd7a:115c:a1e0:ab12:4843:cd96::", "fd7a:115c:a1e0:ab12:4843:cd96:626b::",
        "fd7a:115c:a1e0::4843:cd96:626b:430b", "::ffff:192.168.140.255",
        "fd7a:115c:a1e0:ab12:4843:cd96:626b:430b%eth0", "1:2::ffff:192.168.140.255%eth1",
        "::ffff:192.168.140.255%eth1", "FD9E:1A04:F01D::1"}) {
    CAPTURE(text);
    CHECK(*ParseGoIp(text) == IpFamily::kV6);
  }
  const std::vector<Refusal> rows{
      {"010.000.015.001", "IPv4 field has octet with leading zero"},
      {"000001.00000002.00000003.000000004", "IPv4 field has octet with leading zero"},
      {"::ffff:1.2.03.4", "IPv4 field has octet with leading zero"},
      {"::ffff:1.2.3.z", R"(unexpected character (at "z"))"},
      {"", "unable to parse IP"},
      {"bad", "unable to parse IP"},
      {"1234", "unable to parse IP"},
      {"1.2.3.4%eth0", R"(unexpected character (at "%eth0"))"},
      {".1.2.3", R"(IPv4 field must have at least one digit (at ".1.2.3"))"},
      {"1.2.3.", R"(IPv4 field must have at least one digit (at "."))"},
      {"1..2.3", R"(IPv4 field must have at least one digit (at ".2.3"))"},
      {"1.2.3.4.5", "IPv4 address too long"},
      {"0300.0250.0214.0377", "IPv4 field has octet with leading zero"},
      {"0xc0.0xa8.0x8c.0xff", R"(unexpected character (at "xc0.0xa8.0x8c.0xff"))"},
      {"192.168.12345", "IPv4 field has value >255"},
      {"127.0.1", "IPv4 address too short"},
      {"192.1234567", "IPv4 field has value >255"},
      {"127.1", "IPv4 address too short"},
      {"192.168.300.1", "IPv4 field has value >255"},
      {"192.168.0.1.5.6", "IPv4 address too long"},
      {"1:2:3:4:5:6:7", "address string too short"},
      {"1:2:3:4:5:6:7:8:9", R"(trailing garbage after address (at "9"))"},
      {"1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"},
      {"fe801::1", R"(each group must have 4 or less digits (at "fe801::1"))"},
      {"fe80:tail:scal:e::",
       R"(each colon-separated field must have at least one digit (at "tail:scal:e::"))"},
      {"fe80::1%", "zone must be a non-empty string"},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:192.168.140.255",
       R"(embedded IPv4 address must replace the final 2 fields )"
       R"(of the address (at "192.168.140.255"))"},
      {"ffff::ffff:ffff:ffff:ffff:ffff:ffff:192.168.140.255",
       R"(too many hex fields to fit an embedded IPv4 at the end )"
       R"(of the address (at "192.168.140.255"))"},
      {"::ffff:192.168.140.bad", R"(unexpected character (at "bad"))"},
      {"fe80::1::1", R"(multiple :: in address (at ":1"))"},
      {"fe80:1?:1", R"(unexpected character, want colon (at "?:1"))"},
      {"fe80:", R"(colon must be followed by more characters (at ":"))"},
      {"0:0:0:0:0:ffff:0:00000", R"(each group must have 4 or less digits (at "00000"))"},
      {"0:0:0:0:00000:ffff:127.1.2.3",
       R"(each group must have 4 or less digits (at "00000:ffff:127.1.2.3"))"},
      {"%eth0", "missing IPv6 address"},
  };
  for (const Refusal& row : rows) {
    CAPTURE(row.text);
    const Read<IpFamily> read = ParseGoIp(row.text);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message() == "ParseAddr(" + Quote(row.text) + "): " + row.error);
  }
}

TEST_CASE("text: an address of each family is told from the other", "[text]") {
  for (const std::string text : {"0.0.0.0", "10.0.0.1", "255.255.255.255"}) {
    CAPTURE(text);
    CHECK(IsIpv4(text));
    CHECK_FALSE(IsIpv6(text));
  }
  for (const std::string text : {"::", "::1", "2001:db8::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"}) {
    CAPTURE(text);
    CHECK(IsIpv6(text));
    CHECK_FALSE(IsIpv4(text));
  }
  for (const std::string text : {"", "10.0.0", "10.0.0.256", "10.0.0.01", " 10.0.0.1", "10.0.0.1 ",
                                 "fe80::1%eth0", "[::1]", "1::2::3", "12345::", "localhost"}) {
    CAPTURE(text);
    CHECK_FALSE(IsIpv4(text));
    CHECK_FALSE(IsIpv6(text));
  }
  CHECK_FALSE(IsIpv4(std::string_view("10.0.0.1\0", 9)));
  CHECK_FALSE(IsIpv6(std::string_view("::1\0", 4)));
}

TEST_CASE("text: a network is an address and how many of its bits count", "[text]") {
  for (const char* text : {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.1/32", "::/0", "2001:db8::/128"}) {
    CAPTURE(text);
    CHECK(IsCidr(text));
  }
  for (const char* text : {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0/8", "::/129", "/8",
                           "10.0.0.0/-1", "10.0.0.0/8 ", "10.0.0.0/8/8", "fe80::1%eth0/64"}) {
    CAPTURE(text);
    CHECK_FALSE(IsCidr(text));
  }
}

TEST_CASE("text: an address is printed as Go's net.IP is", "[text]") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"10.0.0.1", "10.0.0.1"},
      {"010.000.0.01", "10.0.0.1"},
      {"0000000255.255.255.255", "255.255.255.255"},
      {"0.0.0.0", "0.0.0.0"},
      {"::ffff:10.0.0.1", "10.0.0.1"},
      {"::ffff:a00:1", "10.0.0.1"},
      {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"::", "::"},
      {"::1.2.3.4", "::102:304"},
      {"::0.2.3.4", "::2:304"},
      {"0:0:0:0:0:0:0:1", "::1"}};
  for (const auto& [text, printed] : rows) {
    CAPTURE(text);
    CHECK(CanonicalIP(text) == printed);
  }
  for (const char* text : {"", "x", "10.0.0", "10.0.0.256", "10.0.0.1.2", "10.0.0.1 ", "-1.0.0.1",
                           "10.0.0.", "10..0.1", ".10.0.1", "1000.0.0.1", "10.0.0.1000", "+1.0.0.1",
                           "1::2::3", "fe80::1%eth0", "[::1]"}) {
    CAPTURE(text);
    CHECK_FALSE(CanonicalIP(text));
  }
  CHECK_FALSE(CanonicalIP(std::string_view("::1\0x", 5)));
}

}  // namespace
}  // namespace apiserver::inline v0::text
