#include "program/export.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/client/client.h"
#include "apiserver/codec/crd.h"
#include "apiserver/program/signals/run_until_signal.h"
#include "apiserver/server/standalone.h"
#include "apiserver/storage/memory/engine.h"
#include "base/status_macros.h"
#include "program/cli_flags.h"
#include "program/manifests.h"

namespace apiserver::v0::program {

namespace {

constexpr std::string_view kCrd = "crd";
constexpr std::string_view kOpenApi = "openapi";
constexpr std::string_view kManifests = "manifests";
constexpr const char* kHelp =
    "crd [KIND...]            prints kinds as CustomResourceDefinitions: those named, or all\n"
    "openapi                  prints the OpenAPI v2 document\n"
    "openapi GROUP/VERSION    prints the OpenAPI v3 document of a version; v1 is the legacy "
    "group's\n"
    "manifests                prints what makes this server run behind a cluster's aggregator;\n"
    "                         --namespace, --service-name and --image say how it is called there\n";

// A server that has the program's kinds and is never started.
struct Unstarted {
  std::unique_ptr<LogSink> log = NewStderrLogSink(LogLevel::kError);
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<server::GenericAPIServer> api;
};

Result<Unstarted> NewUnstarted(const Program& program) {
  Unstarted made;
  server::Config config;
  config.name = program.name;
  config.admission = program.admission;
  config.openapi_title = program.openapi_title;
  config.openapi_version = program.version;
  config.log = made.log.get();
  ASSIGN_OR_RETURN(const server::Standalone standalone, server::NewStandalone({}));
  standalone.Apply(config);
  ASSIGN_OR_RETURN(server::CompletedConfig completed, std::move(config).Complete());
  ASSIGN_OR_RETURN(made.api, std::move(completed).New());
  if (const Status status = program.install(*made.api, made.api->Storage(*made.engine));
      !status.ok()) {
    return status.WithMessage(
        "the kinds of this program need what its flags or data give, so only "
        "a running server tells them: " +
        std::string(status.message()));
  }
  RETURN_IF_ERROR(made.api->PrepareRun());
  return made;
}

// Kinds of the library are defined by it, not by a program.
bool IsOwn(const runtime::Kind& kind) {
  return !kind.group().empty() && !kind.group().ends_with(".k8s.io");
}

Result<std::string> Crds(server::GenericAPIServer& api, std::vector<std::string> names) {
  std::string text;
  const auto scheme = api.scheme().snapshot();
  for (const runtime::KindPtr& kind : scheme->kinds()) {
    const auto named = std::ranges::find(names, kind->kind());
    if (names.empty() ? !IsOwn(*kind) : named == names.end()) continue;
    const auto crd = codec::CrdFromKind(*kind);
    if (!crd.ok() && !names.empty()) return crd.status();
    // A comment stands for a kind that has no such form.
    text += text.empty() ? "" : "---\n";
    text += crd.ok() ? *crd : "# " + std::string(crd.status().message()) + "\n";
    if (named != names.end()) *named = "";
  }
  for (const std::string& name : names) {
    if (!name.empty()) return Status(Reason::kNotFound, "there is no kind " + name);
  }
  return text;
}

Result<std::string> OpenApi(server::GenericAPIServer& api, const std::vector<std::string>& which) {
  if (which.size() > 1) return Status(Reason::kInvalid, "openapi takes one GROUP/VERSION");
  std::string target = "/openapi/v2";
  if (!which.empty()) {
    const bool legacy = which[0].find('/') == std::string::npos;
    target = (legacy ? "/openapi/v3/api/" : "/openapi/v3/apis/") + which[0];
  }
  const auto client = client::NewClient(std::shared_ptr(api.LoopbackConnection()));
  auto answer = client->Call(
      Context::Background(),
      {.method = "GET", .target = target, .headers = {{"Accept", "application/json"}}, .body = ""});
  RETURN_IF_ERROR(answer.status());
  // A version that is not served has an empty document, as upstream.
  if (answer->body.empty() && !which.empty()) {
    return Status(Reason::kNotFound, "there is no version " + which[0]);
  }
  if (answer->code != 200) {
    return Status(Reason::kInternalError, target + " is answered " + std::to_string(answer->code));
  }
  return std::move(answer->body);
}

Result<std::string> ManifestsOf(server::GenericAPIServer& api, const ManifestOptions& options) {
  const auto client = client::NewClient(std::shared_ptr(api.LoopbackConnection()));
  ASSIGN_OR_RETURN(const auto groups, OwnGroups(*client));
  return Manifests(options, groups);
}

Result<std::string> Export(std::string_view command, std::vector<std::string> words,
                           const Program& program) {
  if (std::ranges::find(words, "--help") != words.end()) return std::string(kHelp);
  const bool manifests = command == kManifests;
  ManifestOptions options{.name_space = program.service_namespace,
                          .image = program.name + ":latest"};
  if (manifests) {
    ASSIGN_OR_RETURN(options, ReadManifestOptions(words, std::move(options)));
  }
  ASSIGN_OR_RETURN(const Unstarted made, NewUnstarted(program));
  if (manifests) return ManifestsOf(*made.api, options);
  return command == kCrd ? Crds(*made.api, std::move(words)) : OpenApi(*made.api, words);
}

}  // namespace

bool IsExport(std::string_view command) {
  return command == kCrd || command == kOpenApi || command == kManifests;
}

int ExportMain(int argc, const char* const* argv, const Program& program) {
  auto text = Export(argv[0], {argv + 1, argv + argc}, program);
  if (!text.ok()) return Fail(text.status());
  if (!text->ends_with('\n')) *text += '\n';
  return Print({.text = *std::move(text)});
}

}  // namespace apiserver::v0::program
