#include "program/export.h"

#include <algorithm>
#include <cstdio>
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
    "crd [KIND...]            prints kinds as CustomResourceDefinitions: those named, or all;\n"
    "                         --version=v1 prints that version alone, which needs no conversion\n"
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

// The output of a command.
struct Printed {
  std::string text;
  std::string warnings;  // For standard error.
};

// Kinds of the library are defined by it, not by a program.
bool IsOwn(const runtime::Kind& kind) {
  return !kind.group().empty() && !kind.group().ends_with(".k8s.io");
}

// The kinds and the version that are to be printed as CustomResourceDefinitions.
struct CrdWords {
  std::vector<std::string> names;  // Empty: all.
  std::string version;             // Empty: all.
};

Result<CrdWords> ReadCrdWords(const std::vector<std::string>& words) {
  constexpr std::string_view kVersion = "--version";
  CrdWords read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (name != kVersion) {
      if (name.starts_with('-')) return Status(Reason::kInvalid, "crd has no flag " + name);
      read.names.push_back(words[i]);
      continue;
    }
    const bool joined = name.size() < words[i].size();
    if (!joined && i + 1 < words.size()) read.version = words[++i];
    if (joined) read.version = words[i].substr(name.size() + 1);
    if (read.version.empty()) return Status(Reason::kInvalid, "--version needs a value");
  }
  return read;
}

// Returns comments about what a definition leaves out of its kind, to stand in front of it.
std::string CommentsOn(const codec::PartialCrd& crd, const runtime::Kind& kind) {
  std::string text;
  for (const std::string& line : crd.omitted) text += "# " + line + "\n";
  if (!crd.needs_webhook) return text;
  return text +
         "# A cluster converts such versions with a webhook: say in spec.conversion.webhook where "
         "yours is.\n# One version needs none: crd " +
         kind.kind() + " --version=" + kind.storage_version() + "\n";
}

Result<Printed> Crds(server::GenericAPIServer& api, const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(CrdWords read, ReadCrdWords(words));
  Printed printed;
  bool found = false;
  const auto scheme = api.scheme().snapshot();
  for (const runtime::KindPtr& kind : scheme->kinds()) {
    const auto named = std::ranges::find(read.names, kind->kind());
    const bool wanted = read.names.empty() ? IsOwn(*kind) : named != read.names.end();
    if (!wanted) continue;
    const auto crd = codec::PartialCrdFromKind(*kind, read.version);
    if (!crd.ok() && !read.names.empty()) return crd.status();
    if (crd.status().reason() == Reason::kNotFound) continue;
    found = true;
    // A comment stands for a kind that has no such form.
    const std::string comments =
        crd.ok() ? CommentsOn(*crd, *kind) : "# " + std::string(crd.status().message()) + "\n";
    printed.warnings += comments;
    printed.text += printed.text.empty() ? "" : "---\n";
    printed.text += comments + (crd.ok() ? crd->yaml : "");
    if (named != read.names.end()) named->clear();
  }
  for (const std::string& name : read.names) {
    if (!name.empty()) return Status(Reason::kNotFound, "there is no kind " + name);
  }
  if (!found && !read.version.empty()) {
    return Status(Reason::kNotFound, "no kind has a version " + read.version);
  }
  return printed;
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

// Returns the text alone, without warnings.
Result<Printed> TextOnly(Result<std::string> text) {
  RETURN_IF_ERROR(text.status());
  return Printed{.text = *std::move(text), .warnings = ""};
}

Result<Printed> Export(std::string_view command, const std::vector<std::string>& words,
                       const Program& program) {
  if (std::ranges::find(words, "--help") != words.end()) return TextOnly(std::string(kHelp));
  const bool manifests = command == kManifests;
  ManifestOptions options{.name_space = program.service_namespace,
                          .image = program.name + ":latest"};
  if (manifests) {
    ASSIGN_OR_RETURN(options, ReadManifestOptions(words, std::move(options)));
  }
  ASSIGN_OR_RETURN(const Unstarted made, NewUnstarted(program));
  if (command == kCrd) return Crds(*made.api, words);
  return TextOnly(manifests ? ManifestsOf(*made.api, options) : OpenApi(*made.api, words));
}

}  // namespace

bool IsExport(std::string_view command) {
  return command == kCrd || command == kOpenApi || command == kManifests;
}

int ExportMain(int argc, const char* const* argv, const Program& program) {
  auto printed = Export(argv[0], {argv + 1, argv + argc}, program);
  if (!printed.ok()) return Fail(printed.status());
  // A user who redirects the text to a file sees the warnings here; the file has them, too.
  std::fputs(printed->warnings.c_str(), stderr);
  if (!printed->text.ends_with('\n')) printed->text += '\n';
  return Print({.text = std::move(printed->text)});
}

}  // namespace apiserver::v0::program
