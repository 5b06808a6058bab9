// Measures an API server over the wire: our own sample-apiserver, or any other of its kind.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench/report.h"
#include "bench/server_under_test.h"
#include "bench/workloads.h"

namespace {

struct Options {
  std::vector<std::string> workloads;
  std::string json;
  bench::RunningServer server;
  std::string binary;
  bool all_cpus = false;
};

apiserver::Status RunOne(const bench::Workload& workload, const Options& options,
                         bench::Report& report) {
  std::fprintf(stderr, "%s: %s\n", std::string(workload.name).c_str(),
               std::string(workload.what).c_str());
  if (workload.run_alone != nullptr) return workload.run_alone(report);
  std::string binary = workload.custom_resources ? KUBE_APISERVER : SAMPLE_APISERVER;
  if (!options.binary.empty()) binary = options.binary;
  const auto start = [&](std::vector<std::string> flags) {
    auto server =
        bench::ServerUnderTest::Start(binary, std::string(workload.storage), std::move(flags),
                                      options.all_cpus ? bench::Cpus::kAll : bench::Cpus::kOne);
    if (server.ok()) (*server)->set_fewer(options.server.fewer);
    return server;
  };
  if (workload.run_several != nullptr && options.server.address.empty()) {
    return workload.run_several(start, report);
  }
  if (workload.run == nullptr) {
    return {apiserver::Reason::kInvalid, "starts its servers itself; leave out --server"};
  }
  auto server =
      options.server.address.empty() ? start({}) : bench::ServerUnderTest::Attach(options.server);
  if (!server.ok()) return server.status();
  return workload.run(**server, report);
}

int Run(const Options& options) {
  bench::Report report;
  for (const std::string& name : options.workloads) {
    const bench::Workload* workload = bench::FindWorkload(name);
    if (!workload) {
      std::fprintf(stderr, "error: there is no workload %s; there are\n%s", name.c_str(),
                   bench::WorkloadNames().c_str());
      return 1;
    }
    const apiserver::Status status = RunOne(*workload, options, report);
    if (!status.ok()) {
      std::fprintf(stderr, "error: %s: %s\n", name.c_str(), status.ToString().c_str());
      return 1;
    }
  }
  report.Print();
  if (!options.json.empty() && !report.WriteJson(options.json)) {
    std::fprintf(stderr, "error: cannot write %s\n", options.json.c_str());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Measures an API server; each figure is the median of 5 runs.\n" + bench::WorkloadNames() +
      "Stores lie in new folders in $TMPDIR, or in /tmp: TMPDIR=/dev/shm leaves the disk out.");
  app.add_option("workloads", options.workloads, "W1 W3 …")->required();
  app.add_option("--json", options.json, "Also write one JSON object a line here");
  app.add_option("--server", options.server.address, "HOST:PORT of a server that runs already");
  app.add_option("--kubeconfig", options.server.kubeconfig, "How to be somebody there");
  app.add_option("--pid", options.server.pid, "Its process, for CPU and memory figures");
  app.add_option("--etcd", options.server.etcd, "HOST:PORT of its etcd, to count calls");
  app.add_option("--fewer", options.server.fewer,
                 "Measure so many times fewer operations of it, if it is slow");
  app.add_option("--binary", options.binary, "The server to start otherwise");
  app.add_flag("--all-cpus", options.all_cpus,
               "Bind neither the server nor the driver and its etcd to a CPU: for times of day");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);  // Few connections need it.
  }
  // The server gets CPU 0.
  if (!options.all_cpus) bench::PinTo(1);
  return Run(options);
}
