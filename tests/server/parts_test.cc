// The pieces of the server that stand alone.
#include <catch2/catch.hpp>

#include <chrono>

#include "server/mux/path_mux.h"
#include "server/requests/in_flight.h"
#include "server/requests/warning_header.h"

using apiserver::Context;
using apiserver::Status;
using apiserver::server::InFlight;
using apiserver::server::PathMux;
using apiserver::server::WarningHeaders;

std::vector<std::string> HeadersOf(const std::vector<std::string>& texts,
                                   const apiserver::server::WarningLimits& limits = {}) {
  apiserver::rest::WarningRecorder recorder;
  for (const std::string& text : texts) recorder.Add(text);
  return WarningHeaders(recorder.Warnings(), limits);
}

// filters Test_recorder_AddWarning
TEST_CASE("server: warnings are quoted, and left out if no header can say them", "[server]") {
  const std::pair<std::vector<std::string>, std::vector<std::string>> rows[] = {
      {{}, {}},
      {{""}, {}},
      {{"mytext"}, {"299 - \"mytext\""}},
      {{"mytext1", "mytext2", "mytext3"},
       {"299 - \"mytext1\"", "299 - \"mytext2\"", "299 - \"mytext3\""}},
      {{"my\ntext"}, {}},
      {{"my\xC2\x85text"}, {}},
      {{"my\xFFtext"}, {}},
      {{"a \"b\" \\"}, {R"(299 - "a \"b\" \\")"}},
  };
  for (const auto& [texts, headers] : rows) CHECK(HeadersOf(texts) == headers);
}

// filters TestTruncation
TEST_CASE("server: warnings are cut when together they are too long", "[server]") {
  const apiserver::server::WarningLimits limits{.total = 25, .each_if_cut = 5};
  const std::string umlauts = "I\u00f1t\u00ebrn\u00e2ti\u00f4";
  std::vector<std::string> texts = {"aaaaaaaaaa", "bb", "ccc", umlauts};

  CHECK(HeadersOf(texts, limits) == std::vector<std::string>{"299 - \"aaaaaaaaaa\"", "299 - \"bb\"",
                                                             "299 - \"ccc\"",
                                                             "299 - \"" + umlauts + "\""});
  texts.insert(texts.end(), {"e", "ffffffffff", "gggggggggg", "h"});
  CHECK(HeadersOf(texts, limits) ==
        std::vector<std::string>{"299 - \"aaaaa\"", "299 - \"bb\"", "299 - \"ccc\"",
                                 "299 - \"I\u00f1t\u00ebr\"", "299 - \"e\"", "299 - \"fffff\"",
                                 "299 - \"ggggg\""});

  const auto cut = HeadersOf({std::string(4000, 'x'), std::string(200, 'y')});
  CHECK(cut == std::vector<std::string>{"299 - \"" + std::string(256, 'x') + "\"",
                                        "299 - \"" + std::string(200, 'y') + "\""});
}

TEST_CASE("server: the mux prefers exact paths, then the longest prefix", "[server]") {
  PathMux mux;
  std::string called;
  const auto handler = [&called](std::string name) {
    return [&called, name](apiserver::http::Exchange&) -> apiserver::http::Step {
      called = name;
      return apiserver::http::Step::Done();
    };
  };
  for (const char* path : {"/a/", "/a/b/", "/a/b", "/"}) {
    REQUIRE(mux.Handle(path, handler(path), path[1] != '\0').ok());
  }
  const auto find = [&mux](const char* path) { return mux.Find(path).handler != nullptr; };

  CHECK(mux.Find("/a/b") != mux.Find("/a/b/c"));
  CHECK(mux.Find("/a/b/c") == mux.Find("/a/b/"));
  CHECK(mux.Find("/a/x/y") == mux.Find("/a/"));
  CHECK_FALSE(find("/c"));
  CHECK_FALSE(find("/a"));
  CHECK(mux.Handle("/a/b", handler("again"), true).reason() == apiserver::Reason::kConflict);
  CHECK(mux.ListedPaths() == std::vector<std::string>{"/a/", "/a/b", "/a/b/"});

  // A private path below a public prefix stays private.
  CHECK_FALSE(mux.FindPublic("/a/b").handler);
  REQUIRE(mux.Handle("/docs/", handler("docs"), false, PathMux::Body::kPublic).ok());
  REQUIRE(mux.Handle("/docs/internal", handler("internal"), false).ok());
  CHECK(mux.FindPublic("/docs/page").is_public);
  CHECK_FALSE(mux.FindPublic("/docs/internal").handler);
  CHECK_FALSE(mux.FindPublic("/a/b").handler);
}

TEST_CASE("server: closing refuses new requests and cancels the long ones", "[server]") {
  InFlight in_flight;
  const Context short_one = Context::Child(Context::Background());
  const Context watch = Context::Child(Context::Background());
  const auto short_id = in_flight.Enter(short_one, InFlight::Kind::kShort);
  const auto watch_id = in_flight.Enter(watch, InFlight::Kind::kLong);

  in_flight.Close();

  CHECK(watch.done());
  CHECK_FALSE(short_one.done());
  CHECK(in_flight.Enter(short_one, InFlight::Kind::kShort) == 0);
  CHECK_FALSE(in_flight.WaitUntilEmpty(std::chrono::milliseconds(1)));
  in_flight.Leave(short_id);
  in_flight.Leave(watch_id);
  CHECK(in_flight.WaitUntilEmpty(std::chrono::milliseconds(1)));
}

TEST_CASE("server: a short request that has become long is cancelled, not waited for", "[server]") {
  InFlight in_flight;
  const Context before = Context::Child(Context::Background());
  const Context after = Context::Child(Context::Background());
  const auto short_before = in_flight.Enter(before, InFlight::Kind::kShort);
  const auto short_after = in_flight.Enter(after, InFlight::Kind::kShort);
  const auto long_before = in_flight.Prolong(short_before, before);
  CHECK(in_flight.left().ToString() == "1 watch, 1 request");
  CHECK(in_flight.Prolong(long_before, before) == long_before);

  in_flight.EndLongRunning(std::chrono::milliseconds(0));

  CHECK(before.Err().reason() == apiserver::Reason::kServiceUnavailable);
  CHECK_FALSE(after.done());
  const auto long_after = in_flight.Prolong(short_after, after);
  CHECK(after.Err().reason() == apiserver::Reason::kServiceUnavailable);
  in_flight.Leave(long_before);
  CHECK_FALSE(in_flight.WaitUntilEmpty(std::chrono::milliseconds(1)));
  in_flight.Leave(long_after);
  CHECK(in_flight.WaitUntilEmpty(std::chrono::milliseconds(1)));
}
