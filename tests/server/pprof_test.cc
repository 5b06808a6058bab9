// /debug/pprof/: net/http/pprof, with what there is of it outside of Go.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>

#include "apiserver/base/sync.h"
#include "apiserver/http/in_process.h"
#include "decoded_profile.h"
#include "filter_fixture.h"
#include "server/debug/place.h"
#include "server/debug/pprof.h"
#include "server/mux/path_mux.h"
#include "widget_server.h"

using apiserver::Clock;
using apiserver::Context;
using apiserver::Guarded;
using apiserver::RealClock;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::Thread;
using apiserver::server::PathMux;
using apiserver::server::debug::CpuProfile;
using apiserver::server::debug::Profiler;
using apiserver::server::debug::ThreadSamples;
using apiserver::testing::Contains;
using apiserver::testing::DecodedProfile;
using apiserver::testing::FilterFixture;
using apiserver::testing::StartWidgetServer;
namespace auth = apiserver::auth;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

constexpr auto kProfilePatience = std::chrono::seconds(60);
constexpr char kInUse[] = "Could not enable CPU profiling: cpu profiling already in use\n";

// Whether this kernel lets a process look at itself: asked here, not of what is tested.
bool KernelAllowsProfiles() {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const auto fd = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  if (fd < 0) return false;
  close(fd);
  return true;
}

std::atomic<bool> spinning{false};

// A loop for a profile to show. It calls only what a build puts there: its load of an atomic
// without optimization, and libFuzzer's callbacks. Most samples' innermost address lies in it.
[[gnu::noinline]] std::uint64_t SpinWhileAsked() {
  std::uint64_t sum = 0;
  while (spinning.load(std::memory_order_relaxed)) {
    for (std::uint64_t i = 0; i < 1000; ++i) sum += sum * 31 + i;
  }
  return sum;
}
constexpr std::uint64_t kSpinBytesMax = 512;

class SettableClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(*passed_.Lock()); }
  Wall WallNow() const override { return Wall(*passed_.Lock()); }
  void Set(std::chrono::seconds passed) { *passed_.Lock() = passed; }

 private:
  Guarded<std::chrono::seconds> passed_{std::chrono::seconds(0)};
};

class NoSamples final : public ThreadSamples {
 public:
  std::uint64_t Drain(const Take&) override { return 0; }
};

// The endpoints alone, on a kernel of the test's own, at a time of its own.
class PprofFixture {
 public:
  explicit PprofFixture(bool cmdline = false, const Clock* other_clock = nullptr) {
    const CpuProfile::Needs needs{.open = [this](int thread) { return Open(thread); },
                                  .clock = other_clock ? other_clock : &clock};
    const server::debug::Place place = [this](std::string path, http::Handler handler, bool) {
      return mux_.Handle(std::move(path), std::move(handler), /*listed=*/false);
    };
    CHECK(InstallProfiling(place, std::make_shared<Profiler>(needs), cmdline).ok());
    fixture_.handler = [this](http::Exchange& exchange) -> http::Step {
      if (const auto handler = mux_.Find(exchange.request().path).handler)
        return (*handler)(exchange);
      return Status(Reason::kNotFound, "nothing");
    };
  }

  http::ClientResponse Call(const std::string& target) { return fixture_.Call("GET", target); }
  // A request that goes on.
  std::unique_ptr<http::ClientStream> Open(const std::string& target) {
    return fixture_.connection().Open({.target = target}).value();
  }
  bool WaitUntilBegun(int profiles) {
    auto begun = begun_.Lock();
    return begun.WaitUntil(RealClock().Now() + kProfilePatience,
                           [&] { return *begun == profiles; });
  }

  SettableClock clock;
  Status refusal;

 private:
  Result<std::unique_ptr<ThreadSamples>> Open(int thread) {
    if (!refusal.ok()) return refusal;
    // The one thread that every profile looks at, once.
    if (thread == getpid()) {
      ++*begun_.Lock();
      begun_.NotifyAll();
    }
    return std::make_unique<NoSamples>();
  }

  Guarded<int> begun_{0};
  PathMux mux_;
  FilterFixture fixture_{{}};
};

std::string BodyOf(http::ClientStream& stream) {
  std::string body;
  for (auto piece = stream.Read(Context::Background()); piece.ok() && !piece->empty();
       piece = stream.Read(Context::Background())) {
    body += *piece;
  }
  return body;
}

class NoProfiles final : public auth::Authorizer {
 public:
  Result<auth::Verdict> Authorize(const Context&,
                                  const auth::Attributes& attributes) const override {
    const bool may = !attributes.path.starts_with("/debug/pprof") || attributes.verb != "get";
    return auth::Verdict{may ? auth::Decision::kAllow : auth::Decision::kDeny};
  }
};

}  // namespace

// The CPU time that a profile counts for the thread "spinner", in nanoseconds: inside
// SpinWhileAsked() and elsewhere.
struct Seen {
  std::uint64_t in_spin = 0;
  std::uint64_t elsewhere = 0;
};

Seen SpinnerIn(const DecodedProfile& profile) {
  const auto spin = reinterpret_cast<std::uint64_t>(&SpinWhileAsked);
  Seen seen;
  for (const auto& sample : profile.samples) {
    if (sample.thread != "spinner") continue;
    const auto& frame = sample.stack.at(0);
    const bool inside = frame.address >= spin && frame.address < spin + kSpinBytesMax;
    (inside ? seen.in_spin : seen.elsewhere) += sample.nanoseconds;
    if (!inside) continue;
    CHECK(frame.mapping.begin <= spin);
    CHECK(spin < frame.mapping.end);
    CHECK(frame.mapping.file == std::filesystem::read_symlink("/proc/self/exe").string());
  }
  return seen;
}

TEST_CASE("server: a CPU profile shows what is busy, or why the kernel does not let it",
          "[server]") {
  const auto server = StartWidgetServer();
  spinning = true;
  std::atomic<std::uint64_t> result{0};
  Thread thread("spinner", [&result] { result = SpinWhileAsked(); });

  Seen seen;
  // A busy machine may give the spinner less than that in one second.
  for (int i = 0; i < 20 && seen.in_spin < 50'000'000; ++i) {
    const auto answer = server->Call("GET", "/debug/pprof/profile?seconds=1");
    CHECK(answer.headers.Get("X-Content-Type-Options") == "nosniff");
    if (!KernelAllowsProfiles()) {
      CHECK(answer.code == 500);
      CHECK(answer.headers.Get("X-Go-Pprof") == "1");
      CHECK(answer.body.starts_with("Could not enable CPU profiling: perf_event_open: "));
      break;
    }
    CHECK(answer.code == 200);
    if (answer.code != 200) break;  // The spinner would spin for ever.
    CHECK(answer.headers.Get("Content-Type") == "application/octet-stream");
    CHECK(answer.headers.Get("Content-Disposition") == "attachment; filename=\"profile\"");
    const DecodedProfile profile = DecodedProfile::OfGzip(answer.body);
    CHECK(profile.duration_nanos >= 1'000'000'000);
    seen = SpinnerIn(profile);
    // The spinner uses one processor at most; a sample counts for a hundredth of a second.
    CHECK(seen.in_spin <= profile.duration_nanos + 20'000'000);
  }
  spinning = false;
  thread.Join();
  if (!KernelAllowsProfiles()) return;
  CHECK(seen.in_spin >= 50'000'000);
  CHECK(seen.elsewhere * 2 <= seen.in_spin);
}

TEST_CASE("server: one profile is taken at a time, and no thread waits for it", "[server]") {
  PprofFixture fixture(/*cmdline=*/true);
  const auto first = fixture.Open("/debug/pprof/profile?seconds=5");
  REQUIRE(fixture.WaitUntilBegun(1));

  const auto second = fixture.Call("/debug/pprof/profile?seconds=5");
  CHECK(second.code == 500);
  CHECK(second.body == kInUse);
  CHECK(second.headers.Get("X-Go-Pprof") == "1");
  CHECK(second.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  // Needs the pool, which has one thread.
  CHECK(fixture.Call("/debug/pprof/cmdline").code == 200);

  fixture.clock.Set(std::chrono::seconds(5));
  CHECK(first->Head(Context::Background())->code == 200);
  CHECK(DecodedProfile::OfGzip(BodyOf(*first)).duration_nanos == 5'000'000'000);
  const auto third = fixture.Open("/debug/pprof/profile?seconds=1");
  REQUIRE(fixture.WaitUntilBegun(2));
  fixture.clock.Set(std::chrono::seconds(6));
  CHECK(third->Head(Context::Background())->code == 200);
}

TEST_CASE("server: a client that goes away makes way for the next profile", "[server]") {
  PprofFixture fixture(/*cmdline=*/false, &RealClock());
  const auto first = fixture.Open("/debug/pprof/profile?seconds=3600");
  REQUIRE(fixture.WaitUntilBegun(1));
  first->Cancel();

  int code = 0;
  const auto until = RealClock().Now() + kProfilePatience;
  while (code != 200 && RealClock().Now() < until) {
    code = fixture.Call("/debug/pprof/profile?seconds=1").code;
  }
  CHECK(code == 200);
}

TEST_CASE("server: seconds that are no number count as thirty", "[server]") {
  const auto* const seconds = GENERATE("", "?seconds=0", "?seconds=-3", "?seconds=1.5",
                                       "?seconds=x", "?seconds=9223372036854775808");
  INFO(seconds);
  PprofFixture fixture;
  const auto stream = fixture.Open(std::string("/debug/pprof/profile") + seconds);
  REQUIRE(fixture.WaitUntilBegun(1));

  fixture.clock.Set(std::chrono::seconds(30));

  REQUIRE(stream->Head(Context::Background())->code == 200);
  CHECK(DecodedProfile::OfGzip(BodyOf(*stream)).duration_nanos == 30'000'000'000);
}

TEST_CASE("server: a profile of more than an hour is refused", "[server]") {
  PprofFixture fixture;

  const auto answer = fixture.Call("/debug/pprof/profile?seconds=3601");

  CHECK(answer.code == 400);
  CHECK(answer.body == "profile duration exceeds the 3600 seconds this server allows\n");
}

TEST_CASE("server: what the kernel refuses is told, and the next one may try", "[server]") {
  PprofFixture fixture;
  fixture.refusal = Status(Reason::kForbidden, "perf_event_open: Permission denied; ask somebody");

  for (int i = 0; i < 2; ++i) {
    const auto answer = fixture.Call("/debug/pprof/profile?seconds=1");
    CHECK(answer.code == 500);
    CHECK(answer.body ==
          "Could not enable CPU profiling: perf_event_open: Permission denied; ask somebody\n");
    CHECK(answer.headers.Get("X-Go-Pprof") == "1");
  }
}

TEST_CASE("server: the index of profiles lists what there is", "[server]") {
  const auto server = StartWidgetServer();

  const auto index = server->Call("GET", "/debug/pprof/");

  CHECK(index.code == 200);
  CHECK(index.headers.Get("Content-Type") == "text/html; charset=utf-8");
  CHECK(Contains(index.body, "<a href='profile'>profile</a>: CPU profile. "));
  CHECK_FALSE(Contains(index.body, "cmdline"));
  for (const char* name : {"cmdline", "symbol", "heap", "goroutine", "trace"}) {
    const auto answer = server->Call("GET", std::string("/debug/pprof/") + name);
    CHECK(answer.code == 404);
    CHECK(answer.body == "Unknown profile\n");
    CHECK(answer.headers.Get("X-Go-Pprof") == "1");
  }
  CHECK_FALSE(Contains(server->Call("GET", "/").body, "/debug/pprof"));
}

TEST_CASE("server: with the command line the index says so", "[server]") {
  PprofFixture fixture(/*cmdline=*/true);

  CHECK(Contains(fixture.Call("/debug/pprof/").body, "<a href='cmdline'>cmdline</a>: The command"));
  const std::string arguments = fixture.Call("/debug/pprof/cmdline").body;
  CHECK(Contains(arguments.substr(0, arguments.find('\0')), "server_test"));
  CHECK_FALSE(arguments.ends_with('\0'));
}

TEST_CASE("server: /debug/pprof leads to its index", "[server]") {
  const auto server = StartWidgetServer();

  const auto got = server->Call("GET", "/debug/pprof");
  CHECK(got.code == 302);
  CHECK(got.headers.Get("Location") == "/debug/pprof/");
  CHECK(got.headers.Get("Content-Type") == "text/html; charset=utf-8");
  CHECK(got.body == "<a href=\"/debug/pprof/\">Found</a>.\n\n");
  const auto posted = server->Call("POST", "/debug/pprof");
  CHECK(posted.code == 302);
  CHECK(posted.headers.Get("Content-Type").empty());
  CHECK(posted.body.empty());
}

TEST_CASE("server: profiles are for those who may", "[server]") {
  const auto server = StartWidgetServer({.authorizer = std::make_shared<const NoProfiles>()});

  const auto stranger = http::NewInProcessConnection(server->server().service());
  for (const char* path : {"/debug/pprof", "/debug/pprof/", "/debug/pprof/profile?seconds=1"}) {
    CHECK(stranger->Call(Context::Background(), {.target = path})->code == 401);
    CHECK(server->Call("GET", path).code == 403);
  }
}

TEST_CASE("server: without profiling there are no profiles", "[server]") {
  const auto server = StartWidgetServer(
      {.configure = [](server::Config& config) { config.enable_profiling = false; }});

  for (const char* path : {"/debug/pprof", "/debug/pprof/", "/debug/pprof/profile?seconds=1"}) {
    CHECK(server->Call("GET", path).code == 404);
  }
}

TEST_CASE("server: a server that stops ends a profile, which is whole", "[server]") {
  // Longer than other requests may take.
  const auto server = StartWidgetServer({.request_timeout = std::chrono::seconds(1)});
  const auto loopback = server->server().LoopbackConnection();
  const bool allowed = KernelAllowsProfiles();
  std::unique_ptr<http::ClientStream> stream;
  const auto until = RealClock().Now() + kProfilePatience;
  bool begun = false;
  while (!begun && RealClock().Now() < until) {
    stream = loopback->Open({.target = "/debug/pprof/profile?seconds=3600"}).value();
    begun = server->Call("GET", "/debug/pprof/profile?seconds=2").body == kInUse || !allowed;
  }
  REQUIRE(begun);

  server->server().Stop();

  REQUIRE(stream->Head(Context::Background())->code == (allowed ? 200 : 500));
  if (allowed) CHECK(DecodedProfile::OfGzip(BodyOf(*stream)).duration_nanos > 0);
}
