#include <catch2/catch.hpp>

#include "apiserver/http/message.h"

namespace {

using namespace apiserver::http;  // NOLINT: tests only.

TEST_CASE("http: header names compare without regard to case", "[http]") {
  Headers headers = {{"Accept", "a"}, {"X-Remote-User", "u"}, {"accept", "b"}};

  CHECK(headers.Get("ACCEPT") == "a");
  CHECK(headers.GetAll("accept") == std::vector<std::string_view>{"a", "b"});
  CHECK(headers.Has("x-remote-user"));
  CHECK_FALSE(headers.Has("x-remote"));
  headers.Set("aCCept", "c");
  CHECK(headers.GetAll("accept") == std::vector<std::string_view>{"c"});
  CHECK(headers.RemovePrefix("x-remote-") == 1);
  CHECK(headers.Remove("Accept") == 1);
  CHECK(headers.empty());
}

TEST_CASE("http: queries are read as Go's url.ParseQuery reads them", "[http]") {
  const Query query = Query::Parse("a=1&b=x+y%21&a=2&flag&=empty&bad=%zz&c;d=1&&e==");

  CHECK(query.GetAll("a") == std::vector<std::string_view>{"1", "2"});
  CHECK(query.Get("b") == "x y!");
  CHECK(query.Has("flag"));
  CHECK(query.Get("flag").empty());
  CHECK(query.Get("") == "empty");
  CHECK_FALSE(query.Has("bad"));
  CHECK_FALSE(query.Has("c;d"));
  CHECK(query.Get("e") == "=");
  CHECK(query.all().size() == 6);
}

TEST_CASE("http: percent-coding is a host's too", "[http]") {
  CHECK(PercentDecode("a+b%2Fc", true) == "a b/c");
  CHECK(PercentDecode("%4") == std::nullopt);
  CHECK(PercentEncode("a/b") == "a%2Fb");
}

TEST_CASE("http: bytes keep the order of their pieces", "[http]") {
  const auto owner = std::make_shared<const std::string>("shared");
  Bytes bytes("own");
  bytes.Append(owner, std::string_view(*owner).substr(1, 3));
  bytes.Append(std::string("tail"));

  CHECK(bytes.ToString() == "ownhartail");
  CHECK(bytes.size() == 10);
  CHECK(bytes.pieces().size() == 3);
}

TEST_CASE("http: an upgrade needs HTTP/1, the token and the protocol", "[http]") {
  Request request;
  request.headers = {{"Connection", "keep-alive, Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  CHECK(request.IsUpgrade());
  request.http_major = 2;
  CHECK_FALSE(request.IsUpgrade());
  request.http_major = 1;
  request.headers.Set("Connection", "upgraded");
  CHECK_FALSE(request.IsUpgrade());
  request.headers = {{"Connection", "Upgrade"}};
  CHECK_FALSE(request.IsUpgrade());
}

}  // namespace
