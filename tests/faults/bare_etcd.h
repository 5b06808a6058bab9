#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "faults/members_history.h"
#include "storage/etcd/rpc.h"

// The simplest client of one member of an etcd: every call is tried once. What our engine is
// compared to, and what asks each member in the end.
namespace apiserver::inline v0::faults {

namespace etcd = storage::etcd;

class BareEtcd {
 public:
  // `url` as "http://127.0.0.1:2379".
  static Result<std::unique_ptr<BareEtcd>> New(const std::string& url,
                                               std::chrono::milliseconds timeout);

  // Their revision. The reason tells the code of the failure: kServiceUnavailable, kTimeout; else
  // kInternalError.
  Result<Revision> Put(const std::string& key, const std::string& value);
  // kNotFound: there was nothing.
  Result<Revision> Delete(const std::string& key);
  // Linearizable.
  Result<Revision> CurrentRevision();
  // All keys as of `revision`, with what ValueIn() finds, names without `prefix`.
  Result<MemberView> View(const std::string& prefix, Revision revision);

  etcd::Rpc& rpc() { return *rpc_; }

 private:
  BareEtcd(std::shared_ptr<etcd::Rpc> rpc, std::chrono::milliseconds timeout)
      : rpc_(std::move(rpc)), timeout_(timeout) {}
  template <class Response, class Request>
  Result<Response> Ask(const char* method, const Request& request);

  const std::shared_ptr<etcd::Rpc> rpc_;
  const std::chrono::milliseconds timeout_;
};

// One watch of etcd's, as long as its stream lasts.
class BareWatch {
 public:
  // Of the keys that begin with `prefix`, from `from` on; zero: from now on.
  BareWatch(etcd::Rpc& rpc, const std::string& prefix, Revision from);
  ~BareWatch();

  // What came since the last call, waiting for at most `patience`; names without the prefix. False:
  // nothing more will come.
  bool Next(std::vector<Change>& changes, std::chrono::milliseconds patience);

 private:
  struct Inbox;
  class Handler;

  const std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<etcd::RpcStream> stream_;
};

}  // namespace apiserver::inline v0::faults
