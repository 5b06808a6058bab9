#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/base/status.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/http/dialer.h"

namespace bench {

// The server that is measured: one that was started here on CPU 0, or somebody else's.
class ServerUnderTest {
 public:
  // Starts `binary` with `storage` on a free port and a temporary folder.
  static apiserver::Result<std::unique_ptr<ServerUnderTest>> Start(const std::string& binary,
                                                                   const std::string& storage);
  // One that runs already; figures of its process are there only if `pid` is not zero.
  static apiserver::Result<std::unique_ptr<ServerUnderTest>> Attach(const std::string& kubeconfig,
                                                                    const std::string& address,
                                                                    pid_t pid);
  ~ServerUnderTest();

  // Ends a server that was started here and starts it again on what it has stored; returns the
  // seconds from exec to ready. Connections to it are lost.
  apiserver::Result<double> Restart();

  const apiserver::http::DialOptions& dial() const { return dial_; }
  bool has_process() const { return pid_ != 0; }
  // utime + stime; zero without process.
  double CpuSeconds() const;
  double RssBytes() const;
  std::size_t Threads() const;

 private:
  apiserver::Status Launch();

  apiserver::http::DialOptions dial_;
  std::string binary_;
  std::string storage_;
  pid_t pid_ = 0;
  bool ours_ = false;
  std::string folder_;
};

// Binds this process, and all threads it starts from now on, to one CPU.
void PinTo(int cpu);

}  // namespace bench
