#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage::etcd {

// What a started etcd is to be like.
struct EtcdServerOptions {
  std::vector<std::string> arguments;  // More of them, "--max-txn-ops=8".
  // PEM paths; not empty: https, and clients must show a certificate of `ca_file`.
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
};

// A real etcd of one or several members, each a process of its own on free ports and on a directory
// in memory where there is one. The program is the one that $APISERVER_ETCD names, else "etcd" in
// $PATH, where scripts/test puts Debian's. Processes end with the object, or with the test.
class EtcdServer {
 public:
  // Fails, and says why, if etcd is not there or does not come up; never skips. All members have a
  // leader then (behind TLS: they listen).
  static Result<std::unique_ptr<EtcdServer>> Start(int members = 1,
                                                   const EtcdServerOptions& options = {});
  ~EtcdServer();

  // The client URLs.
  const std::vector<std::string>& urls() const { return urls_; }
  int port(std::size_t member) const { return ports_[member]; }
  // kill -9, and start again on what it left.
  void Kill(std::size_t member);
  Status Restart(std::size_t member);
  // SIGSTOP and SIGCONT: it is there but does not answer.
  void Pause(std::size_t member);
  void Resume(std::size_t member);

 private:
  static Result<std::unique_ptr<EtcdServer>> StartOnFreePorts(int members,
                                                              const EtcdServerOptions& options);
  EtcdServer() = default;
  Status Spawn(std::size_t member);
  Status WaitUntil(bool (*up)(int port), std::size_t member);

  EtcdServerOptions options_;
  std::string program_;
  std::string directory_;
  std::string cluster_;
  std::vector<std::string> urls_;
  std::vector<int> ports_;
  std::vector<int> peer_ports_;
  std::vector<pid_t> pids_;
};

}  // namespace apiserver::inline v0::storage::etcd
