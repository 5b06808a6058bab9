#include "bench/server_under_test.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "apiserver/base/file_system.h"
#include "apiserver/client/client.h"
#include "bench/corpus.h"

namespace bench {

namespace {

using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

Status Failed(const std::string& what) { return {Reason::kInternalError, what}; }

Result<apiserver::http::DialOptions> DialOptionsOf(const std::string& kubeconfig) {
  auto text = apiserver::RealFileSystem().Read(kubeconfig);
  if (!text.ok()) return text.status();
  auto config = apiserver::client::ReadKubeconfig(*text);
  if (!config.ok()) return config.status();
  return apiserver::client::DialOptionsFor(*config);
}

// Plain, HTTP/1.1.
Result<apiserver::http::DialOptions> AddressOf(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return Failed("not HOST:PORT: " + text);
  apiserver::http::DialOptions options;
  options.host = text.substr(0, colon);
  options.port = std::atoi(text.c_str() + colon + 1);
  options.http2 = false;
  return options;
}

}  // namespace

Result<std::unique_ptr<ServerUnderTest>> ServerUnderTest::Start(const std::string& binary,
                                                                const std::string& storage,
                                                                std::vector<std::string> flags,
                                                                Cpus cpus) {
  auto server = std::make_unique<ServerUnderTest>();
  BENCH_ASSIGN(folder, TemporaryFolder::New());
  server->folder_ = std::move(folder);
  server->binary_ = binary;
  server->storage_ = storage;
  server->flags_ = std::move(flags);
  if (cpus == Cpus::kOne) server->cpu_ = 0;
  if (storage == "etcd") {
    auto etcd = apiserver::storage::etcd::EtcdServer::Start();
    if (!etcd.ok()) return etcd.status();
    server->etcd_ = std::move(*etcd);
    server->etcd_address_ = "127.0.0.1:" + std::to_string(server->etcd_->port(0));
  }
  if (Status launched = server->Launch(); !launched.ok()) return launched;
  return server;
}

Status ServerUnderTest::Launch() {
  // Written when it is ready.
  const std::string kubeconfig = folder() + "/kubeconfig";
  std::filesystem::remove(kubeconfig);
  std::vector<std::string> arguments{binary_, "--secure-port=0", "--storage=" + storage_,
                                     "--data-dir=" + folder()};
  if (!etcd_address_.empty()) arguments.push_back("--etcd-servers=http://" + etcd_address_);
  arguments.insert(arguments.end(), flags_.begin(), flags_.end());
  BENCH_ASSIGN(process, Process::Start(std::move(arguments), cpu_));
  process_ = std::move(process);
  pid_ = process_.pid();
  for (int tries = 0; !std::filesystem::exists(kubeconfig); ++tries) {
    if (tries > 30'000 || !process_.Runs()) {
      return Failed(binary_ + " does not come up");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto dial = DialOptionsOf(kubeconfig);
  if (!dial.ok()) return dial.status();
  dial_ = *dial;
  return {};
}

Result<double> ServerUnderTest::Restart() {
  if (binary_.empty()) return Failed("somebody else's server cannot be started again");
  process_.Terminate();
  const auto started = std::chrono::steady_clock::now();
  if (Status launched = Launch(); !launched.ok()) return launched;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

Result<std::unique_ptr<ServerUnderTest>> ServerUnderTest::Attach(const RunningServer& running) {
  auto dial = DialOptionsOf(running.kubeconfig);
  if (!dial.ok()) return dial.status();
  auto server = std::make_unique<ServerUnderTest>();
  server->dial_ = *dial;
  auto address = AddressOf(running.address);
  if (!address.ok()) return address.status();
  server->dial_.host = address->host;
  server->dial_.port = address->port;
  server->pid_ = running.pid;
  server->set_fewer(running.fewer);
  server->etcd_address_ = running.etcd;
  return server;
}

double ServerUnderTest::CpuSeconds() const {
  if (pid_ == 0) return 0;
  // /proc/PID/stat counts in hundredths of a second, which is too coarse for a thousand requests.
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double ServerUnderTest::RssBytes() const {
  if (pid_ == 0) return 0;
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double ServerUnderTest::PeakRssBytes() const {
  if (pid_ == 0) return 0;
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kPeak = "VmHWM:";
    if (line.starts_with(kPeak)) return std::atof(line.c_str() + kPeak.size()) * 1024;
  }
  return 0;
}

void ServerUnderTest::ResetPeakRss() {
  if (pid_ == 0) return;
  std::ofstream file("/proc/" + std::to_string(pid_) + "/clear_refs");
  file << "5";
}

Result<double> ServerUnderTest::EtcdCalls() const {
  auto address = AddressOf(etcd_address_);
  if (!address.ok()) return address.status();
  const auto dialer = apiserver::http::NewDialer();
  auto connection = dialer->Dial(apiserver::Context::Background(), *address);
  if (!connection.ok()) return connection.status();
  auto metrics = (*connection)->Call(apiserver::Context::Background(), {.target = "/metrics"});
  if (!metrics.ok()) return metrics.status();
  double calls = 0;
  std::istringstream lines(metrics->body);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("grpc_server_started_total{")) continue;
    if (line.find("grpc_type=\"unary\"") == std::string::npos) continue;
    calls += std::atof(line.c_str() + line.rfind(' '));
  }
  return calls;
}

std::size_t ServerUnderTest::Threads() const {
  if (pid_ == 0) return 0;
  std::size_t threads = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task")) {
    ++threads;
  }
  return threads;
}

}  // namespace bench
