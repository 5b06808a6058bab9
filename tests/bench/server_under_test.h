#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/dialer.h"
#include "bench/process.h"
#include "bench/temporary_folder.h"
#include "storage/etcd/etcd_server.h"

namespace bench {

// Somebody else's server.
struct RunningServer {
  std::string address;     // "127.0.0.1:6443".
  std::string kubeconfig;  // The path.
  pid_t pid = 0;           // Zero: no figures of its process.
  std::string etcd;  // The address of its etcd, "127.0.0.1:2379"; empty: calls are not counted.
  // So many times fewer operations are measured: it, or what watches it, is slow.
  std::size_t fewer = 1;
};

// The CPUs of a server that is started.
enum class Cpus : bool {
  kOne,  // CPU 0, which neither the driver nor an etcd has.
  kAll,  // Those of the driver, and of an etcd.
};

// The server that is measured: one that was started here, or somebody else's.
class ServerUnderTest {
 public:
  // Starts `binary` with `storage` and further `flags` on a free port and a temporary folder; for
  // "etcd" an etcd of one member before it, on the driver's CPUs.
  static apiserver::Result<std::unique_ptr<ServerUnderTest>> Start(
      const std::string& binary, const std::string& storage, std::vector<std::string> flags = {},
      Cpus cpus = Cpus::kOne);
  // One that runs already.
  static apiserver::Result<std::unique_ptr<ServerUnderTest>> Attach(const RunningServer& running);

  // Ends a server that was started here and starts it again on what it has stored; returns the
  // seconds from exec to ready. Connections to it are lost.
  apiserver::Result<double> Restart();

  const apiserver::http::DialOptions& dial() const { return dial_; }
  // Its data folder, removed at the end; empty: somebody else's.
  const std::string& folder() const { return folder_.path(); }
  std::size_t fewer() const { return fewer_; }
  void set_fewer(std::size_t fewer) { fewer_ = std::max<std::size_t>(fewer, 1); }
  bool has_process() const { return pid_ != 0; }
  // utime + stime; zero without process.
  double CpuSeconds() const;
  double RssBytes() const;
  // The most since ResetPeakRss().
  double PeakRssBytes() const;
  void ResetPeakRss();
  std::size_t Threads() const;
  bool has_etcd() const { return !etcd_address_.empty(); }
  // What its etcd has been called for since it started, by its own count, streams left out.
  apiserver::Result<double> EtcdCalls() const;

 private:
  apiserver::Status Launch();

  apiserver::http::DialOptions dial_;
  std::string binary_;
  std::string storage_;
  std::vector<std::string> flags_;
  std::optional<int> cpu_;  // Of its process.
  pid_t pid_ = 0;
  std::size_t fewer_ = 1;
  TemporaryFolder folder_;
  std::unique_ptr<apiserver::storage::etcd::EtcdServer> etcd_;
  std::string etcd_address_;
  Process process_;  // None: somebody else's server. Ends before its etcd and its folder.
};

// Starts a server of ours with further flags.
using StartServer = std::function<apiserver::Result<std::unique_ptr<ServerUnderTest>>(
    std::vector<std::string> flags)>;

}  // namespace bench
