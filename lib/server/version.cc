#include "server/version.h"

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"

namespace apiserver::v0::server {

namespace {

// Clients expect the fields about Go, which have no true value here.
constexpr std::string_view kGoVersion = "none";
constexpr std::string_view kCompiler = "c++";
constexpr std::string_view kPlatform = "linux/amd64";

// Returns the minor version before, "34" for "35+": as upstream, the oldest one that clients may
// still be made for.
std::string MinorBefore(std::string_view minor) {
  unsigned number = 0;
  if (std::from_chars(minor.data(), minor.data() + minor.size(), number).ec != std::errc())
    return "";
  return std::to_string(number == 0 ? 0 : number - 1);
}

std::string Json(const VersionInfo& version) {
  const std::string minor_before = MinorBefore(version.minor);
  // The emulated version is always the present one.
  const std::pair<std::string_view, std::string_view> fields[] = {
      {"major", version.major},
      {"minor", version.minor},
      {"emulationMajor", version.major},
      {"emulationMinor", version.minor},
      {"minCompatibilityMajor", version.major},
      {"minCompatibilityMinor", minor_before},
      {"gitVersion", version.git_version},
      {"gitCommit", version.git_commit},
      {"gitTreeState", version.git_tree_state},
      {"buildDate", version.build_date},
      {"goVersion", kGoVersion},
      {"compiler", kCompiler},
      {"platform", kPlatform},
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
    // The mux gives all paths below "/version/" to this handler.
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

void ShowVersion(const VersionInfo& version, metrics::Registry& registry) {
  registry
      .Gauges({.name = "kubernetes_build_info",
               .help = "[BETA] A metric with a constant '1' value labeled by major, minor, git "
                       "version, git commit, git tree state, build date, Go version, and compiler "
                       "from which Kubernetes was built, and platform on which it is running.",
               .labels = {"major", "minor", "git_version", "git_commit", "git_tree_state",
                          "build_date", "go_version", "compiler", "platform"}})
      .With({version.major, version.minor, version.git_version, version.git_commit,
             version.git_tree_state, version.build_date, kGoVersion, kCompiler, kPlatform})
      .Set(1);
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

}  // namespace apiserver::v0::server
