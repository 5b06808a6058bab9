// What authorization judged is what is served: docs/security.md, row 78.
#include "judged_routes.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <random>

using apiserver::testing::JudgedRoutes;
using apiserver::testing::RoutedRequest;

namespace {

// Requests that are nearly right: paths of routes, with parts of others put in, left out, doubled
// and spelled otherwise. The same ones on every run.
class Requests {
 public:
  explicit Requests(std::uint32_t seed) : random_(seed) {}

  RoutedRequest Next() {
    name_ = Pick(std::array{"a", "b"});
    RoutedRequest request{.method = Method(), .target = Path(), .name = name_};
    if (Chance(40)) request.target += "?" + Query();
    return request;
  }

 private:
  template <class List>
  std::string Pick(const List& list) {
    return list[random_() % list.size()];
  }
  bool Chance(unsigned percent) { return random_() % 100 < percent; }

  std::string Method() {
    if (Chance(5)) {
      return Pick(std::array{"get", "Get", "LIST", "WATCH", "PROXY", "PURGE", "TRACE", "CONNECT"});
    }
    return Pick(std::array{"GET", "GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "PATCH",
                           "DELETE", "DELETE", "OPTIONS"});
  }

  std::vector<std::string> Route() {
    const bool core = Chance(40);
    std::vector<std::string> parts{core ? "api" : "apis"};
    if (!core) parts.emplace_back("example.com");
    parts.push_back(Pick(std::array{"v1", "v1alpha1"}));
    if (Chance(25)) parts.push_back(Pick(std::array{"watch", "proxy"}));
    if (Chance(60)) {
      parts.emplace_back("namespaces");
      parts.push_back(Pick(std::array{"default", "other", "a"}));
    }
    if (Chance(95)) {
      parts.push_back(Pick(std::array{"flunders", "flunders", "flunders", "fischers", "fischers",
                                      "status", "finalize", "watch", "proxy", "namespaces"}));
    }
    if (Chance(60)) parts.push_back(name_);
    if (Chance(40)) {
      parts.push_back(Pick(std::array{"status", "binding", "log", "options", "exec", "proxy"}));
    }
    if (Chance(15)) parts.push_back(Pick(kParts));
    return parts;
  }

  void Distort(std::vector<std::string>& parts) {
    const std::size_t at = random_() % parts.size();
    switch (random_() % 6) {
      case 0:
        parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at), Pick(kParts));
        break;
      case 1:
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 2:
        parts[at] = Pick(kParts);
        break;
      case 3:
        parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(at), parts[at]);
        break;
      case 4:
        for (char& c : parts[at]) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
        break;
      default:
        parts[at] += Pick(std::array{"%2f", "%2Fstatus", "/", "%00", "%20", "."});
    }
    if (parts.empty()) parts.emplace_back("apis");
  }

  std::string Path() {
    std::vector<std::string> parts = Route();
    for (unsigned left = Chance(50) ? 1 + random_() % 2 : 0; left > 0; --left) Distort(parts);
    std::string path;
    for (const std::string& part : parts) path += "/" + part;
    if (Chance(8)) path += Pick(std::array{"/", "//", "/%2f"});
    if (Chance(2)) path.insert(0, "/");
    return path;
  }

  std::string Query() {
    std::string query;
    for (unsigned left = 1 + random_() % 3; left > 0; --left) {
      if (!query.empty()) query += "&";
      query += Pick(kQueries);
    }
    return query;
  }

  static constexpr std::array<const char*, 20> kParts{
      "",       "watch",    "proxy", "namespaces", "default",  "flunders",  "fischers",
      "status", "finalize", "exec",  "a",          "b",        "log",       "binding",
      "apis",   "api",      "v1",    "..",         "redirect", "%66lunders"};
  static constexpr std::array<const char*, 22> kQueries{
      "watch=1",
      "watch=true",
      "watch",
      "watch=0",
      "watch=FALSE",
      "watch=x",
      "Watch=1",
      "w%61tch=1",
      "fieldSelector=metadata.name%3Da",
      "fieldSelector=metadata.name=b",
      "fieldSelector=metadata.name==a",
      "fieldSelector=metadata.name!=a",
      "fieldSelector=metadata.namespace=other",
      "fieldSelector=metadata.name=a,spec.color=x",
      "fieldSelector=a=",
      "labelSelector=a=b",
      "limit=1",
      "limit=x",
      "resourceVersion=0",
      "timeoutSeconds=1",
      "name=b&namespace=other",
      "dryRun=All"};

  std::mt19937 random_;
  std::string name_;
};

}  // namespace

TEST_CASE("endpoints: what is served is what was judged, for any method, path and query",
          "[endpoints][slow]") {
  constexpr int kRequests = 100'000;
  JudgedRoutes routes;
  Requests requests(15);
  std::vector<std::string> differences;

  for (int i = 0; i < kRequests && differences.size() < 10; ++i) {
    std::string difference = routes.Difference(requests.Next());
    if (!difference.empty()) differences.push_back(std::move(difference));
  }

  CHECK(differences == std::vector<std::string>());
  // Each way to serve is taken, and often.
  for (const char* call :
       {"list", "watch", "get", "create", "update", "delete", "deletecollection", "connect"}) {
    INFO(call);
    const auto found = routes.served().find(call);
    REQUIRE(found != routes.served().end());
    CHECK(found->second >= 300);
  }
}

TEST_CASE("endpoints: paths that say another verb than their method are served by nobody",
          "[endpoints]") {
  JudgedRoutes routes;
  const auto code = [&routes](const std::string& method, const std::string& target) {
    INFO(method + " " + target);
    CHECK(routes.Difference({.method = method, .target = target}).empty());
    return routes.last_code();
  };
  const std::string group = "/apis/example.com/v1";
  for (const std::string root : {"/api/v1", "/apis/example.com/v1"}) {
    for (const std::string method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PURGE"}) {
      CHECK(code(method, root + "/proxy/namespaces/default/flunders") == 404);
      CHECK(code(method, root + "/proxy/namespaces/default/flunders/a") == 404);
      CHECK(code(method, root + "/proxy/namespaces/default/flunders/a/status") == 404);
      CHECK(code(method, root + "/proxy/fischers/a") == 404);
      // A name that only a field selector holds is the name of a list.
      CHECK(code(method,
                 root + "/namespaces/default/flunders//exec?fieldSelector=metadata.name=a") == 404);
      CHECK(code(method, root + "/fischers//status?watch=1") == 404);
    }
    for (const std::string method : {"HEAD", "POST", "PUT", "PATCH", "DELETE", "PURGE"}) {
      CHECK(code(method, root + "/watch/namespaces/default/flunders") == 405);
      CHECK(code(method, root + "/watch/fischers/a") == 405);
    }
    CHECK(code("GET", root + "/watch/namespaces/default/flunders/a/status") == 404);
    CHECK(code("GET", root + "/watch/watch/flunders") == 404);
    CHECK(code("GET", root + "/watch/namespaces/default/flunders") == 409);
    CHECK(code("GET", root + "/namespaces/default/flunders/a?watch=1") == 409);
    CHECK(code("HEAD", root + "/namespaces/default/flunders?watch=1") == 405);
    CHECK(code("POST", root + "/namespaces/default/flunders?watch=1") == 409);
  }
}

TEST_CASE("endpoints: a subresource is not listed, whatever its storage can do", "[endpoints]") {
  JudgedRoutes routes;
  const std::string status = "/api/v1/namespaces/default/flunders/a/status";

  for (const char* method : {"GET", "PUT", "PATCH", "DELETE"}) {
    CHECK(routes.Difference({.method = method, .target = status}).empty());
    CHECK(routes.last_code() == 409);
  }

  CHECK(routes.served() == std::map<std::string, int>{{"delete", 1}, {"get", 1}, {"update", 2}});
}
