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
#include "bench/small_kinds.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::http::ClientRequest;
using Clock = std::chrono::steady_clock;

// So many are created, then waited for.
constexpr std::size_t kBatch = 100;
constexpr std::size_t kCrdConnections = 4;
// A run that has not created all definitions by then ends with an error.
constexpr std::chrono::minutes kCreationMax{20};
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

class CrdRun {
 public:
  CrdRun(std::string name, ServerUnderTest& server, Definitions definitions)
      : name_(std::move(name)),
        server_(server),
        definitions_(std::move(definitions)),
        dialer_(apiserver::http::NewDialer()) {}

  Status Run(std::size_t count, const ServerUnderTest* empty, Report& report);

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
  Status Restart(std::size_t count, Report& report);
  Status Document(Report& report);
  Status Quiet(Report& report);
  Status Compare(const ServerUnderTest* empty, Report& report);

  const std::string name_;
  ServerUnderTest& server_;
  const Definitions definitions_;
  const std::unique_ptr<apiserver::http::Dialer> dialer_;
  Connections connections_;
};

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
    const Status ready = WaitUntilEstablished(*connections_[0], definitions_.NameOf(n));
    if (!ready.ok()) return ready;
  }
  return {};
}

// Until the last one's objects can be listed.
Status CrdRun::Restart(std::size_t count, Report& report) {
  connections_.clear();
  const auto begun = Clock::now();
  BENCH_ASSIGN(seconds, server_.Restart());
  if (Status connected = Connect(kCrdConnections); !connected.ok()) return connected;
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

Status CrdRun::Compare(const ServerUnderTest* empty, Report& report) {
  Connections alone;
  std::vector<Side> sides{{"beside", server_, connections_}};
  if (empty != nullptr) {
    BENCH_ASSIGN(connections, DialMany(*dialer_, empty->dial(), kCrdConnections));
    alone = std::move(connections);
    if (Status made = DefineSmallKind(alone); !made.ok()) return made;
    sides.push_back({"alone", *empty, alone});
  }
  const Status compared = CompareSmallKinds(name_, sides, report);
  return compared.ok() ? DeleteSmallObjects(connections_) : compared;
}

// Beside the definitions small kinds are compared with those of `empty`, which has none. Null:
// there is no such server.
Status CrdRun::Run(std::size_t count, const ServerUnderTest* empty, Report& report) {
  if (Status connected = Connect(kCrdConnections); !connected.ok()) return connected;
  Status done = DefineSmallKind(connections_);
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
  done = Compare(empty, report);
  if (done.ok()) done = Document(report);
  if (done.ok()) done = Restart(count, report);
  return done;
}

Status RunCrds(const std::string& name, std::size_t count, ServerUnderTest& server,
               const ServerUnderTest* empty, Report& report) {
  BENCH_ASSIGN(published, ReadPublished());
  CrdRun run(name, server, Definitions(std::move(published)));
  return run.Run(count / server.fewer(), empty, report);
}

Status RunBoth(const std::string& name, std::size_t count, const StartServer& start,
               Report& report) {
  BENCH_ASSIGN(server, start({}));
  BENCH_ASSIGN(empty, start({}));
  return RunCrds(name, count, *server, empty.get(), report);
}

constexpr std::size_t kManyCrds = 1'000;
constexpr std::size_t kVeryManyCrds = 10'000;

}  // namespace

Status RunW14(const StartServer& start, Report& report) {
  return RunBoth("W14", kManyCrds, start, report);
}

Status RunW14Large(const StartServer& start, Report& report) {
  return RunBoth("W14/10k", kVeryManyCrds, start, report);
}

Status RunW14On(ServerUnderTest& server, Report& report) {
  return RunCrds("W14", kManyCrds, server, nullptr, report);
}

Status RunW14LargeOn(ServerUnderTest& server, Report& report) {
  return RunCrds("W14/10k", kVeryManyCrds, server, nullptr, report);
}

}  // namespace bench
