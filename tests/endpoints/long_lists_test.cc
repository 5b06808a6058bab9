// Tables and partial lists that are longer than what is answered in one piece.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "gunzip.h"
#include "watch_lines.h"
#include "widget_server.h"

using apiserver::testing::kWidgets;
using apiserver::testing::Lines;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::TestServer;

namespace {

constexpr int kCount = 400;

std::unique_ptr<TestServer> StartWithMany(std::size_t note_bytes = 400) {
  auto server = StartWidgetServer();
  for (int i = 0; i < kCount; ++i) {
    const std::string name = "w" + std::to_string(1000 + i);
    const std::string body = R"({"metadata":{"name":")" + name + R"(","annotations":{"note":")" +
                             std::string(note_bytes, 'x') + R"("}},"spec":{"color":"red"}})";
    REQUIRE(server->Call("POST", kWidgets, body).code == 201);
  }
  return server;
}

std::size_t CountOf(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string Indented(std::string json) {
  REQUIRE(json.back() == '\n');
  json.pop_back();
  return apiserver::codec::IndentJson(json);
}

}  // namespace

TEST_CASE("endpoints: a long Table or partial list is the same, streamed or made whole",
          "[endpoints]") {
  const auto server = StartWithMany();
  const std::string shape = GENERATE("as=Table", "as=PartialObjectMetadataList");
  const std::string accept = "application/json;" + shape + ";v=v1;g=meta.k8s.io";
  const auto get = [&](const std::string& query, const std::string& encoding) {
    return server->Call("GET", kWidgets + query, "",
                        {{"Accept", accept}, {"Accept-Encoding", encoding}});
  };

  const std::string streamed = get("", "").body;

  REQUIRE(streamed.size() > std::size_t{2} * (128 << 10));
  CHECK(CountOf(streamed, R"("kind":"PartialObjectMetadata",)") == kCount);
  CHECK(CountOf(streamed, R"("annotations":)") == kCount);
  const auto pretty = get("?pretty=true", "");
  CHECK(Indented(streamed) == pretty.body);
  CHECK(pretty.headers.Get("Content-Length").empty());
  apiserver::testing::Gunzip gunzip;
  const auto zipped = get("", "gzip");
  CHECK(zipped.headers.Get("Content-Encoding") == "gzip");
  CHECK(gunzip.Add(zipped.body) == streamed);
}

TEST_CASE("endpoints: a long list is the same, streamed in any text form or made whole",
          "[endpoints]") {
  const auto server = StartWithMany();
  // Texts of many lines, in the middle and at the end.
  for (const char* const name : {"a-lines", "w1000-lines", "z-lines"}) {
    const std::string body = R"({"metadata":{"name":")" + std::string(name) +
                             R"(","annotations":{"note":" one\n\ntwo: \"2\"\n\n"}}})";
    REQUIRE(server->Call("POST", kWidgets, body).code == 201);
  }
  const auto get = [&](const std::string& query, const std::string& accept) {
    const auto got = server->Call("GET", kWidgets + query, "", {{"Accept", accept}});
    REQUIRE(got.code == 200);
    return got;
  };
  const std::string json = get("", "application/json").body;
  REQUIRE(CountOf(json, R"("name":"w)") == kCount + 1);

  const auto pretty = get("?pretty=true", "application/json");
  CHECK(pretty.body == Indented(json));
  CHECK(pretty.headers.Get("Content-Type") == "application/json");

  apiserver::runtime::Arena arena;
  std::string whole;
  apiserver::codec::AppendYaml(apiserver::codec::ParseJson(json, arena).value(), whole);
  const auto yaml = get("", "application/yaml");
  CHECK(yaml.body == whole);
  CHECK(yaml.headers.Get("Content-Type") == "application/yaml");

  // Neither is ever in memory as a whole, so its length is not known.
  CHECK(pretty.headers.Get("Content-Length").empty());
  CHECK(yaml.headers.Get("Content-Length").empty());

  apiserver::testing::Gunzip gunzip;
  const auto zipped = server->Call("GET", kWidgets, "",
                                   {{"Accept", "application/yaml"}, {"Accept-Encoding", "gzip"}});
  CHECK(zipped.headers.Get("Content-Encoding") == "gzip");
  CHECK(gunzip.Add(zipped.body) == whole);
}

TEST_CASE("endpoints: a list of many small items is short: it is neither compressed nor streamed",
          "[endpoints]") {
  const auto server = StartWithMany();
  const auto [query, accept] = GENERATE(table<std::string, std::string>(
      {{"?limit=40", "application/yaml"},
       {"?limit=40&pretty=true", "application/json"},
       {"?limit=40&pretty=true", "application/json;as=Table;v=v1;g=meta.k8s.io"}}));
  CAPTURE(query, accept);
  const auto got =
      server->Call("GET", kWidgets + query, "", {{"Accept", accept}, {"Accept-Encoding", "gzip"}});
  REQUIRE(got.code == 200);
  REQUIRE(got.body.size() < (128 << 10));
  CHECK(got.headers.Get("Content-Encoding").empty());
  CHECK(got.headers.Get("Content-Length") == std::to_string(got.body.size()));
}

TEST_CASE("endpoints: pages of a Table are the rows of the whole", "[endpoints]") {
  const auto server = StartWithMany();
  const std::string accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const auto rows = [&](const std::string& query) {
    const std::string body = server->Call("GET", kWidgets + query, "", {{"Accept", accept}}).body;
    const auto begin = body.find("\"rows\":[") + 8;
    return body.substr(begin, body.rfind("]}") - begin);
  };

  const std::string all = rows("");

  CHECK(CountOf(all, "{\"cells\":[") == kCount);
  CHECK(all.starts_with(rows("?limit=350") + ","));
}

TEST_CASE("endpoints: a long Table is never held as a whole while it is streamed", "[endpoints]") {
  const auto server = StartWithMany(/*note_bytes=*/8 << 10);
  const auto& output = server->server().memory()->output;
  struct Read {
    std::size_t bytes = 0;
    std::size_t held_most = 0;  // Bytes of the answer that the server held at a time.
  };
  const auto read = [&](const std::string& query, const std::string& type = "application/json") {
    Lines table(*server, kWidgets + query, {{"Accept", type + ";as=Table;v=v1;g=meta.k8s.io"}});
    Read done;
    // The client takes a window before it reads, and the rest waits at the server.
    for (std::string bytes; done.bytes == 0 || !bytes.empty(); done.bytes += bytes.size()) {
      done.held_most = std::max(done.held_most, output.used());
      bytes = table.NextBytes();
    }
    return done;
  };

  const Read streamed = read("?includeObject=Object");
  const Read pretty = read("?includeObject=Object&pretty=true");
  // The measure itself: in YAML it is made as a whole.
  const Read whole = read("?includeObject=Object", "application/yaml");

  REQUIRE(streamed.bytes > kCount * (std::size_t{8} << 10));
  // The first piece, and the next.
  CHECK(streamed.held_most <= (256 << 10));
  CHECK(pretty.bytes > streamed.bytes);
  CHECK(pretty.held_most <= (256 << 10));
  CHECK(whole.held_most > whole.bytes / 2);
}
