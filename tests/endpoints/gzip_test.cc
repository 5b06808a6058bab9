// Compressed answers, for clients that accept them.
#include <catch2/catch.hpp>

#include "gunzip.h"
#include "media_types.h"
#include "watch_lines.h"
#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::Gunzip;
using apiserver::testing::kPartialList;
using apiserver::testing::kTable;
using apiserver::testing::kWidgets;
using apiserver::testing::Lines;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;
using apiserver::testing::Widget;

namespace {

constexpr std::size_t kThreshold = std::size_t{128} << 10;

void Create(TestServer& server, const std::string& name, std::size_t color_bytes) {
  const std::string body = R"({"metadata":{"name":")" + name + R"("},"spec":{"color":")" +
                           std::string(color_bytes, 'x') + R"("}})";
  REQUIRE(server.Call("POST", kWidgets, body).code == 201);
}

// `count` objects that make a list of exactly `bytes`.
void Fill(TestServer& server, int count, std::size_t bytes) {
  for (int i = 1; i < count; ++i) Create(server, "w" + std::to_string(i + 1000), 1000);
  Create(server, "w1000", 1);
  const std::size_t size = server.Call("GET", kWidgets).body.size();
  REQUIRE(size < bytes);
  REQUIRE(server
              .Call("PATCH", std::string(kWidgets) + "/w1000",
                    R"({"spec":{"color":")" + std::string(1 + bytes - size, 'x') + R"("}})",
                    {{"Content-Type", "application/merge-patch+json"}})
              .code == 200);
  REQUIRE(server.Call("GET", kWidgets).body.size() == bytes);
}

std::string Unzipped(const std::string& body) {
  Gunzip gunzip;
  std::string text = gunzip.Add(body);
  CHECK_FALSE(gunzip.bad());
  CHECK(gunzip.ended());
  return text;
}

}  // namespace

// responsewriters TestSerializeObject, TestDeferredResponseWriter_Write
TEST_CASE("endpoints: a list is gzipped if it is longer than 128 KiB and the client accepts it",
          "[endpoints]") {
  // Up to 32 objects are sent in one piece, more as a stream.
  const int count = GENERATE(1, 40);
  const std::size_t size = GENERATE(as<std::size_t>(), kThreshold, kThreshold + 1);
  const auto server = StartWidgetServer();
  Fill(*server, count, size);
  const std::string plain = server->Call("GET", kWidgets).body;
  struct Case {
    const char* accept_encoding;
    bool accepted;
  };
  for (const Case& each : {Case{"gzip", true}, Case{"deflate, gzip", true}, Case{"gzip,br", true},
                           Case{" br ,\tgzip ", true}, Case{"identity", false}, Case{"", false},
                           Case{"deflate", false}, Case{"gzip;q=1.0", false}, Case{"GZIP", false},
                           Case{"*", false}, Case{"xgzip", false}}) {
    INFO(count << " " << size << " " << each.accept_encoding);

    const auto answer =
        server->Call("GET", kWidgets, "", {{"Accept-Encoding", each.accept_encoding}});

    const bool zipped = each.accepted && size > kThreshold;
    CHECK(answer.code == 200);
    CHECK(answer.headers.Get("Content-Type") == "application/json");
    CHECK(answer.headers.Get("Content-Encoding") == (zipped ? "gzip" : ""));
    CHECK(answer.headers.Get("Vary") == (zipped ? "Accept-Encoding" : ""));
    CHECK((zipped ? Unzipped(answer.body) : answer.body) == plain);
    if (zipped) CHECK(answer.body.size() < plain.size() / 10);
  }
}

TEST_CASE("endpoints: objects, tables, partial lists and YAML are gzipped as well", "[endpoints]") {
  const auto server = StartWidgetServer();
  Create(*server, "large", 2 * kThreshold);
  const std::string labels(200, 'l');
  for (int i = 0; i < 600; ++i) {
    REQUIRE(server
                ->Call("POST", kWidgets,
                       R"({"metadata":{"name":"w)" + std::to_string(i) +
                           R"(","annotations":{"a":")" + labels + R"("}}})")
                .code == 201);
  }
  struct Case {
    std::string target;
    const char* accept;
  };
  for (const Case& each :
       {Case{std::string(kWidgets) + "/large", "application/json"},
        Case{std::string(kWidgets) + "/large", "application/yaml"},
        Case{std::string(kWidgets) + "/large?pretty=1", "application/json"}, Case{kWidgets, kTable},
        Case{kWidgets, kPartialList}, Case{kWidgets, "application/yaml"}}) {
    INFO(each.target << " " << each.accept);
    const auto plain = server->Call("GET", each.target, "", {{"Accept", each.accept}});
    const auto zipped = server->Call("GET", each.target, "",
                                     {{"Accept", each.accept}, {"Accept-Encoding", "gzip"}});

    REQUIRE(plain.body.size() > kThreshold);
    CHECK(zipped.headers.Get("Content-Encoding") == "gzip");
    CHECK(zipped.headers.Get("Content-Type") == plain.headers.Get("Content-Type"));
    CHECK(Unzipped(zipped.body) == plain.body);
  }
}

TEST_CASE("endpoints: nothing is gzipped where the feature is off", "[endpoints]") {
  apiserver::testing::TestServerOptions options;
  REQUIRE(options.features.Set("APIResponseCompression=false,WatchListCompression=false").ok());
  const auto server = StartWidgetServer(options);
  Create(*server, "large", 2 * kThreshold);

  const auto answer = server->Call("GET", kWidgets, "", {{"Accept-Encoding", "gzip"}});
  Lines watch(*server,
              std::string(kWidgets) +
                  "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                  "resourceVersionMatch=NotOlderThan",
              {{"Accept-Encoding", "gzip"}});

  CHECK_FALSE(answer.headers.Has("Content-Encoding"));
  CHECK_FALSE(watch.head().headers.Has("Content-Encoding"));
  CHECK(watch.Next().starts_with(R"({"type":"ADDED")"));
}

// handlers TestWatchListCompression, TestWatchHTTPGzip
TEST_CASE("endpoints: a watch is gzipped only if it begins with the present state", "[endpoints]") {
  const auto server = StartWidgetServer();
  struct Case {
    const char* query;
    const char* accept_encoding;
    const char* encoding;
  };
  const std::string initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  for (const auto& [query, accepted, encoding] :
       std::vector<std::tuple<std::string, const char*, const char*>>{
           {initial + "&allowWatchBookmarks=true", "gzip", "gzip"},
           {initial + "&allowWatchBookmarks=true", "br", ""},
           {initial + "&allowWatchBookmarks=true", "", ""},
           {initial, "gzip", ""},
           // As ever, no revision means the present state.
           {"&allowWatchBookmarks=true", "gzip", "gzip"},
           {"&allowWatchBookmarks=true&resourceVersion=1", "gzip", ""},
           {"", "gzip", ""}}) {
    INFO(query << " " << accepted);
    Lines watch(*server, std::string(kWidgets) + "?watch=1&timeoutSeconds=1" + query,
                {{"Accept-Encoding", accepted}});
    CHECK(watch.head().headers.Get("Content-Encoding") == encoding);
    CHECK(watch.head().headers.Get("Vary") == (*encoding ? "Accept-Encoding" : ""));
  }
}

TEST_CASE("endpoints: a gzipped watch brings every event at once, and ends between members",
          "[endpoints]") {
  const auto server = StartWidgetServer();
  // More than one job on the pool reads at a time.
  for (int i = 0; i < 300; ++i) Create(*server, "w" + std::to_string(i), 4000);
  Lines watch(*server,
              std::string(kWidgets) +
                  "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                  "resourceVersionMatch=NotOlderThan",
              {{"Accept-Encoding", "gzip"}});
  Gunzip gunzip;
  std::string text;
  std::string bytes;
  const auto read_until = [&](const std::string& wanted) {
    bytes.clear();
    while (!Contains(text, wanted)) {
      const std::string more = watch.NextBytes();
      REQUIRE_FALSE(more.empty());
      bytes += more;
      text += gunzip.Add(more);
      REQUIRE_FALSE(gunzip.bad());
    }
  };

  read_until("initial-events-end");
  CHECK(std::count(text.begin(), text.end(), '\n') == 301);
  CHECK(gunzip.ended());
  for (const char* name : {"live-1", "live-2", "live-3"}) {
    Create(*server, name, 10);
    read_until(R"("name":")" + std::string(name));
    CHECK(gunzip.ended());
    // Without the mark of a flush before its end, Go's reader shows an event when the next comes.
    CHECK(Contains(bytes, std::string("\x00\x00\xff\xff", 4)));
  }
  CHECK(std::count(text.begin(), text.end(), '\n') == 304);
}

TEST_CASE("endpoints: a client that goes away ends a gzipped list and watch", "[endpoints]") {
  auto server = StartWidgetServer();
  for (int i = 0; i < 100; ++i) Create(*server, "w" + std::to_string(i), 100000);
  for (const char* query : {"",
                            "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                            "resourceVersionMatch=NotOlderThan"}) {
    Lines stream(*server, std::string(kWidgets) + query, {{"Accept-Encoding", "gzip"}});
    CHECK(stream.head().headers.Get("Content-Encoding") == "gzip");
    CHECK_FALSE(stream.NextBytes().empty());
  }
  // Stopping waits for whatever is still open.
  server.reset();
}
