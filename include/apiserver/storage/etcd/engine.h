#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

// An engine over etcd 3.4 or later, which many servers may share, those of Go's k8s.io/apiserver
// included: keys, values, leases and compaction are theirs.
namespace apiserver::inline v0::storage::etcd {

struct Options {
  // Required. The members of one cluster: "http://10.0.0.1:2379", "https://etcd-0.etcd:2379",
  // "unix:///run/etcd.sock". Calls go to those that answer, in turns.
  std::vector<std::string> servers;

  // Paths of PEM files, read once. The authorities that https servers must be signed by; empty: the
  // system's. And the certificate and key we show them; empty: none. kube-apiserver's
  // --etcd-cafile, --etcd-certfile, --etcd-keyfile.
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  // The name that the servers' certificates must carry; empty: the host of each.
  std::string server_name;

  // How long Open() tries to reach a member.
  std::chrono::milliseconds dial_timeout = std::chrono::seconds(20);
  // Whether Open() fails when it reached none; else the engine begins unready and goes on trying.
  bool require_contact = true;
  // An idle connection is tested after keepalive_time and given up keepalive_timeout later. etcd
  // ends connections that are tested more often than every 5 seconds.
  std::chrono::milliseconds keepalive_time = std::chrono::seconds(30);
  std::chrono::milliseconds keepalive_timeout = std::chrono::seconds(10);
  // What a call may take whose Context allows more.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
  // Within which etcd must answer for Ready() to be OK.
  std::chrono::milliseconds health_timeout = std::chrono::seconds(2);

  // How often history is compacted, in turns with the other servers of this etcd; between one and
  // two intervals of it are kept. Zero: never by this engine.
  std::chrono::milliseconds compaction_interval = std::chrono::minutes(5);

  // What a tail may hold that nobody has read yet; with more it stops reading ahead until all of it
  // has been read.
  std::size_t tail_bytes_max = 64 << 20;

  // Tells when to compact; all else goes by the machine's time. Must outlive the engine.
  const Clock& clock = RealClock();
  // Told when etcd is lost and found. Must outlive the engine.
  LogSink& log = NullLogSink();
};

// Connects. Differences to the embedded engines:
//
// - What has to ask etcd answers kWouldBlock where it may not wait: all but NewTail, TxnAsync,
//   RequestProgress and the const methods. Observe is kMethodNotAllowed.
// - Reads are repeated while etcd cannot be reached and there is time. A write whose answer was
//   lost is looked for; if nobody can say whether it happened it is kTimeout.
// - Tails read ahead, so that the first answer comes a moment after NewTail, and compaction does
// not
//   end one that holds what it needs. They survive the loss of the connection. One that begins
//   exactly at the compacted revision may be expired. `from` zero means after the last revision
//   this engine knows of.
// - All keys of a lease are deleted in one transaction. A lease lives at least as long as etcd's
//   election takes, 2 seconds by default.
// - GetStats() is up to a minute old; `bytes` is what etcd's database has in use, history included.
//
// kInvalid: what is wrong with the options. kServiceUnavailable: no server can be reached.
// kInternalError: etcd refuses our credentials, or a file cannot be read.
Result<std::unique_ptr<kv::Engine>> Open(const Options& options);

}  // namespace apiserver::inline v0::storage::etcd
