#include "bench/series.h"

#include <algorithm>

#include "bench/corpus.h"

namespace bench {

using apiserver::Status;

Status Series::Run(const Connections& connections,
                   const std::function<LoopOptions(int run)>& options) {
  for (int run = 0; run < kRuns; ++run) {
    if (Status ran = RunOnce(connections, options(run)); !ran.ok()) return ran;
  }
  return {};
}

Status Series::RunOnce(const Connections& connections, LoopOptions loop) {
  const double before = server_.CpuSeconds();
  loop.operations = std::max<std::size_t>(loop.operations / server_.fewer(), 1);
  BENCH_ASSIGN(result, RunClosedLoop(connections, loop));
  Add(result, server_.CpuSeconds() - before);
  return {};
}

void Series::Add(const LoopResult& result, double cpu_seconds) {
  const auto operations = static_cast<double>(result.latencies_us.size());
  cpu_us_.push_back(cpu_seconds * 1e6 / operations);
  throughput_.push_back(operations / result.seconds);
  p50_.push_back(Percentile(result.latencies_us, 0.5));
  p99_.push_back(Percentile(result.latencies_us, 0.99));
}

void Series::AddTo(Report& report) const {
  if (server_.has_process()) {
    report.Add({name_, "server_cpu_us_per_op", Median(cpu_us_), "us"});
    report.Add({name_, "rss_bytes", server_.RssBytes(), "bytes"});
  }
  report.Add({name_, "throughput_per_s", Median(throughput_), "1/s"});
  report.Add({name_, "p50_us", Median(p50_), "us"});
  report.Add({name_, "p99_us", Median(p99_), "us"});
}

}  // namespace bench
