// Overload and hardship: what a server does when more is asked of it than it can do, and when
// clients misbehave. Prints figures; the exit code is not 0 when one misses its line.
//
//   overload [--seconds=60] [--counts]
//
// With --counts only what is counted is judged, as in ctest: figures of time and of rate depend on
// what else the machine does, and are printed alone.
//
// Needs 9,000 file descriptors: both ends of 4,000 connections are in this process.
#include <sys/resource.h>

#include <algorithm>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"
#include "overload/offered_load.h"
#include "overload/raw_tls.h"
#include "overload/world.h"

namespace {

using namespace apiserver;  // NOLINT: tests only.
using overload::Offer;
using overload::Tally;
using overload::World;
using Connections = std::vector<std::shared_ptr<http::Connection>>;

constexpr rlim_t kDescriptors = 9000;
constexpr int kIdleConnections = 4000;
constexpr int kSlowOnes = 100;

// Prints each figure, and remembers whether one missed its line.
class Report {
 public:
  explicit Report(bool judges_times) : judges_times_(judges_times) {}

  void Line(bool holds, const char* what, double figure, const char* line) {
    std::printf("%-4s %-52s %12.3f   (%s)\n", holds ? "ok" : "MISS", what, figure, line);
    std::fflush(stdout);
    missed_ |= !holds;
  }
  // The same for a time or a rate, if those are judged.
  void Timed(bool holds, const char* what, double figure, const char* line) {
    if (judges_times_) return Line(holds, what, figure, line);
    std::printf("     %-52s %12.3f   (%s, not judged)\n", what, figure, line);
  }
  bool missed() const { return missed_; }

 private:
  const bool judges_times_;
  bool missed_ = false;
};

Connections DialSome(const World& world, http::Dialer& dialer, int count) {
  Connections connections;
  for (int i = 0; i < count; ++i) {
    auto connection = world.Dial(dialer);
    if (!connection.ok()) {
      std::fprintf(stderr, "cannot dial: %s\n", connection.status().ToString().c_str());
      std::exit(1);
    }
    connections.push_back(*std::move(connection));
  }
  return connections;
}

std::vector<Offer> SmallTenants() {
  std::vector<Offer> offers;
  for (int i = 0; i < 5; ++i) offers.push_back({"tenant-" + std::to_string(i), 10});
  return offers;
}

void CheckOverload(const World& world, std::chrono::seconds duration, Report& report) {
  const auto dialer = http::NewDialer();
  const Connections connections = DialSome(world, *dialer, 8);
  const double peak = overload::Peak(connections, "elephant", 3 * overload::kSeats,
                                     duration / 6 + std::chrono::seconds(1));
  std::printf("     %-52s %12.3f\n", "peak, requests a second", peak);
  std::vector<Offer> offers = SmallTenants();
  const std::size_t small = offers.size();
  offers.push_back({"master", 10});
  offers.push_back({"elephant", std::max(10 * peak - 50, 100.0)});
  const std::vector<Tally> tallies = overload::Run(connections, offers, duration);
  const double seconds = std::chrono::duration<double>(duration).count();
  double good = 0;
  double broken = 0;
  double slowest = 0;
  double small_served = 1;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const Tally& tally = tallies[i];
    if (offers[i].user != "master") good += static_cast<double>(tally.good);
    broken += static_cast<double>(tally.broken);
    if (i >= small) continue;
    slowest = std::max(slowest, tally.Percentile(0.99));
    small_served =
        std::min(small_served, static_cast<double>(tally.good) / static_cast<double>(tally.sent));
  }
  const Tally& exempt = tallies[small];
  const Tally& elephant = tallies.back();
  std::printf("     %-52s %12.3f\n", "offered, requests a second",
              static_cast<double>(elephant.sent) / seconds);
  report.Timed(static_cast<double>(elephant.sent) / seconds >= 8 * peak, "offered of peak",
               static_cast<double>(elephant.sent) / seconds / peak, "about 10");
  report.Timed(good / seconds >= 0.8 * peak, "goodput of peak", good / seconds / peak, ">= 0.8");
  report.Timed(slowest < 1, "small tenants' p99, seconds", slowest, "< 1");
  report.Line(small_served == 1, "small tenants served, of what they asked", small_served, "1");
  report.Line(exempt.good == exempt.sent, "exempt requests served",
              static_cast<double>(exempt.good) / static_cast<double>(exempt.sent), "1");
  report.Line(broken == 0, "answers that are neither 200 nor 429", broken, "0");
  report.Line(elephant.refused > 0, "refused", static_cast<double>(elephant.refused), "> 0");

  // Normal again: the small ones alone, from five seconds after at the latest.
  Notification never;
  (void)never.WaitFor(std::chrono::seconds(std::min<long>(5, duration.count())));
  double afterwards = 0;
  double lost = 0;
  for (const Tally& tally : overload::Run(connections, SmallTenants(), std::chrono::seconds(2))) {
    afterwards = std::max(afterwards, tally.Percentile(0.99));
    lost += static_cast<double>(tally.sent - tally.good);
  }
  report.Timed(afterwards < 0.25, "p99 within five seconds after, seconds", afterwards, "< 0.25");
  report.Line(lost == 0, "not served after", lost, "0");
}

// How often the kernel has dropped a connection because a queue of accepted ones was full, in all
// of this network namespace; -1: it does not say.
double ListenOverflows() {
  std::ifstream file("/proc/net/netstat");
  std::string names;
  std::string values;
  while (std::getline(file, names) && std::getline(file, values)) {
    std::istringstream each_name(names);
    std::istringstream each_value(values);
    std::string name;
    std::string value;
    while (each_name >> name && each_value >> value) {
      if (name == "ListenOverflows") return std::stod(value);
    }
  }
  return -1;
}

// A request of a master's, on a new connection, over and over, while `hardship` lasts.
template <class Hardship>
void WithCanary(const World& world, const char* what, Report& report, Hardship hardship) {
  std::atomic<bool> over{false};
  Tally tally;
  Thread canary("canary", [&] {
    const auto dialer = http::NewDialer();
    Notification never;
    while (!over) {
      const auto begin = RealClock().Now();
      ++tally.sent;
      const auto connection = world.Dial(*dialer);
      if (connection.ok()) {
        const auto answer = (*connection)->Call(Context::Background(), World::RequestOf("master"));
        tally.good += answer.ok() && answer->code == 200;
      }
      const std::chrono::duration<double> took = RealClock().Now() - begin;
      tally.seconds.push_back(took.count());
      (void)never.WaitFor(std::chrono::milliseconds(20));
    }
  });
  hardship();
  over = true;
  canary.Join();
  report.Line(tally.good == tally.sent && tally.sent > 0, what,
              static_cast<double>(tally.good) / static_cast<double>(tally.sent),
              "canary served: 1");
  report.Timed(tally.Percentile(0.99) < 1, "  its p99, connecting included, seconds",
               tally.Percentile(0.99), "< 1");
}

using Slow = std::vector<std::unique_ptr<overload::RawTls>>;

Slow DialSlow(const World& world, const std::string& beginning) {
  Slow connections;
  for (int i = 0; i < kSlowOnes; ++i) {
    auto tls = overload::DialRaw(world.port());
    if (tls && tls->Write(beginning)) connections.push_back(std::move(tls));
  }
  return connections;
}

// Sends one byte of `drip` on each, ten times a second.
void Drip(Slow& connections, std::string_view drip, std::chrono::seconds duration) {
  Notification never;
  const auto end = RealClock().Now() + duration;
  for (std::size_t i = 0; RealClock().Now() < end; ++i) {
    for (auto& tls : connections) {
      if (tls && !tls->Write(drip.substr(i % drip.size(), 1))) tls = nullptr;
    }
    (void)never.WaitFor(std::chrono::milliseconds(100));
  }
}

void CheckHardships(const World& world, std::chrono::seconds duration, Report& report) {
  const std::string head = "Host: localhost\r\nAuthorization: Bearer tenant-0\r\n";
  WithCanary(world, "slow-loris: headers", report, [&] {
    Slow slow = DialSlow(world, "GET / HTTP/1.1\r\n" + head);
    Drip(slow, "X-A: b\r\n", duration);
  });
  WithCanary(world, "slow-loris: bodies", report, [&] {
    Slow slow =
        DialSlow(world, "POST /apis/example.com/v1/namespaces/default/widgets HTTP/1.1\r\n" + head +
                            "Content-Type: application/json\r\n"
                            "Content-Length: 100000\r\n\r\n");
    Drip(slow, "{\"a\":\"bbbbbbbb", duration);
  });
  WithCanary(world, "slow-loris: answers that nobody reads", report, [&] {
    // A pipeline of large answers.
    std::string requests;
    for (int i = 0; i < 50; ++i) requests += "GET /openapi/v2 HTTP/1.1\r\n" + head + "\r\n";
    const Slow slow = DialSlow(world, requests);
    Notification never;
    (void)never.WaitFor(duration);
  });
  const double overflows_before = ListenOverflows();
  WithCanary(world, "handshakes that are begun and dropped", report, [&] {
    const auto end = RealClock().Now() + duration;
    std::vector<Thread> flood;
    for (int i = 0; i < 2; ++i) {
      flood.emplace_back("flood", [&] {
        while (RealClock().Now() < end) overload::BeginHandshake(world.port());
      });
    }
    for (Thread& thread : flood) thread.Join();
  });
  const double overflows = ListenOverflows() - overflows_before;
  report.Timed(overflows == 0, "  connections dropped by a full accept queue", overflows, "0");
  WithCanary(world, "4000 idle connections", report, [&] {
    const auto dialer = http::NewDialer();
    const Connections idle = DialSome(world, *dialer, kIdleConnections);
    Notification never;
    (void)never.WaitFor(duration);
  });
}

int Fail(const std::string& why) {
  std::fprintf(stderr, "overload: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  long seconds = 60;
  bool judges_times = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--counts") {
      judges_times = false;
      continue;
    }
    if (!flag.starts_with("--seconds=")) return Fail("usage: overload [--seconds=60] [--counts]");
    seconds = std::atol(argv[i] + std::string_view("--seconds=").size());
  }
  if (seconds < 1) return Fail("--seconds must be a positive number");
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < kDescriptors) {
    return Fail("needs 9000 file descriptors; raise the hard limit (ulimit -Hn)");
  }
  limit.rlim_cur = std::max(limit.rlim_cur, kDescriptors);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return Fail("cannot raise the limit of descriptors");
  std::signal(SIGPIPE, SIG_IGN);

  const auto world = World::Start();
  if (!world.ok()) return Fail(world.status().ToString());
  Report report(judges_times);
  CheckOverload(**world, std::chrono::seconds(seconds), report);
  CheckHardships(**world, std::chrono::seconds(std::max<long>(2, seconds / 12)), report);
  return report.missed() ? 1 : 0;
}
