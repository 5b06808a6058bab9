#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/http/certificates.h"
#include "apiserver/storage/etcd/engine.h"

// Asks the members of an etcd how they are, as a doctor does. An engine needs none of it.
namespace apiserver::inline v0::storage::etcd {

// An alarm of a cluster: etcd refuses writes, or more, until it is disarmed.
struct Alarm {
  std::string name = {};        // "NOSPACE" or "CORRUPT".
  std::uint64_t member_id = 0;  // The member that has raised it.

  friend bool operator==(const Alarm&, const Alarm&) = default;
};

// The state of one member.
struct MemberReport {
  std::string server = {};  // As Options::servers names it.
  // OK: it has answered a consistent read, as a server needs it. kServiceUnavailable: it cannot be
  // reached; the message says why. kTimeout: it did not answer in time. kInternalError: it refuses
  // our credentials.
  Status status = {};
  // The time that the consistent read took, without that of making a connection.
  std::chrono::milliseconds took{0};
  // Empty and zero below here: it did not tell.
  std::string version = {};  // "3.4.23".
  // The version is one that the engine works with: 3.4 or later.
  bool supported = false;
  std::uint64_t cluster_id = 0;
  std::uint64_t member_id = 0;
  std::size_t database_bytes = 0;  // The size of its file.
  std::size_t used_bytes = 0;      // Those of its file that defragmentation would leave.
  // The size of its file at which the member refuses writes: --quota-backend-bytes. etcd tells it
  // from 3.6 on.
  std::size_t quota_bytes = 0;
  std::vector<Alarm> alarms = {};  // Those of the cluster that it knows of.
  // The certificate of its own that it has shown in a TLS handshake, which need not be valid. Also
  // told if `status` is an error, for that may be why.
  std::optional<http::CertificateFacts> certificate = std::nullopt;
};

// Asks each of `options.servers`, all at the same time, and returns a report for each, in their
// order. Changes nothing. Blocks, for no longer than about `timeout`, whatever the members do.
//
// kInvalid: the options are wrong, or their files do not fit together. Any error of reading a file.
Result<std::vector<MemberReport>> Inspect(const Options& options,
                                          std::chrono::milliseconds timeout);

}  // namespace apiserver::inline v0::storage::etcd
