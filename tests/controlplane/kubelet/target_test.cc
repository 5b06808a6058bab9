// The names and addresses of what requests are forwarded to.
#include <catch2/catch.hpp>

#include "controlplane/kubelet/target.h"

namespace kubelet_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using controlplane::IsGlobalUnicast;
using controlplane::PathOf;
using controlplane::SplitSchemeNamePort;

std::string Parts(std::string_view id) {
  const auto parts = SplitSchemeNamePort(id);
  return parts ? parts->scheme + "|" + parts->name + "|" + parts->port : "none";
}

}  // namespace

// TestSplitSchemeNamePort.
TEST_CASE("controlplane: names of proxies are name, name:port and scheme:name:port",
          "[controlplane]") {
  CHECK(Parts("aoeu") == "|aoeu|");
  CHECK(Parts("a:80") == "|a|80");
  CHECK(Parts(":a:") == "|a|");
  CHECK(Parts("https:a:") == "https|a|");
  CHECK(Parts("https:a:80") == "https|a|80");
  CHECK(Parts("http:a:p") == "http|a|p");
  for (const char* id : {"", ":", ":80", "::", "ftp:a:80", "http:a:80:1", ":a:80:1", "HTTP:a:1"}) {
    INFO(id);
    CHECK(Parts(id) == "none");
  }
}

TEST_CASE("controlplane: requests go to global unicast addresses only", "[controlplane]") {
  for (const char* ip : {"10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::1",
                         "::ffff:10.0.0.1", "010.000.000.001"}) {
    INFO(ip);
    CHECK(IsGlobalUnicast(ip));
  }
  for (const char* ip :
       {"", "x", "127.0.0.1", "127.9.9.9", "169.254.169.254", "0.0.0.0", "255.255.255.255",
        "224.0.0.1", "::", "::1", "fe80::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "fe80::1%lo", "unix:/x", "localhost"}) {
    INFO(ip);
    CHECK_FALSE(IsGlobalUnicast(ip));
  }
}

// TestJoinPreservingTrailingSlash.
TEST_CASE("controlplane: a proxied path is cleaned, and keeps its last slash", "[controlplane]") {
  CHECK(PathOf("").empty());
  CHECK(PathOf("/") == "/");
  CHECK(PathOf("/a/b") == "/a/b");
  CHECK(PathOf("/a//b/") == "/a/b/");
  CHECK(PathOf("/a/../../b/.") == "/b");
}

}  // namespace kubelet_test
