#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/registry/polling_store.h"

// Threads of a process as a resource: nobody stores them, they are looked up.
namespace threads {

inline constexpr char kGroup[] = "process.example.com";

struct ThreadStat {
  int id = 0;
  std::string command;
  std::string state;  // A letter, as ps shows it.
  std::int64_t cpu_milliseconds = 0;
};

// Where threads come from: the process itself, or a test.
using Source = std::function<apiserver::Result<std::vector<ThreadStat>>()>;
// Of this process, from /proc.
Source ProcessThreads();

// process.example.com/v1 Thread, with what `kubectl get` shows.
apiserver::Result<apiserver::runtime::KindPtr> NewThreadKind();

// get, list and watch. Polls `source` every `interval`; zero: only when told to.
apiserver::Result<std::shared_ptr<apiserver::registry::PollingStore>> NewThreadStore(
    const apiserver::runtime::KindPtr& kind, Source source, apiserver::Executor& executor,
    std::chrono::milliseconds interval);

// threads/log: a line now and at every change, until the thread or the client is gone.
std::shared_ptr<apiserver::rest::Storage> NewThreadLog(
    std::shared_ptr<apiserver::registry::PollingStore> store);

// threads/connect: a WebSocket that answers "command", "state" and "cpu".
std::shared_ptr<apiserver::rest::Storage> NewThreadConnect(
    std::shared_ptr<apiserver::registry::PollingStore> store);

}  // namespace threads
