#include "overload/offered_load.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <utility>

#include "overload/world.h"

namespace overload {

namespace {

using namespace apiserver;  // NOLINT: tests only.
using Connections = std::vector<std::shared_ptr<http::Connection>>;

constexpr std::chrono::seconds kLastAnswer(120);

// Tells how one request ended.
class Watcher final : public http::StreamObserver {
 public:
  explicit Watcher(std::function<void(int code)> done) : done_(std::move(done)) {}
  void OnHead(const http::ResponseHead& head) override { code_ = head.code; }
  void OnData(std::string_view) override {}
  void OnEnd(const Status& status) override { done_(status.ok() ? code_ : 0); }

 private:
  std::function<void(int)> done_;
  int code_ = 0;
};

void Send(http::Connection& connection, const std::string& user, std::function<void(int)> done) {
  const auto sent = connection.Observe(World::RequestOf(user), std::make_shared<Watcher>(done));
  if (!sent.ok()) done(0);
}

class Board {
 public:
  explicit Board(std::size_t clients) : tallies_(std::vector<Tally>(clients)) {}

  void Sent(std::size_t client) { ++(*tallies_.Lock())[client].sent; }
  void Answered(std::size_t client, int code, double seconds) {
    auto tallies = tallies_.Lock();
    Tally& tally = (*tallies)[client];
    if (code == 200) {
      ++tally.good;
      tally.seconds.push_back(seconds);
    } else {
      ++(code == 429 ? tally.refused : tally.broken);
    }
    tallies_.NotifyAll();
  }
  // What has no answer by then is broken.
  std::vector<Tally> Finish() {
    auto tallies = tallies_.Lock();
    const auto answered = [](const Tally& t) { return t.good + t.refused + t.broken; };
    (void)tallies.WaitUntil(RealClock().Now() + kLastAnswer, [&] {
      return std::ranges::all_of(*tallies, [&](const Tally& t) { return answered(t) == t.sent; });
    });
    for (Tally& tally : *tallies) tally.broken += tally.sent - answered(tally);
    return *tallies;
  }

 private:
  Guarded<std::vector<Tally>> tallies_;
};

}  // namespace

double Tally::Percentile(double p) const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::llround(p * last))];
}

std::vector<Tally> Run(const Connections& connections, const std::vector<Offer>& offers,
                       std::chrono::milliseconds duration) {
  const auto board = std::make_shared<Board>(offers.size());
  const Clock::Monotonic begin = RealClock().Now();
  std::vector<std::uint64_t> sent(offers.size());
  std::size_t next_connection = 0;
  Notification never;
  for (auto now = begin; now < begin + duration; now = RealClock().Now()) {
    for (std::size_t i = 0; i < offers.size(); ++i) {
      const double gap = 1 / offers[i].per_second;
      const std::chrono::duration<double> passed = now - begin;
      while (static_cast<double>(sent[i]) * gap < passed.count()) {
        const auto due =
            begin + std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::duration<double>(static_cast<double>(sent[i]) * gap));
        ++sent[i];
        board->Sent(i);
        Send(*connections[next_connection++ % connections.size()], offers[i].user,
             [board, i, due](int code) {
               const std::chrono::duration<double> took = RealClock().Now() - due;
               board->Answered(i, code, took.count());
             });
      }
    }
    (void)never.WaitFor(std::chrono::milliseconds(1));
  }
  return board->Finish();
}

double Peak(const Connections& connections, const std::string& user, int clients,
            std::chrono::milliseconds duration) {
  struct Shared {
    std::atomic<int> good{0};
    std::atomic<bool> over{false};
    Guarded<int> running{0};
  };
  const auto shared = std::make_shared<Shared>();
  *shared->running.Lock() = clients;
  // Each client is a chain of requests.
  std::function<void(std::size_t)> ask;
  ask = [&ask, &connections, &user, shared](std::size_t client) {
    Send(*connections[client % connections.size()], user, [&ask, shared, client](int code) {
      if (code == 200) ++shared->good;
      if (!shared->over) return ask(client);
      --*shared->running.Lock();
      shared->running.NotifyAll();
    });
  };
  for (int i = 0; i < clients; ++i) ask(static_cast<std::size_t>(i));
  Notification never;
  (void)never.WaitFor(duration);
  const int good = shared->good;
  shared->over = true;
  auto running = shared->running.Lock();
  (void)running.WaitUntil(RealClock().Now() + kLastAnswer, [&] { return *running == 0; });
  return good / std::chrono::duration<double>(duration).count();
}

}  // namespace overload
