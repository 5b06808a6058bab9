#include "bench/small_kinds.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "bench/corpus.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Status;
using apiserver::http::ClientRequest;

// Short batches, and enough of them for a median. The first round warms up.
constexpr int kSmallRounds = 20;
constexpr std::size_t kSmallWrites = 250;
constexpr std::size_t kSmallReads = 3'000;
constexpr std::size_t kSmallLists = 10;

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

Status NotAsExpected(const std::string& what, const std::string& body) {
  return {Reason::kInternalError, what + ": " + body.substr(0, 300)};
}

bool Established(std::string_view body) {
  const std::size_t found = body.find(R"("type":"Established")");
  if (found == std::string_view::npos) return false;
  const std::size_t begin = body.rfind('{', found);
  const std::size_t end = body.find('}', found);
  return body.substr(begin, end - begin).find(R"("status":"True")") != std::string_view::npos;
}

constexpr std::array<const char*, 5> kSmallOperations = {"create", "patch", "apply", "get", "list"};

// Objects of one kind on one side, which have a map of texts in "data". Patches and applies change
// those of the first round.
class SmallKind {
 public:
  struct Names {
    std::string path;
    std::string api_version;
    std::string kind;
  };
  SmallKind(Names names, const std::string& name, const Side& side)
      : names_(std::move(names)), connections_(side.connections) {
    for (const char* operation : kSmallOperations) {
      series_.emplace_back(name + "/" + operation, side.server);
    }
  }

  Status Run(std::size_t operation, int round) {
    const Status ran = series_[operation].RunOnce(connections_, LoopOf(operation, round));
    if (ran.ok()) return {};
    return NotAsExpected(names_.kind + " " + kSmallOperations[operation], ran.ToString());
  }
  void AddTo(Report& report) const {
    for (const Series& series : series_) series.AddTo(report);
  }
  // Server CPU of an operation, one of each round.
  const std::vector<double>& cpu_us(std::size_t operation) const {
    return series_[operation].cpu_us();
  }

 private:
  LoopOptions LoopOf(std::size_t operation, int round) const;
  LoopOptions Writes(const std::string& method, const std::string& type,
                     std::function<std::pair<std::string, std::string>(std::size_t)> written) const;
  static LoopOptions Reads(std::string target, std::size_t operations);
  std::string Body(const std::string& name, int value) const {
    return R"({"apiVersion":")" + names_.api_version + R"(","kind":")" + names_.kind +
           R"(","metadata":{"name":")" + name + R"("},"data":{"a":")" + std::to_string(value) +
           std::string(900, 'x') + R"("}})";
  }

  const Names names_;
  const Connections& connections_;
  std::vector<Series> series_;
};

// `written`: the path and body of the nth request.
LoopOptions SmallKind::Writes(
    const std::string& method, const std::string& type,
    std::function<std::pair<std::string, std::string>(std::size_t)> written) const {
  return {.streams = 8,
          .operations = kSmallWrites,
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

LoopOptions SmallKind::LoopOf(std::size_t operation, int round) const {
  const auto name = [](int of_round, std::size_t n) {
    return "o-" + std::to_string(of_round) + "-" + std::to_string(n);
  };
  switch (operation) {
    case 0:
      return Writes("POST", "application/json", [this, name, round](std::size_t n) {
        return std::pair(names_.path, Body(name(round, n), round));
      });
    case 1:
      return Writes("PATCH", "application/merge-patch+json", [this, name, round](std::size_t n) {
        const std::string text = std::to_string(round + 100) + std::string(900, 'x');
        return std::pair(names_.path + "/" + name(0, n), R"({"data":{"a":")" + text + R"("}})");
      });
    case 2:
      return Writes("PATCH", "application/apply-patch+yaml", [this, name, round](std::size_t n) {
        return std::pair(names_.path + "/" + name(0, n) + "?fieldManager=bench&force=true",
                         Body(name(0, n), round + 200));
      });
    case 3:
      return Reads(names_.path + "/o-0-1", kSmallReads);
    default:
      return Reads(names_.path + "?resourceVersion=0", kSmallLists);
  }
}

double MedianRatio(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t round = 1; round < of.size(); ++round) ratios.push_back(of[round] / to[round]);
  return Median(std::move(ratios));
}

// Both kinds on one side.
struct Kinds {
  std::unique_ptr<SmallKind> builtin;
  std::unique_ptr<SmallKind> custom;
};

void TellRatios(const std::string& workload, const std::vector<Side>& sides,
                const std::vector<Kinds>& kinds, Report& report) {
  const auto say = [&](const std::string& metric, double value) {
    report.Add({workload, metric, value, "times"});
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].builtin->AddTo(report);
    kinds[i].custom->AddTo(report);
    for (std::size_t op = 0; op < kSmallOperations.size(); ++op) {
      say(sides[i].name + "_custom_to_builtin_" + kSmallOperations[op],
          MedianRatio(kinds[i].custom->cpu_us(op), kinds[i].builtin->cpu_us(op)));
    }
  }
  for (std::size_t i = 1; i < kinds.size(); ++i) {
    const std::string between = sides[0].name + "_to_" + sides[i].name;
    for (std::size_t op = 0; op < kSmallOperations.size(); ++op) {
      say(between + "_builtin_" + kSmallOperations[op],
          MedianRatio(kinds[0].builtin->cpu_us(op), kinds[i].builtin->cpu_us(op)));
      say(between + "_custom_" + kSmallOperations[op],
          MedianRatio(kinds[0].custom->cpu_us(op), kinds[i].custom->cpu_us(op)));
    }
  }
}

// On a busy machine thousands of durable deletes take longer than a request may.
Status DeleteAllOf(const Connections& connections, const std::string& path) {
  for (int tries = 1;; ++tries) {
    BENCH_ASSIGN(gone,
                 connections[0]->Call(Context::Background(), {.method = "DELETE", .target = path}));
    if (gone.code == 200) return {};
    if (gone.code != 504 || tries == 10) return NotAsExpected("deleting " + path, gone.body);
  }
}

}  // namespace

Status WaitUntilEstablished(apiserver::http::Connection& connection, const std::string& name) {
  for (int tries = 0; tries < 6'000; ++tries) {
    BENCH_ASSIGN(got, connection.Call(Context::Background(),
                                      {.target = std::string(kDefinitions) + "/" + name}));
    if (got.code != 200) return NotAsExpected(name, got.body);
    if (Established(got.body)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return NotAsExpected(name, "is not established within 30 s");
}

Status DefineSmallKind(const Connections& connections) {
  BENCH_ASSIGN(made, connections[0]->Call(Context::Background(),
                                          {.method = "POST",
                                           .target = kDefinitions,
                                           .headers = {{"Content-Type", "application/json"}},
                                           .body = kSettings}));
  if (made.code != 201) return NotAsExpected("settings", made.body);
  return WaitUntilEstablished(*connections[0], "settings.bench.example.com");
}

Status CompareSmallKinds(const std::string& workload, const std::vector<Side>& sides,
                         Report& report) {
  std::vector<Kinds> kinds;
  std::vector<SmallKind*> turns;
  for (const Side& side : sides) {
    const std::string name = workload + "/" + side.name;
    kinds.push_back(
        {std::make_unique<SmallKind>(SmallKind::Names{kConfigMapsPath, "v1", "ConfigMap"},
                                     name + "/builtin", side),
         std::make_unique<SmallKind>(
             SmallKind::Names{kSettingsPath, "bench.example.com/v1", "Setting"}, name + "/custom",
             side)});
    turns.push_back(kinds.back().builtin.get());
    turns.push_back(kinds.back().custom.get());
  }
  // Each round begins with another one.
  for (int round = 0; round < kSmallRounds; ++round) {
    for (std::size_t operation = 0; operation < kSmallOperations.size(); ++operation) {
      for (std::size_t turn = 0; turn < turns.size(); ++turn) {
        SmallKind& next = *turns[(turn + static_cast<std::size_t>(round)) % turns.size()];
        if (Status ran = next.Run(operation, round); !ran.ok()) return ran;
      }
    }
  }
  TellRatios(workload, sides, kinds, report);
  return {};
}

Status DeleteSmallObjects(const Connections& connections) {
  const Status gone = DeleteAllOf(connections, kSettingsPath);
  return gone.ok() ? DeleteAllOf(connections, kConfigMapsPath) : gone;
}

}  // namespace bench
