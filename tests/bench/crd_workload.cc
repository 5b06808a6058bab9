#include "bench/crd_workload.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/closed_loop.h"
#include "bench/corpus.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::http::ClientRequest;
using Clock = std::chrono::steady_clock;

constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
// So many are created, then waited for.
constexpr std::size_t kBatch = 100;
constexpr std::size_t kCustomObjects = 1'000;
// A run that has not created all definitions by then ends with an error.
constexpr std::chrono::minutes kCreationMax{20};
// A kind as small as the built-in one it is compared with, ConfigMap.
constexpr char kSettings[] = R"({"apiVersion":"apiextensions.k8s.io/v1",)"
                             R"("kind":"CustomResourceDefinition",)"
                             R"("metadata":{"name":"settings.bench.example.com"},)"
                             R"("spec":{"group":"bench.example.com","scope":"Namespaced",)"
                             R"("names":{"plural":"settings","kind":"Setting"},)"
                             R"("versions":[{"name":"v1","served":true,"storage":true,)"
                             R"("schema":{"openAPIV3Schema":{"type":"object","properties":)"
                             R"({"data":{"type":"object","additionalProperties":)"
                             R"({"type":"string"}}}}}}]}})";
constexpr char kSettingsPath[] = "/apis/bench.example.com/v1/namespaces/default/settings";
constexpr char kConfigMapsPath[] = "/api/v1/namespaces/default/configmaps";

Status Wrong(const std::string& what, const std::string& body) {
  return {Reason::kInternalError, what + ": " + body.substr(0, 300)};
}

struct Published {
  std::string text;
  std::string plural;
  std::string group;
};

// The value of the first "key":"value" at or behind `from`.
std::string ValueOf(std::string_view text, std::string_view key, std::size_t from = 0) {
  const std::string wanted = '"' + std::string(key) + R"(":")";
  const std::size_t found = text.find(wanted, from);
  if (found == std::string_view::npos) return {};
  const std::size_t begin = found + wanted.size();
  return std::string(text.substr(begin, text.find('"', begin) - begin));
}

Result<std::vector<Published>> ReadPublished() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(PUBLISHED_CRDS)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Published> all;
  for (const std::string& path : files) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const std::string name = ValueOf(line, "name");
      const std::size_t dot = name.find('.');
      if (dot == std::string::npos) return Wrong("no definition", line);
      all.push_back({line, name.substr(0, dot), name.substr(dot + 1)});
    }
  }
  if (all.empty()) return Wrong("no definitions in", PUBLISHED_CRDS);
  return all;
}

void Replace(std::string& text, const std::string& old_text, const std::string& new_text) {
  const std::size_t found = text.find(old_text);
  if (found != std::string::npos) text.replace(found, old_text.size(), new_text);
}

// The nth: published ones over and over, each round in groups of its own.
class Definitions {
 public:
  explicit Definitions(std::vector<Published> published) : published_(std::move(published)) {}

  std::string NameOf(std::size_t n) const { return Of(n).plural + "." + GroupOf(n); }
  std::string GroupOf(std::size_t n) const {
    return "r" + std::to_string(n / published_.size()) + ".bench-" + Of(n).group;
  }
  std::string TextOf(std::size_t n) const {
    std::string text = Of(n).text;
    Replace(text, R"("name":")" + Of(n).plural + "." + Of(n).group + '"',
            R"("name":")" + NameOf(n) + '"');
    Replace(text, R"("group":")" + Of(n).group + '"', R"("group":")" + GroupOf(n) + '"');
    return text;
  }

 private:
  const Published& Of(std::size_t n) const { return published_[n % published_.size()]; }

  std::vector<Published> published_;
};

bool Established(std::string_view body) {
  const std::size_t found = body.find(R"("type":"Established")");
  if (found == std::string_view::npos) return false;
  const std::size_t begin = body.rfind('{', found);
  const std::size_t end = body.find('}', found);
  return body.substr(begin, end - begin).find(R"("status":"True")") != std::string_view::npos;
}

// Objects of one kind, which have a map of texts in "data": creates, merge patches, applies, reads
// and lists of them.
class SmallKind {
 public:
  struct Names {
    std::string path;
    std::string api_version;
    std::string kind;
  };
  SmallKind(Names names, const std::string& name, const ServerUnderTest& server)
      : names_(std::move(names)) {
    for (const char* operation : {"create", "patch", "apply", "get", "list"}) {
      operations_.emplace_back(operation, Series(name + "/" + operation, server));
    }
  }

  Status Run(const Connections& connections, int run);
  void AddTo(Report& report) const {
    for (const auto& [operation, series] : operations_) series.AddTo(report);
  }
  const std::vector<std::pair<std::string, Series>>& operations() const { return operations_; }
  Status Empty(const Connections& connections) const;

 private:
  std::string Body(const std::string& name, int value) const {
    return R"({"apiVersion":")" + names_.api_version + R"(","kind":")" + names_.kind +
           R"(","metadata":{"name":")" + name + R"("},"data":{"a":")" + std::to_string(value) +
           std::string(900, 'x') + R"("}})";
  }
  LoopOptions Writes(const std::string& method, const std::string& type,
                     std::function<std::pair<std::string, std::string>(std::size_t)> written) const;
  static LoopOptions Reads(std::string target, std::size_t operations);

  const Names names_;
  std::vector<std::pair<std::string, Series>> operations_;
};

// `written`: the path and body of the nth request.
LoopOptions SmallKind::Writes(
    const std::string& method, const std::string& type,
    std::function<std::pair<std::string, std::string>(std::size_t)> written) const {
  return {.streams = 8,
          .operations = kCustomObjects,
          .expected_code = method == "POST" ? 201 : 200,
          .request = [method, type, written = std::move(written)](std::size_t n) {
            auto [path, body] = written(n);
            return ClientRequest{.method = method,
                                 .target = std::move(path),
                                 .headers = {{"Content-Type", type}},
                                 .body = std::move(body)};
          }};
}

LoopOptions SmallKind::Reads(std::string target, std::size_t operations) {
  return {
      .streams = 2, .operations = operations, .request = [target = std::move(target)](std::size_t) {
        return ClientRequest{.target = target};
      }};
}

// Patches and applies change the objects of the first run.
Status SmallKind::Run(const Connections& connections, int run) {
  const auto name = [](int of_run, std::size_t n) {
    return "o-" + std::to_string(of_run) + "-" + std::to_string(n);
  };
  const auto created = [&](std::size_t n) {
    return std::pair(names_.path, Body(name(run, n), run));
  };
  const auto patched = [&](std::size_t n) {
    const std::string text = std::to_string(run + 100) + std::string(900, 'x');
    return std::pair(names_.path + "/" + name(0, n), R"({"data":{"a":")" + text + R"("}})");
  };
  const auto applied = [&](std::size_t n) {
    return std::pair(names_.path + "/" + name(0, n) + "?fieldManager=bench&force=true",
                     Body(name(0, n), run + 200));
  };
  const LoopOptions loops[] = {Writes("POST", "application/json", created),
                               Writes("PATCH", "application/merge-patch+json", patched),
                               Writes("PATCH", "application/apply-patch+yaml", applied),
                               Reads(names_.path + "/o-0-1", 20'000),
                               Reads(names_.path + "?resourceVersion=0", 40)};
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Status ran = operations_[i].second.RunOnce(connections, loops[i]);
    if (!ran.ok()) return Wrong(names_.kind + " " + operations_[i].first, ran.ToString());
  }
  return {};
}

Status SmallKind::Empty(const Connections& connections) const {
  // On a busy machine thousands of durable deletes take longer than a request may.
  for (int tries = 1;; ++tries) {
    BENCH_ASSIGN(gone, connections[0]->Call(Context::Background(),
                                            {.method = "DELETE", .target = names_.path}));
    if (gone.code == 200) return {};
    if (gone.code != 504 || tries == 10) return Wrong("deleting " + names_.path, gone.body);
  }
}

class CrdRun {
 public:
  CrdRun(std::string name, ServerUnderTest& server, Definitions definitions)
      : name_(std::move(name)),
        server_(server),
        definitions_(std::move(definitions)),
        dialer_(apiserver::http::NewDialer()) {}

  Status Run(std::size_t count, Report& report);

 private:
  Status Connect(std::size_t count) {
    auto connections = DialMany(*dialer_, server_.dial(), count);
    if (!connections.ok()) return connections.status();
    connections_ = std::move(*connections);
    return {};
  }
  void Say(const std::string& metric, double value, const std::string& unit, Report& report) {
    report.Add({name_, metric, value, unit});
  }
  Status Create(std::size_t first, std::size_t last);
  Status WaitUntilEstablished(const std::string& name);
  Status Restart(std::size_t count, Report& report);
  Status Document(Report& report);
  Status Quiet(Report& report);
  Status Compare(const std::string& when, Report& report);

  const std::string name_;
  ServerUnderTest& server_;
  const Definitions definitions_;
  const std::unique_ptr<apiserver::http::Dialer> dialer_;
  Connections connections_;
};

Status CrdRun::WaitUntilEstablished(const std::string& name) {
  for (int tries = 0; tries < 6'000; ++tries) {
    BENCH_ASSIGN(got, connections_[0]->Call(Context::Background(),
                                            {.target = std::string(kDefinitions) + "/" + name}));
    if (got.code != 200) return Wrong(name, got.body);
    if (Established(got.body)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return Wrong(name, "is not established within 30 s");
}

// Waits for each: the last may be ready before one that was created beside it.
Status CrdRun::Create(std::size_t first, std::size_t last) {
  LoopOptions loop{.streams = 2,
                   .operations = last - first,
                   .expected_code = 201,
                   .request = [this, first](std::size_t n) {
                     return ClientRequest{.method = "POST",
                                          .target = kDefinitions,
                                          .headers = {{"Content-Type", "application/json"}},
                                          .body = definitions_.TextOf(first + n)};
                   }};
  BENCH_ASSIGN(created, RunClosedLoop(connections_, loop));
  (void)created;
  for (std::size_t n = first; n < last; ++n) {
    const Status ready = WaitUntilEstablished(definitions_.NameOf(n));
    if (!ready.ok()) return ready;
  }
  return {};
}

// Until the last one's objects can be listed.
Status CrdRun::Restart(std::size_t count, Report& report) {
  connections_.clear();
  const auto begun = Clock::now();
  BENCH_ASSIGN(seconds, server_.Restart());
  if (Status connected = Connect(4); !connected.ok()) return connected;
  BENCH_ASSIGN(last, connections_[0]->Call(Context::Background(),
                                           {.target = std::string(kDefinitions) + "/" +
                                                      definitions_.NameOf(count - 1)}));
  const std::string group = definitions_.GroupOf(count - 1);
  const std::string version = ValueOf(last.body, "name", last.body.find(R"("versions":)"));
  const std::string name = definitions_.NameOf(count - 1);
  const std::string target =
      "/apis/" + group + "/" + version + "/" + name.substr(0, name.find('.'));
  BENCH_ASSIGN(list, connections_[0]->Call(Context::Background(), {.target = target}));
  if (list.code != 200) return Wrong(target, list.body);
  Say("restart_seconds", std::chrono::duration<double>(Clock::now() - begun).count(), "s", report);
  Say("restart_ready_seconds", seconds, "s", report);
  Say("restart_rss_bytes", server_.RssBytes(), "bytes", report);
  return {};
}

// How large /openapi/v2 is, and how much more memory its first reader costs.
Status CrdRun::Document(Report& report) {
  const double before = server_.RssBytes();
  server_.ResetPeakRss();
  const double cpu = server_.CpuSeconds();
  BENCH_ASSIGN(got, connections_[0]->Call(Context::Background(), {.target = "/openapi/v2"}));
  if (got.code != 200) return Wrong("/openapi/v2", got.body);
  Say("openapi_v2_bytes", static_cast<double>(got.body.size()), "bytes", report);
  Say("openapi_v2_peak_bytes", server_.PeakRssBytes() - before, "bytes", report);
  Say("openapi_v2_cpu_seconds", server_.CpuSeconds() - cpu, "s", report);
  return {};
}

Status CrdRun::Quiet(Report& report) {
  constexpr double kSeconds = 10;
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const double cpu = server_.CpuSeconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
  Say("quiet_cpu_ms_per_s", (server_.CpuSeconds() - cpu) * 1e3 / kSeconds, "ms", report);
  return {};
}

// Writes and reads objects of the built-in and of the custom kind in turns, so that whatever else
// the machine does meets both.
Status CrdRun::Compare(const std::string& when, Report& report) {
  SmallKind custom({kSettingsPath, "bench.example.com/v1", "Setting"},
                   name_ + "/" + when + "/custom", server_);
  SmallKind builtin({kConfigMapsPath, "v1", "ConfigMap"}, name_ + "/" + when + "/builtin", server_);
  for (int run = 0; run < kRuns; ++run) {
    if (Status ran = builtin.Run(connections_, run); !ran.ok()) return ran;
    if (Status ran = custom.Run(connections_, run); !ran.ok()) return ran;
  }
  builtin.AddTo(report);
  custom.AddTo(report);
  for (std::size_t i = 0; i < custom.operations().size(); ++i) {
    const auto& [operation, series] = custom.operations()[i];
    const double of_builtin = Median(builtin.operations()[i].second.cpu_us());
    Say(when + "_custom_to_builtin_" + operation, Median(series.cpu_us()) / of_builtin, "times",
        report);
  }
  // The next measurement begins with none.
  if (Status gone = custom.Empty(connections_); !gone.ok()) return gone;
  return builtin.Empty(connections_);
}

Status CrdRun::Run(std::size_t count, Report& report) {
  if (Status connected = Connect(4); !connected.ok()) return connected;
  BENCH_ASSIGN(made, connections_[0]->Call(Context::Background(),
                                           {.method = "POST",
                                            .target = kDefinitions,
                                            .headers = {{"Content-Type", "application/json"}},
                                            .body = kSettings}));
  if (made.code != 201) return Wrong("settings", made.body);
  Status done = WaitUntilEstablished("settings.bench.example.com");
  if (done.ok()) done = Compare("alone", report);
  if (!done.ok()) return done;
  const double rss = server_.RssBytes();
  const double cpu = server_.CpuSeconds();
  const auto begun = Clock::now();
  std::vector<double> batches;
  for (std::size_t first = 0; first < count; first += kBatch) {
    const double before = server_.CpuSeconds();
    const Status created = Create(first, std::min(first + kBatch, count));
    if (!created.ok()) return created;
    if (Clock::now() - begun > kCreationMax) {
      return Wrong("too slow", std::to_string(first) + " definitions in 20 minutes");
    }
    batches.push_back((server_.CpuSeconds() - before) * 1e3 / static_cast<double>(kBatch));
  }
  const double all = static_cast<double>(count);
  Say("establish_cpu_ms", (server_.CpuSeconds() - cpu) * 1e3 / all, "ms", report);
  Say("establish_cpu_ms_first", batches.front(), "ms", report);
  Say("establish_cpu_ms_last", batches.back(), "ms", report);
  Say("establish_ms", std::chrono::duration<double, std::milli>(Clock::now() - begun).count() / all,
      "ms", report);
  if (Status quiet = Quiet(report); !quiet.ok()) return quiet;
  Say("rss_bytes_per_crd", (server_.RssBytes() - rss) / all, "bytes", report);
  done = Compare("beside", report);
  if (done.ok()) done = Document(report);
  if (done.ok()) done = Restart(count, report);
  return done;
}

Status RunCrds(const std::string& name, std::size_t count, ServerUnderTest& server,
               Report& report) {
  BENCH_ASSIGN(published, ReadPublished());
  CrdRun run(name, server, Definitions(std::move(published)));
  return run.Run(count / server.fewer(), report);
}

}  // namespace

Status RunW14(ServerUnderTest& server, Report& report) {
  return RunCrds("W14", 1'000, server, report);
}

Status RunW14Large(ServerUnderTest& server, Report& report) {
  return RunCrds("W14/10k", 10'000, server, report);
}

}  // namespace bench
