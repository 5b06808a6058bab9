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

namespace apiserver::inline v0 {
class ProgressSink;
}  // namespace apiserver::inline v0

// An engine over etcd 3.4 or later. Many servers may share one etcd, those of Go's k8s.io/apiserver
// included: keys, values, leases and compaction follow the same rules.
namespace apiserver::inline v0::storage::etcd {

// The cluster, and the limits of the engine's calls to it.
struct Options {
  // Required. The members of one cluster: "http://10.0.0.1:2379", "https://etcd-0.etcd:2379",
  // "unix:///run/etcd.sock". Calls go to those that answer, in turns.
  std::vector<std::string> servers;

  // The paths of PEM files, read once: the authorities that https servers must be signed by (empty:
  // the system's), and the client certificate and key (empty: none). kube-apiserver's
  // --etcd-cafile, --etcd-certfile, --etcd-keyfile.
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  // A user of etcd's own authentication (`etcdctl auth enable`), and the path of a file with its
  // password and nothing else but a line's end; read once. Empty: the certificate names the user,
  // if etcd asks for one. Go's k8s.io/apiserver has no such option.
  std::string user;
  std::string password_file;
  // The name that the servers' certificates must carry. Empty: the host of each.
  std::string server_name;

  // The longest time that Open() tries to reach a member.
  std::chrono::milliseconds dial_timeout = std::chrono::seconds(20);
  // If set, Open() fails when no member was reached; else the engine begins unready and keeps
  // trying.
  bool require_contact = true;
  // The idle time after which a connection is tested, and the time after that when it is given up.
  // etcd ends connections that are tested more often than every 5 seconds.
  std::chrono::milliseconds keepalive_time = std::chrono::seconds(30);
  std::chrono::milliseconds keepalive_timeout = std::chrono::seconds(10);
  // The timeout of a call whose Context allows more.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
  // The time within which etcd must answer for Ready() to be OK.
  std::chrono::milliseconds health_timeout = std::chrono::seconds(2);

  // The interval at which history is compacted, in turns with the other servers of this etcd;
  // between one and two intervals of it are kept. Zero: never by this engine.
  std::chrono::milliseconds compaction_interval = std::chrono::minutes(5);

  // Receives a routine job "compaction" of "etcd" for each turn in which this engine compacts
  // (base/progress.h). Its unit is revisions: those that etcd is asked to forget. It ends when etcd
  // has answered, from when on they cannot be read; etcd takes them out of its database after that,
  // and tells nobody how far it is. Shared with other jobs of a server. Null: there are no reports.
  std::shared_ptr<ProgressSink> progress;

  // Limits the bytes that a tail holds unread; beyond that it stops reading ahead until all of it
  // has been read.
  std::size_t tail_bytes_max = 64 << 20;

  // Determines when to compact; everything else goes by the machine's time. Must outlive the
  // engine.
  const Clock& clock = RealClock();
  // Gets an entry when etcd is lost and when it is found again. Must outlive the engine.
  LogSink& log = NullLogSink();
};

// Connects to etcd. Differences to the embedded engines:
//
// - Calls that have to ask etcd return kWouldBlock where they may not wait: all but NewTail,
//   TxnAsync, RequestProgress and the const methods. Observe is kMethodNotAllowed.
// - Reads are repeated while etcd cannot be reached and there is time. After a write whose answer
//   was lost the key is read; if that does not show whether the write happened it is kTimeout.
// - Tails read ahead, so that the first answer comes a moment after NewTail, and compaction does
//   not end one that holds the events it needs. They survive the loss of the connection. One that
//   begins exactly at the compacted revision may be expired. `from` zero means after the last
//   revision this engine knows of.
// - All keys of a lease are deleted in one transaction. A lease lives at least as long as etcd's
//   election takes, 2 seconds by default.
// - GetStats() is up to a minute old; `bytes` are those in use by etcd's database, with history.
//
// kInvalid: the options are wrong. kServiceUnavailable: no server can be reached.
// kInternalError: etcd refuses our credentials, or a file cannot be read.
Result<std::unique_ptr<kv::Engine>> Open(const Options& options);

}  // namespace apiserver::inline v0::storage::etcd
