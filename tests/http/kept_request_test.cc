#include "http/kept_request.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support.h"

namespace {

using namespace http_test;  // NOLINT: tests only.

// All that a request tells, as one text.
std::string Told(const Request& request, const Query& query) {
  std::string text = request.method + " " + request.target + " " + request.path + " " +
                     request.query + " " + request.host + " " + request.remote_address + " " +
                     std::to_string(request.http_major) + (request.tls ? " tls" : "");
  if (request.peer) text += " " + request.peer->der.front();
  for (const auto& [name, value] : request.headers) text += "\n" + name + ": " + value;
  for (const auto& [key, value] : query.all()) text += "\n" + key + "=" + value;
  return text;
}

Request Example(std::string target, std::string path, std::string query) {
  Request request;
  request.method = "GET";
  request.target = std::move(target);
  request.path = std::move(path);
  request.query = std::move(query);
  request.headers = {{"User-Agent", "kubelet/v1.35.0 (linux/amd64)"}, {"X-Empty", ""}};
  request.host = "a-server.example.com:6443";
  request.remote_address = "127.0.0.1:40000";
  request.http_major = 2;
  request.tls = true;
  request.peer = std::make_shared<const PeerCertificates>(PeerCertificates{{"leaf"}});
  return request;
}

// Never has anything to send.
struct Idle final : BodySource {
  Pull Next(ChunkWriter& /*out*/, const Waker& /*waker*/) override { return Pull::kWait; }
};

TEST_CASE("http: a request that was packed tells the same, and its path's text stays", "[http]") {
  struct Case {
    const char* target;
    const char* path;
    const char* query;
  };
  const auto [target, path, query] =
      GENERATE(Case{"/apis/x.example.com/v1/things?watch=1&a=b%20c",
                    "/apis/x.example.com/v1/things", "watch=1&a=b%20c"},
               Case{"/apis/x.example.com/v1/things", "/apis/x.example.com/v1/things", ""},
               Case{"/apis/x.example.com/v1/%74hings?", "/apis/x.example.com/v1/things", ""},
               // As a host may have it that has changed the path.
               Case{"/old?a=1", "/apis/x.example.com/v1/things", "b=2"},
               Case{"", "/a/path/like/any/other", ""});
  CAPTURE(target, path, query);
  auto asked = std::make_unique<Asked>(Asked{.request = Example(target, path, query)});
  const std::string told = Told(asked->request, Query::Parse(query));
  KeptRequest kept(std::move(asked));
  const char* const text = kept.request().path.data();

  kept.Pack();
  kept.Pack();

  REQUIRE(kept.packed());
  CHECK(Told(kept.request(), kept.query()) == told);
  CHECK_FALSE(kept.packed());
  CHECK(kept.request().path.data() == text);
  kept.Pack();
  CHECK(Told(kept.request(), kept.query()) == told);
}

TEST_CASE("http: a request whose path would move is not packed", "[http]") {
  KeptRequest kept(std::make_unique<Asked>(Asked{.request = Example("/short", "/short", "")}));

  kept.Pack();

  CHECK_FALSE(kept.packed());
}

TEST_CASE("http: the end of a stream whose request rested is told the whole request", "[http]") {
  const http_test::Wire wire = GENERATE(http_test::Wire::kHttp1, http_test::Wire::kHttp2);
  TestService service([](Exchange& exchange) {
    exchange.LetRequestRest();
    exchange.writer().Stream({}, std::make_unique<Idle>());
    return Step::Done();
  });
  std::string begun;
  Journal ended;
  LambdaFilter& filter = service.AddFilter();
  filter.begin = [&begun](Exchange& exchange) {
    begun = Told(exchange.request(), exchange.query());
    return Step::Next();
  };
  filter.end = [&ended](Exchange& exchange, const Outcome&) {
    ended.Add(Told(exchange.request(), exchange.query()));
  };
  TestServer server(service.service, wire);
  {
    const auto connection = server.Connect();
    const auto stream = connection->Open(
        {.target = "/a/path/like/any/other?watch=1&b=%41", .headers = {{"User-Agent", "tester"}}});
    REQUIRE(stream.ok());
    REQUIRE((*stream)->Head(Soon()).value().code == 200);
  }

  REQUIRE(ended.AwaitCount(1));
  CHECK(ended.lines().front() == begun);
  CHECK(begun.find(": tester") != std::string::npos);
  CHECK(begun.find("b=A") != std::string::npos);
}

}  // namespace
