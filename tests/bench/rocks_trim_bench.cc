// How the embedded store stands a long run of writes while it trims its history:
//
//   rocks_trim_bench DIRECTORY [SECONDS=60] [WRITERS=32] [KEYS=20000] [HISTORY=200000] [create]
//
// Updates random keys with 1 KiB values ("create": makes new keys instead) and prints, every ten
// seconds, the rate, the latency seen by the writers, the size on disk and the CPU of the whole
// process for each write.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/rocks/engine.h"

namespace {

using namespace apiserver;  // NOLINT: a program of its own.
namespace kv = storage::kv;
using std::chrono::duration;
using std::chrono::seconds;

struct Setup {
  std::string directory;
  int seconds_total = 60;
  int writers = 32;
  int keys = 20000;
  int history = 200000;
  bool create = false;
};

struct Shared {
  Setup setup;
  kv::Engine* engine = nullptr;
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0;
  Guarded<std::vector<float>> latencies;  // Milliseconds, of the current ten seconds.
};

// Half of it does not compress.
std::string RandomValue(Random& random) {
  std::string value(1024, '0');
  for (std::size_t i = 0; i < value.size() / 2; i += 16) {
    const std::uint64_t bits = random.Next();
    for (std::size_t digit = 0; digit < 16; ++digit) {
      value[i + digit] = "0123456789abcdef"[bits >> (4 * digit) & 15];
    }
  }
  return value;
}

// Each writer has its own keys, so that it knows their revisions.
void Write(Shared& shared, int writer) {
  auto random = NewSeededRandom(static_cast<std::uint64_t>(writer) + 1);
  const Context ctx = Context::Background();
  const auto keys = static_cast<std::size_t>(shared.setup.keys / shared.setup.writers);
  std::vector<kv::Revision> held(keys, 0);
  for (std::size_t n = 0; !shared.stop; ++n) {
    const std::size_t key = shared.setup.create ? n : random->Below(keys);
    kv::TxnRequest request;
    request.key = "/registry/example.com/widgets/namespace-" + std::to_string(writer) +
                  "/object-name-" + std::to_string(1'000'000 + key);
    request.value = std::make_shared<const std::string>(RandomValue(*random));
    if (!shared.setup.create) request.expected_mod_revision = held[key];
    const auto begin = RealClock().Now();
    const auto response = shared.engine->Txn(ctx, request);
    const auto took = duration<float, std::milli>(RealClock().Now() - begin);
    if (!response.ok() || !response->succeeded) {
      ++shared.failed;
      return;
    }
    if (!shared.setup.create) held[key] = response->revision;
    shared.latencies.Lock()->push_back(took.count());
  }
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

double DiskMegabytes(const std::string& directory) {
  double bytes = 0;
  std::error_code gone;  // Files come and go.
  for (const auto& entry : std::filesystem::directory_iterator(directory, gone)) {
    const auto size = entry.file_size(gone);
    if (!gone) bytes += static_cast<double>(size);
  }
  return bytes / (1 << 20);
}

void Report(Shared& shared, double elapsed, double total, double cpu) {
  std::vector<float> latencies;
  latencies.swap(*shared.latencies.Lock());
  if (latencies.empty()) return;
  std::sort(latencies.begin(), latencies.end());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto n = static_cast<double>(latencies.size());
  std::printf(
      "%5.0f s  %7.0f writes/s  p50 %.2f ms  p99 %.2f ms  max %.1f ms  disk %.0f MB  "
      "cpu %.1f us  rss %ld MB\n",
      total, n / elapsed, static_cast<double>(latencies[latencies.size() / 2]),
      static_cast<double>(latencies[latencies.size() * 99 / 100]),
      static_cast<double>(latencies.back()), DiskMegabytes(shared.setup.directory), cpu * 1e6 / n,
      usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

int Run(const Setup& setup) {
  auto engine = storage::rocks::Open(
      {.path = setup.directory,
       .history = {.window = {}, .events_max = static_cast<std::size_t>(setup.history)}});
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  Shared shared;
  shared.setup = setup;
  shared.engine = engine->get();
  std::vector<Thread> threads;
  for (int i = 0; i < setup.writers; ++i) {
    threads.emplace_back("writer", [&shared, i] { Write(shared, i); });
  }
  Guarded<bool> never{false};
  const auto begin = RealClock().Now();
  auto last = begin;
  double cpu_before = CpuSeconds();
  while (last - begin < seconds(setup.seconds_total)) {
    never.Lock().WaitUntil(last + seconds(10), [] { return false; });
    const auto now = RealClock().Now();
    const double cpu = CpuSeconds();
    Report(shared, duration<double>(now - last).count(), duration<double>(now - begin).count(),
           cpu - cpu_before);
    last = now;
    cpu_before = cpu;
  }
  shared.stop = true;
  for (Thread& thread : threads) thread.Join();
  const kv::Stats stats = (*engine)->GetStats();
  std::printf("keys %zu, bytes %zu, history %zu bytes, failed %d\n", stats.keys, stats.bytes,
              stats.history_bytes, shared.failed.load());
  return shared.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY [SECONDS] [WRITERS] [KEYS] [HISTORY] [create]\n",
                 argv[0]);
    return 2;
  }
  Setup setup;
  setup.directory = argv[1];
  if (argc > 2) setup.seconds_total = std::atoi(argv[2]);
  if (argc > 3) setup.writers = std::atoi(argv[3]);
  if (argc > 4) setup.keys = std::atoi(argv[4]);
  if (argc > 5) setup.history = std::atoi(argv[5]);
  setup.create = argc > 6;
  return Run(setup);
}
