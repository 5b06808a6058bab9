#include "server/version.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"

namespace apiserver::inline v0::server {

namespace {

std::string Json(const VersionInfo& version) {
  const std::pair<std::string_view, std::string_view> fields[] = {
      {"major", version.major},
      {"minor", version.minor},
      {"gitVersion", version.git_version},
      {"gitCommit", version.git_commit},
      {"gitTreeState", version.git_tree_state},
      {"buildDate", version.build_date},
      // Clients expect the fields; what they say of Go is true of nobody here.
      {"goVersion", "none"},
      {"compiler", "c++"},
      {"platform", "linux/amd64"},
  };
  std::string json = "{";
  for (const auto& [name, value] : fields) {
    json += json.size() == 1 ? "\n  " : ",\n  ";
    codec::AppendJsonString(name, json);
    json += ": ";
    codec::AppendJsonString(value, json);
  }
  return json + "\n}";
}

}  // namespace

http::Handler NewVersionHandler(const VersionInfo& version) {
  auto json = std::make_shared<const std::string>(Json(version));
  return [json](http::Exchange& exchange) -> http::Step {
    const std::string& path = exchange.request().path;
    if (path != "/version" && path != "/version/") {
      return meta::NewGenericServerResponse(404, "", {}, "");
    }
    if (exchange.request().method != "GET") {
      return meta::NewGenericServerResponse(405, "", {}, "");
    }
    exchange.writer().Send({.code = 200, .headers = {{"Content-Type", "application/json"}}},
                           http::Bytes(json, *json));
    return http::Step::Done();
  };
}

openapi::Route VersionRoute() {
  return {.method = "GET",
          .path = "/version/",
          .operation_id = "getCodeVersion",
          .description = "get the version information for this server",
          .tag = "version",
          .produces = {"application/json"},
          .responses = {{200, "io.k8s.apimachinery.pkg.version.Info"}}};
}

}  // namespace apiserver::inline v0::server
