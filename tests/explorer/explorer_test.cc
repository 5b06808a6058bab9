#include "apiserver/explorer/explorer.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "explorer/files.h"
#include "gunzip.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a test.

namespace {

// Credentials that nobody has: what is answered is public.
const http::Headers kStranger = {{"Authorization", "Bearer unknown"}};

std::unique_ptr<testing::TestServer> StartWithExplorer(explorer::Options options = {}) {
  testing::TestServerOptions server;
  server.install = [options](server::GenericAPIServer& api) {
    return explorer::Install(api, options);
  };
  return testing::StartWidgetServer(std::move(server));
}

http::Headers Gzip(std::string if_none_match = "") {
  http::Headers headers = kStranger;
  headers.Add("Accept-Encoding", "gzip, deflate, br");
  if (!if_none_match.empty()) headers.Add("If-None-Match", std::move(if_none_match));
  return headers;
}

}  // namespace

TEST_CASE("explorer: the page is public, and its policy allows nothing foreign", "[explorer]") {
  const auto server = StartWithExplorer();

  const auto page = server->Call("GET", "/explorer/", "", kStranger);

  CHECK(page.code == 200);
  CHECK(page.headers.Get("Content-Type") == "text/html; charset=utf-8");
  CHECK(page.headers.Get("Content-Security-Policy") ==
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'");
  CHECK(page.headers.Get("X-Content-Type-Options") == "nosniff");
  CHECK(page.headers.Get("Referrer-Policy") == "no-referrer");
  CHECK(page.headers.Get("Cross-Origin-Opener-Policy") == "same-origin");
  CHECK(page.headers.Get("Cross-Origin-Resource-Policy") == "same-origin");
  CHECK(page.headers.Get("Cache-Control") == "no-cache");
  CHECK(page.headers.Get("Vary") == "Accept-Encoding");
  CHECK_FALSE(page.headers.Has("Set-Cookie"));
  CHECK_FALSE(page.headers.Has("Content-Encoding"));
  CHECK(page.body.starts_with("<!doctype html>"));
}

TEST_CASE("explorer: files are sent compressed to browsers, and unpack to themselves",
          "[explorer]") {
  const auto server = StartWithExplorer();

  for (const explorer::File& file : explorer::Files()) {
    const std::string path = "/explorer/" + std::string(file.name);
    CAPTURE(path);
    const auto packed = server->Call("GET", path, "", Gzip());
    const auto plain = server->Call("GET", path, "", kStranger);
    CHECK(packed.code == 200);
    CHECK(packed.headers.Get("Content-Encoding") == "gzip");
    CHECK(packed.headers.Get("ETag") != plain.headers.Get("ETag"));
    testing::Gunzip gunzip;
    CHECK(gunzip.Add(packed.body) == plain.body);
    CHECK(gunzip.ended());
    CHECK(plain.body == file.plain);
  }
  CHECK(server->Call("GET", "/explorer/app.js", "", Gzip()).headers.Get("Content-Type") ==
        "text/javascript; charset=utf-8");
}

TEST_CASE("explorer: gzip with the weight 0 is not sent", "[explorer]") {
  const auto server = StartWithExplorer();
  const auto encoding = [&](const char* accepted) {
    const auto answer = server->Call("GET", "/explorer/", "", {{"Accept-Encoding", accepted}});
    return std::string(answer.headers.Get("Content-Encoding"));
  };

  CHECK(encoding("gzip;q=0") == "");
  CHECK(encoding("br, gzip; q=0.0") == "");
  CHECK(encoding("br") == "");
  CHECK(encoding("xgzip") == "");
  CHECK(encoding("br;q=1.0, GZIP;q=0.8") == "gzip");
}

TEST_CASE("explorer: a page that the browser has is not sent again", "[explorer]") {
  const auto server = StartWithExplorer();
  const auto first = server->Call("GET", "/explorer/app.js", "", Gzip());
  const std::string etag(first.headers.Get("ETag"));

  const auto again = server->Call("GET", "/explorer/app.js", "", Gzip(etag));

  CHECK(again.code == 304);
  CHECK(again.body.empty());
  CHECK(again.headers.Get("ETag") == etag);
  CHECK(again.headers.Get("Cache-Control") == "no-cache");
  CHECK(server->Call("GET", "/explorer/app.js", "", Gzip("\"x\", W/" + etag)).code == 304);
  CHECK(server->Call("GET", "/explorer/app.js", "", Gzip("*")).code == 304);
  CHECK(server->Call("GET", "/explorer/app.js", "", Gzip("\"x\"")).code == 200);
  CHECK(server->Call("GET", "/explorer/style.css", "", Gzip(etag)).code == 200);
}

TEST_CASE("explorer: HEAD has the headers and no body", "[explorer]") {
  const auto server = StartWithExplorer();
  const auto get = server->Call("GET", "/explorer/style.css", "", Gzip());

  const auto head = server->Call("HEAD", "/explorer/style.css", "", Gzip());

  CHECK(head.code == 200);
  CHECK(head.headers.Get("ETag") == get.headers.Get("ETag"));
  CHECK(head.headers.Get("Content-Type") == "text/css; charset=utf-8");
  CHECK(head.headers.Get("Content-Encoding") == "gzip");
}

TEST_CASE("explorer: other names are 404 with a Status, whatever they climb over", "[explorer]") {
  const auto server = StartWithExplorer();

  for (const char* path : {"/explorer/none.js", "/explorer/page/app.js", "/explorer/../apis",
                           "/explorer/%2e%2e/explorer.cc", "/explorer//app.js", "/explorer/app.js/",
                           "/explorer/..%2f..%2fetc/passwd", "/explorer/%00"}) {
    CAPTURE(path);
    const auto answer = server->Call("GET", path, "", kStranger);
    CHECK(answer.code == 404);
    CHECK(testing::Contains(answer.body, "\"kind\":\"Status\""));
    CHECK(testing::Contains(answer.body, "\"reason\":\"NotFound\""));
  }
}

TEST_CASE("explorer: nothing else becomes public, and it is only read", "[explorer]") {
  const auto server = StartWithExplorer();

  for (const char* path : {"/", "/apis", "/version", "/metrics", "/explorers", testing::kWidgets}) {
    CAPTURE(path);
    CHECK(server->Call("GET", path, "", kStranger).code == 401);
  }
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    CAPTURE(method);
    CHECK(server->Call(method, "/explorer/", "", kStranger).code == 401);
    CHECK(server->Call(method, "/explorer/", "{}").code == 405);
  }
}

TEST_CASE("explorer: the path without its slash leads to the page", "[explorer]") {
  const auto server = StartWithExplorer({.path = "/ui/objects/"});

  const auto answer = server->Call("GET", "/ui/objects", "", kStranger);

  CHECK(answer.code == 301);
  CHECK(answer.headers.Get("Location") == "/ui/objects/");
  CHECK(server->Call("GET", "/ui/objects/", "", kStranger).code == 200);
  CHECK(server->Call("GET", "/explorer/", "", kStranger).code == 401);
  CHECK(testing::Contains(server->Call("GET", "/").body, "\"/ui/objects/\""));
}

TEST_CASE("explorer: a path that cannot be is refused", "[explorer]") {
  const auto server = testing::StartWidgetServer();
  server::GenericAPIServer& api = server->server();

  for (const char* path : {"", "/", "explorer/", "/explorer", "/apis/", "/apis/x/"}) {
    CAPTURE(path);
    CHECK(explorer::Install(api, {.path = path}).reason() == Reason::kInvalid);
  }
  // [install]
  const Status installed = explorer::Install(api);  // At /explorer/.
  // [/install]
  CHECK(installed.ok());
  CHECK(explorer::Install(api).reason() == Reason::kConflict);
}
