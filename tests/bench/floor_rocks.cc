#include <rocksdb/db.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/corpus.h"
#include "bench/floor_workloads.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/series.h"
#include "bench/temporary_folder.h"

namespace bench {

namespace {

using apiserver::Reason;
using apiserver::Status;

struct Variant {
  const char* name;
  int writers;
  std::size_t puts;
};

double ProcessCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Half of it does not compress, as objects do not.
std::string Value(std::size_t n) {
  std::string value(1024, 'x');
  std::uint64_t bits = n + 1;
  for (std::size_t i = 0; i < value.size() / 2; ++i) {
    bits = bits * 6364136223846793005U + 1442695040888963407U;
    value[i] = static_cast<char>(bits >> 56);
  }
  return value;
}

// Each put is durable when it returns. RocksDB joins those of several threads into one sync.
Status PutAll(rocksdb::DB& db, const Variant& variant, int run) {
  std::atomic<std::size_t> begun{0};
  std::atomic<bool> failed{false};
  const auto write = [&] {
    rocksdb::WriteOptions durable;
    durable.sync = true;
    for (std::size_t n = begun++; n < variant.puts; n = begun++) {
      const std::string key = "/registry/" + std::string(variant.name) + "/" + std::to_string(run) +
                              "/" + std::to_string(n);
      if (!db.Put(durable, key, Value(n)).ok()) failed = true;
    }
  };
  std::vector<std::thread> writers;
  writers.reserve(static_cast<std::size_t>(variant.writers));
  for (int i = 0; i < variant.writers; ++i) writers.emplace_back(write);
  for (std::thread& writer : writers) writer.join();
  if (failed) return {Reason::kInternalError, "RocksDB refused a put"};
  return {};
}

Status RunVariant(rocksdb::DB& db, const Variant& variant, Report& report) {
  std::vector<double> cpu_us;
  std::vector<double> throughput;
  const auto puts = static_cast<double>(variant.puts);
  for (int run = 0; run < kRuns; ++run) {
    const double cpu = ProcessCpuSeconds();
    const auto started = std::chrono::steady_clock::now();
    if (Status put = PutAll(db, variant, run); !put.ok()) return put;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    cpu_us.push_back((ProcessCpuSeconds() - cpu) * 1e6 / puts);
    throughput.push_back(puts / took.count());
  }
  report.Add({variant.name, "cpu_us_per_op", Median(cpu_us), "us"});
  report.Add({variant.name, "throughput_per_s", Median(throughput), "1/s"});
  return {};
}

Status RunOnThisCpu(Report& report) {
  BENCH_ASSIGN(folder, TemporaryFolder::New());
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  if (!rocksdb::DB::Open(options, folder.path(), &opened).ok()) {
    return {Reason::kInternalError, "cannot open a RocksDB in " + folder.path()};
  }
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (const Variant& variant : {Variant{"floor/rocks/c1", 1, 2'000},
                                 {"floor/rocks", 32, 20'000},
                                 {"floor/rocks/c256", 256, 20'000}}) {
    if (Status ran = RunVariant(*db, variant, report); !ran.ok()) return ran;
  }
  return {};
}

}  // namespace

Status RunRocksFloor(Report& report) {
  Status ran;
  // RocksDB's own threads begin on the CPU of the thread that opens it.
  std::thread on_cpu_0([&] {
    PinTo(0);
    ran = RunOnThisCpu(report);
  });
  on_cpu_0.join();
  return ran;
}

}  // namespace bench
