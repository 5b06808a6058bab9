#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: ip reads what Go's netip reads without zones", "[cel]") {
  EvaluateAll({
      {"ip('192.168.0.1') == ip('192.168.0.1')", "true"},
      {"ip('2001:DB8::1') == ip('2001:db8:0::1')", "true"},
      {"ip('1.2.3')",
       "error: IP Address \"1.2.3\" parse error during conversion from string: "
       "ParseAddr(\"1.2.3\"): IPv4 address too short"},
      {"ip('01.2.3.4')",
       "error: IP Address \"01.2.3.4\" parse error during conversion from string: "
       "ParseAddr(\"01.2.3.4\"): IPv4 field has octet with leading zero"},
      {"ip('256.1.1.1')",
       "error: IP Address \"256.1.1.1\" parse error during conversion from string: "
       "ParseAddr(\"256.1.1.1\"): IPv4 field has value >255"},
      {"ip('1.2.3.4.5')",
       "error: IP Address \"1.2.3.4.5\" parse error during conversion from string: "
       "ParseAddr(\"1.2.3.4.5\"): IPv4 address too long"},
      {"ip('')",
       "error: IP Address \"\" parse error during conversion from string: ParseAddr(\"\"): unable "
       "to parse IP"},
      {"ip('::1::')",
       "error: IP Address \"::1::\" parse error during conversion from string: "
       "ParseAddr(\"::1::\"): multiple :: in address (at \":\")"},
      {"ip('1:2:3:4:5:6:7')",
       "error: IP Address \"1:2:3:4:5:6:7\" parse error during conversion from string: "
       "ParseAddr(\"1:2:3:4:5:6:7\"): address string too short"},
      {"ip('12345::')",
       "error: IP Address \"12345::\" parse error during conversion from string: "
       "ParseAddr(\"12345::\"): each group must have 4 or less digits (at \"12345::\")"},
      {"ip('fe80::1%eth0')", "error: IP address \"fe80::1%eth0\" with zone value is not allowed"},
      {"ip('::ffff:1.2.3.4')", "error: IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed"},
      {"ip('1.2.3.4/24')",
       "error: IP Address \"1.2.3.4/24\" parse error during conversion from string: "
       "ParseAddr(\"1.2.3.4/24\"): unexpected character (at \"/24\")"},
      {"isIP('1.2.3.4')", "true"},
      {"isIP('::1')", "true"},
      {"isIP('::ffff:1.2.3.4')", "false"},
      {"isIP('fe80::1%eth0')", "false"},
      {"isIP('a')", "false"},
      {"ip(dyn(1))", "error: no such overload: ip(int)"},
      {"dyn(1).family()", "error: no such overload: family(int)"},
  });
}

TEST_CASE("cel: addresses print in their canonical form", "[cel]") {
  EvaluateAll({
      {"string(ip('2001:0DB8::0001'))", "2001:db8::1"},
      {"string(ip('1:0:0:2:0:0:0:3'))", "1:0:0:2::3"},
      {"string(ip('1:0:2:0:3:0:4:0'))", "1:0:2:0:3:0:4:0"},
      {"string(ip('::1.2.3.4'))", "::102:304"},
      {"string(ip('1:2:3:4:5:6:7::'))", "1:2:3:4:5:6:7:0"},
      {"string(ip('0:0:0:0:0:0:0:0'))", "::"},
      {"string(ip('127.0.0.1'))", "127.0.0.1"},
      {"ip.isCanonical('127.0.0.1')", "true"},
      {"ip.isCanonical('2001:db8::1')", "true"},
      {"ip.isCanonical('2001:DB8::1')", "false"},
      {"ip.isCanonical('2001:db8:0::1')", "false"},
      {"ip.isCanonical('x')",
       "error: IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): "
       "unable to parse IP"},
      {"string(dyn(ip('::1')))", "::1"},
  });
}

TEST_CASE("cel: addresses belong to families and ranges", "[cel]") {
  EvaluateAll({
      {"ip('127.0.0.1').family()", "4"},
      {"ip('::1').family()", "6"},
      {"ip('0.0.0.0').isUnspecified()", "true"},
      {"ip('::').isUnspecified()", "true"},
      {"ip('127.5.5.5').isLoopback()", "true"},
      {"ip('::2').isLoopback()", "false"},
      {"ip('224.0.0.1').isLinkLocalMulticast()", "true"},
      {"ip('224.0.1.1').isLinkLocalMulticast()", "false"},
      {"ip('ff12::1').isLinkLocalMulticast()", "true"},
      {"ip('ff05::1').isLinkLocalMulticast()", "false"},
      {"ip('169.254.1.1').isLinkLocalUnicast()", "true"},
      {"ip('febf::1').isLinkLocalUnicast()", "true"},
      {"ip('fec0::1').isLinkLocalUnicast()", "false"},
      {"ip('10.0.0.1').isGlobalUnicast()", "true"},
      {"ip('255.255.255.255').isGlobalUnicast()", "false"},
      {"ip('fc00::1').isGlobalUnicast()", "true"},
      {"ip('ff01::1').isGlobalUnicast()", "false"},
  });
}

TEST_CASE("cel: cidr reads networks whose host bits may be set", "[cel]") {
  EvaluateAll({
      {"cidr('192.168.0.0/24') == cidr('192.168.0.0/24')", "true"},
      {"cidr('192.168.0.1/24') == cidr('192.168.0.0/24')", "false"},
      {"string(cidr('192.168.0.1/24'))", "192.168.0.1/24"},
      {"string(cidr('2001:DB8::1/64'))", "2001:db8::1/64"},
      {"cidr('bad')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"bad\"): no '/'"},
      {"cidr('192.168.0.0/')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"192.168.0.0/\"): bad bits after "
       "slash: \"\""},
      {"cidr('192.168.0.0/33')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"192.168.0.0/33\"): prefix length "
       "out of range"},
      {"cidr('192.168.0.0/-1')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"192.168.0.0/-1\"): bad bits after "
       "slash: \"-1\""},
      {"cidr('192.168.0.0/01')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"192.168.0.0/01\"): bad bits after "
       "slash: \"01\""},
      {"cidr('1.2.3/8')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"1.2.3/8\"): ParseAddr(\"1.2.3\"): "
       "IPv4 address too short"},
      {"cidr('fe80::1%eth0/64')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"fe80::1%eth0/64\"): IPv6 zones "
       "cannot be present in a prefix"},
      {"cidr('::ffff:1.2.3.4/120')",
       "error: network address parse error during conversion from string: IPv4-mapped IPv6 address "
       "\"::ffff:1.2.3.4/120\" is not allowed"},
      {"cidr('::1/129')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"::1/129\"): prefix length out of "
       "range"},
      {"isCIDR('192.168.0.0/24')", "true"},
      {"isCIDR('192.168.0.0')", "false"},
      {"isCIDR('::/0')", "true"},
      {"type(cidr('::/0')) == net.CIDR", "true"},
  });
}

TEST_CASE("cel: networks contain addresses and networks", "[cel]") {
  EvaluateAll({
      {"cidr('192.168.0.0/24').containsIP('192.168.0.1')", "true"},
      {"cidr('192.168.0.0/24').containsIP(ip('192.168.1.1'))", "false"},
      {"cidr('192.168.0.0/24').containsIP('2001:db8::1')", "false"},
      {"cidr('192.168.0.0/24').containsIP('bad')", "error: no such overload"},
      {"cidr('2001:db8::/32').containsIP('2001:db8::5')", "true"},
      {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"},
      {"cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/7'))", "false"},
      {"cidr('10.0.0.0/8').containsCIDR('11.0.0.0/16')", "false"},
      {"cidr('::/0').containsCIDR('10.0.0.0/8')", "false"},
      {"cidr('10.0.0.0/8').containsCIDR('bad')",
       "error: network address parse error during conversion from string: network address parse "
       "error during conversion from string: netip.ParsePrefix(\"bad\"): no '/'"},
      {"cidr('10.0.0.0/8').containsCIDR(dyn(1))",
       "error: no such overload: containsCIDR(net.CIDR, int)"},
      {"cidr('10.1.2.3/8').ip() == ip('10.1.2.3')", "true"},
      {"string(cidr('10.1.2.3/12').masked())", "10.0.0.0/12"},
      {"string(cidr('2001:db8:ffff::1/33').masked())", "2001:db8:8000::/33"},
      {"cidr('10.1.2.3/8').prefixLength()", "8"},
      {"dyn(cidr('10.1.2.3/8')).ip() == ip('10.1.2.3')", "true"},
  });
}
