#include "bench/list_workloads.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "bench/corpus.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Guarded;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMany = 100'000;
constexpr std::size_t kFew = 10'000;
constexpr int kWalkers = 4;

// The text of the first member `key` of a JSON body; empty if it has none.
std::string TextOf(const std::string& body, const std::string& key) {
  const std::string quoted = "\"" + key + "\":\"";
  const std::size_t found = body.find(quoted);
  if (found == std::string::npos) return {};
  const std::size_t begin = found + quoted.size();
  return body.substr(begin, body.find('"', begin) - begin);
}

std::size_t CountOf(const std::string& body, const std::string& what) {
  std::size_t count = 0;
  for (auto at = body.find(what); at != std::string::npos; at = body.find(what, at + 1)) ++count;
  return count;
}

struct SelectiveList {
  const char* name;
  const char* query;
  std::size_t operations;
  std::size_t expected_items;
};

Status RunSelective(ServerUnderTest& server, const SelectiveList& list, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 4));
  const std::string target = std::string(kGroup) + "/flunders?" + list.query;
  // Not the timed ones: the first may have to make what the others use.
  BENCH_ASSIGN(first, connections[0]->Call(Context::Background(), {.target = target}));
  if (CountOf(first.body, "\"creationTimestamp\":") != list.expected_items) {
    return {Reason::kInternalError, "the list is not what it should be"};
  }
  Series series(list.name, server);
  const Status ran = series.Run(connections, [&](int) {
    return LoopOptions{
        .streams = 1, .operations = list.operations, .request = [&target](std::size_t) {
          return apiserver::http::ClientRequest{.target = target};
        }};
  });
  if (ran.ok()) series.AddTo(report);
  return ran;
}

// Follows the continue tokens of one list to its end.
Status Walk(apiserver::http::Connection& connection, std::size_t objects,
            std::vector<double>& latencies_us) {
  const std::string target = std::string(kGroup) + "/flunders?limit=500";
  std::string token;
  std::string revision;
  std::size_t items = 0;
  do {
    const auto started = Clock::now();
    BENCH_ASSIGN(
        page, connection.Call(Context::Background(),
                              {.target = token.empty() ? target : target + "&continue=" + token}));
    latencies_us.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - started).count());
    if (page.code != 200) return {Reason::kInternalError, page.body.substr(0, 300)};
    // metadata of the list stands before its items.
    const std::string head = page.body.substr(0, page.body.find("\"items\":"));
    token = TextOf(head, "continue");
    if (revision.empty()) revision = TextOf(head, "resourceVersion");
    if (revision != TextOf(head, "resourceVersion")) {
      return {Reason::kInternalError, "a page is of another revision"};
    }
    items += CountOf(page.body, "\"creationTimestamp\":");
  } while (!token.empty());
  if (items < objects) return {Reason::kInternalError, "objects are missing from the pages"};
  return {};
}

// Patches one object after the other, about `per_second` of them, until it is destroyed.
class Writer {
 public:
  Writer(apiserver::http::Connection& connection, std::size_t per_second)
      : thread_([this, &connection, per_second] {
          const auto pause = std::chrono::microseconds(1'000'000 / per_second);
          auto next = Clock::now();
          for (std::size_t n = 0; !stop_; ++n, next += pause) {
            std::this_thread::sleep_until(next);
            (void)connection.Call(
                Context::Background(),
                {.method = "PATCH",
                 .target = CollectionOf(NamespaceOf(n % kFew)) + "/o-" + std::to_string(n % kFew),
                 .headers = {{"Content-Type", "application/merge-patch+json"}},
                 .body = R"({"metadata":{"labels":{"n":")" + std::to_string(n) + R"("}}})"});
          }
        }) {}
  ~Writer() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

Result<LoopResult> WalkAll(const Connections& connections, std::size_t objects, int walks) {
  Guarded<Status> failure;
  Guarded<LoopResult> all;
  const auto started = Clock::now();
  {
    std::vector<std::thread> walkers;
    for (const auto& connection : connections) {
      walkers.emplace_back([&, walker = connection.get()] {
        std::vector<double> latencies;
        Status status;
        for (int i = 0; i < walks && status.ok(); ++i) status = Walk(*walker, objects, latencies);
        if (!status.ok()) *failure.Lock() = status;
        auto sum = all.Lock();
        sum->latencies_us.insert(sum->latencies_us.end(), latencies.begin(), latencies.end());
      });
    }
    for (std::thread& walker : walkers) walker.join();
  }
  if (Status status = *failure.Lock(); !status.ok()) return status;
  LoopResult result = std::move(*all.Lock());
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return result;
}

struct PagedList {
  const char* name;
  std::size_t objects;
  int walks;
  std::size_t writes_per_second;
};

Status RunPaged(ServerUnderTest& server, const PagedList& list, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), kWalkers));
  const auto other = apiserver::http::NewDialer();
  BENCH_ASSIGN(writers, DialMany(*other, server.dial(), 1));
  std::unique_ptr<Writer> writer;
  if (list.writes_per_second > 0) {
    writer = std::make_unique<Writer>(*writers[0], list.writes_per_second);
  }
  Series series(list.name, server);
  for (int run = 0; run < kRuns; ++run) {
    const double cpu = server.CpuSeconds();
    BENCH_ASSIGN(result, WalkAll(connections, list.objects, list.walks));
    series.Add(result, server.CpuSeconds() - cpu);
  }
  series.AddTo(report);
  return {};
}

Status RunRestarts(ServerUnderTest& server, const std::string& name, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, kMany); !filled.ok()) return filled;
  report.Add({name + "/filled", "rss_bytes", server.RssBytes(), "bytes"});
  std::vector<double> ready;
  std::vector<double> cpu;
  for (int run = 0; run < kRuns; ++run) {
    BENCH_ASSIGN(seconds, server.Restart());
    ready.push_back(seconds * 1e3);
    cpu.push_back(server.CpuSeconds() * 1e6 / kMany);
  }
  report.Add({name, "ready_ms", Median(ready), "ms"});
  report.Add({name, "server_cpu_us_per_op", Median(cpu), "us"});
  report.Add({name, "rss_bytes", server.RssBytes(), "bytes"});
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 1));
  BENCH_ASSIGN(list, connections[0]->Call(Context::Background(),
                                          {.target = std::string(kGroup) + "/flunders"}));
  if (CountOf(list.body, "\"creationTimestamp\":") != kMany) {
    return {Reason::kInternalError, "objects are missing after the restart"};
  }
  report.Add({name + "/listed", "rss_bytes", server.RssBytes(), "bytes"});
  return {};
}

}  // namespace

Status RunW5(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, kMany); !filled.ok()) return filled;
  for (const SelectiveList& list :
       {SelectiveList{"W5", "resourceVersion=0&labelSelector=app%3Dapp-7", 200, 1000},
        {"W5/consistent", "labelSelector=app%3Dapp-7", 200, 1000},
        {"W5/none", "labelSelector=app%3Dapp-7,tier%3Dtier-9", 2000, 0}}) {
    if (Status ran = RunSelective(server, list, report); !ran.ok()) return ran;
  }
  return {};
}

Status RunW6(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, kFew); !filled.ok()) return filled;
  if (Status ran = RunPaged(server, {"W6/10k", kFew, 10, 0}, report); !ran.ok()) return ran;
  if (Status filled = Populate(*dialer, server, kMany, kFew); !filled.ok()) return filled;
  if (Status ran = RunPaged(server, {"W6", kMany, 1, 0}, report); !ran.ok()) return ran;
  return RunPaged(server, {"W6/500-writes", kMany, 1, 500}, report);
}

Status RunW13(ServerUnderTest& server, Report& report) {
  return RunRestarts(server, "W13", report);
}

Status RunW13OverEtcd(ServerUnderTest& server, Report& report) {
  return RunRestarts(server, "W13/etcd", report);
}

}  // namespace bench
