#pragma once

#include <atomic>
#include <memory>

#include "apiserver/base/log.h"
#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {

// Checks whether etcd answers: a linearizable read, once a second. It also counts keys, once a
// minute: the figures of Engine::GetStats() may be old but must be cheap.
class Health : public std::enable_shared_from_this<Health> {
 public:
  // `timeout`: the time within which etcd must answer.
  Health(std::shared_ptr<Client> client, std::chrono::milliseconds timeout, LogSink& log)
      : client_(std::move(client)), timeout_(timeout), log_(log) {}

  // Starts the checks; `first` is the result so far.
  void Start(Status first);
  Status Ready() const { return *status_.Lock(); }
  std::size_t keys() const { return keys_.load(); }

 private:
  void Check();
  void Count();
  void Tell(const Status& status);

  const std::shared_ptr<Client> client_;
  const std::chrono::milliseconds timeout_;
  LogSink& log_;
  Guarded<Status> status_;
  std::atomic<std::size_t> keys_ = 0;
};

}  // namespace apiserver::inline v0::storage::etcd
