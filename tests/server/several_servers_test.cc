// Many servers in one process: nothing of one is seen in another.
#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::Reason;
using apiserver::Status;
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::TestServer;
using apiserver::testing::Widget;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

constexpr std::size_t kServers = 16;

// One of the servers, with a hook, a check and a number of its own.
class Neighbour {
 public:
  explicit Neighbour(std::size_t index) : index_(index) {
    apiserver::testing::TestServerOptions options;
    options.listen = true;
    options.install = [this](server::GenericAPIServer& api) { return Install(api); };
    server_ = apiserver::testing::StartWidgetServer(std::move(options));
    watch_ = Dial()->connection->Open({.target = std::string(kWidgets) + "?watch=1"}).value();
  }

  TestServer& server() { return *server_; }
  std::string name() const { return "own-" + std::to_string(index_); }
  int started() const { return started_; }
  int stopped() const { return stopped_; }
  void Sicken() { sick_ = true; }

  // As many objects as its number says, and one, over the network.
  int Create() {
    int created = 0;
    for (std::size_t i = 0; i <= index_; ++i) {
      const std::string name = "w" + std::to_string(index_) + "-" + std::to_string(i);
      const auto got = dialled_->connection->Call(
          Context::Background(), {.method = "POST",
                                  .target = kWidgets,
                                  .headers = {{"Content-Type", "application/json"}},
                                  .body = Widget(name, 1)});
      if (got.ok() && got->code == 201) ++created;
    }
    return created;
  }
  // What its watch has seen: so many lines.
  std::string Watched(int lines) {
    std::string seen;
    while (std::count(seen.begin(), seen.end(), '\n') < lines) {
      const auto more = watch_->Read(Soon());
      if (!more.ok() || more->empty()) break;
      seen += *more;
    }
    return seen;
  }
  // Whether its watch has come to its end, and well.
  bool WatchEnded() {
    const auto more = watch_->Read(Soon());
    return more.ok() && more->empty();
  }
  std::string Get(const std::string& target) {
    const auto got = dialled_->connection->Call(Soon(), {.target = target});
    return got.ok() ? std::to_string(got->code) + " " + got->body : got.status().ToString();
  }

 private:
  struct Dialled {
    std::unique_ptr<http::Dialer> dialer = http::NewDialer();
    std::unique_ptr<http::Connection> connection;
  };

  static Context Soon() {
    return Context::Child(Context::Background(),
                          apiserver::RealClock().Now() + std::chrono::seconds(60));
  }
  Dialled* Dial() {
    dialled_ = std::make_unique<Dialled>();
    const auto options = apiserver::client::DialOptionsFor(server_->kubeconfig()).value();
    dialled_->connection = dialled_->dialer->Dial(Context::Background(), options).value();
    return dialled_.get();
  }
  Status Install(server::GenericAPIServer& api) {
    api.metrics()
        ->Counters({.name = "own_total", .help = "Of one server."})
        .With({})
        .Add(static_cast<double>(index_ + 1));
    Status status = api.AddPostStartHook(name(), [this](const server::HookContext&) -> Status {
      ++started_;
      return {};
    });
    if (status.ok()) {
      status = api.AddPreShutdownHook(name(), [this](const server::HookContext&) -> Status {
        ++stopped_;
        return {};
      });
    }
    if (!status.ok()) return status;
    return api.AddHealthCheck({.name = name(), .check = [this](const Context&) -> Status {
                                 if (sick_) return {Reason::kInternalError, "sick"};
                                 return {};
                               }});
  }

  const std::size_t index_;
  std::atomic<int> started_{0};
  std::atomic<int> stopped_{0};
  std::atomic<bool> sick_{false};
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<Dialled> dialled_;
  std::unique_ptr<http::ClientStream> watch_;
};

using Neighbours = std::array<std::unique_ptr<Neighbour>, kServers>;

// All at once, each on a thread.
void ForEach(const std::vector<std::size_t>& indices,
             const std::function<void(std::size_t)>& work) {
  std::vector<apiserver::Thread> threads;
  for (const std::size_t i : indices) threads.emplace_back("server", [&work, i] { work(i); });
}

std::vector<std::size_t> Every(std::size_t first, std::size_t step) {
  std::vector<std::size_t> indices;
  for (std::size_t i = first; i < kServers; i += step) indices.push_back(i);
  return indices;
}

void CheckOwn(Neighbour& one, std::size_t index) {
  const std::string count = std::to_string(index + 1);
  const std::string metrics = one.Get("/metrics");
  CHECK(Contains(metrics, "\nown_total " + count + "\n"));
  CHECK(Contains(metrics,
                 "apiserver_request_total{verb=\"POST\",dry_run=\"\",group=\"example.com\","
                 "version=\"v1\",resource=\"widgets\",subresource=\"\",scope=\"resource\","
                 "component=\"apiserver\",code=\"201\"} " +
                     count + "\n"));
  CHECK(one.started() == 1);
  const std::string health = one.Get("/readyz?verbose");
  CHECK(Contains(health, "[+]own-" + std::to_string(index) + " ok\n"));
  CHECK(Contains(health, "[+]poststarthook/own-" + std::to_string(index) + " ok\n"));
  CHECK(!Contains(health, "own-" + std::to_string((index + 1) % kServers) + " ok"));
}

}  // namespace

TEST_CASE("server: 16 servers start, serve and stop in one process, and none sees another",
          "[server][slow]") {
  Neighbours all;
  std::atomic<int> created{0};
  ForEach(Every(0, 1), [&](std::size_t i) {
    all[i] = std::make_unique<Neighbour>(i);
    created += all[i]->Create();
  });
  CHECK(created == 136);  // 1 + 2 + ... + 16.
  for (std::size_t i = 0; i < kServers; ++i) {
    INFO(i);
    CheckOwn(*all[i], i);
    const std::string seen = all[i]->Watched(static_cast<int>(i) + 1);
    CHECK(Contains(seen, "\"w" + std::to_string(i) + "-" + std::to_string(i) + "\""));
    CHECK(!Contains(seen, "\"w" + std::to_string((i + 1) % kServers) + "-"));
  }

  // One that is sick is so alone.
  all[5]->Sicken();
  for (std::size_t i = 0; i < kServers; ++i) {
    CHECK(all[i]->Get("/readyz").starts_with(i == 5 ? "500 " : "200 ok"));
  }

  // The odd ones go at once, the last first; the others do not notice.
  ForEach(Every(1, 2), [&](std::size_t i) { all[kServers - i]->server().server().Stop(); });
  for (std::size_t i = 0; i < kServers; ++i) {
    INFO(i);
    const bool gone = i % 2 == 1;
    CHECK(all[i]->stopped() == (gone ? 1 : 0));
    if (gone) {
      CHECK(all[i]->WatchEnded());
      CHECK(!all[i]->Get("/readyz").starts_with("200"));
      continue;
    }
    CHECK(all[i]->Get("/readyz") == "200 ok");
    CHECK(all[i]->server().Call("POST", kWidgets, Widget("late", 1)).code == 201);
    CHECK(Contains(all[i]->Watched(1), R"("late")"));
  }
  for (const std::size_t i : Every(1, 2)) all[i].reset();
  for (const std::size_t i : Every(0, 2)) CHECK(all[i]->Get("/readyz") == "200 ok");
  ForEach(Every(0, 2), [&](std::size_t i) { all[i]->server().server().Stop(); });
  for (const std::size_t i : Every(0, 2)) CHECK(all[i]->stopped() == 1);
}
