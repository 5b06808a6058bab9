#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"
#include "server/debug/perf_events.h"

namespace apiserver::inline v0::server::debug {

// On what the threads of this process spend processor time, from Start() to Finish(). One thread at
// a time.
class CpuProfile {
 public:
  struct Needs {
    OpenThreadSamples open = &OpenPerfEvents;
    const FileSystem* files = &RealFileSystem();  // With /proc.
    const Clock* clock = &RealClock();
  };
  struct Limits {
    std::size_t threads = 4096;    // Others are not looked at; the profile says how many.
    std::size_t stacks = 100'000;  // Different ones. Others are counted, and the profile says so.
  };

  // The error says what the kernel refuses and what to do about it.
  static Result<std::unique_ptr<CpuProfile>> Start(Needs needs, Limits limits);

  // Takes what has been sampled and finds threads that are new: a few times a second.
  void Collect();
  // The profile so far, as github.com/google/pprof/proto/profile.proto: not compressed yet.
  std::string Finish();

 private:
  // A thread's name and its stack.
  using Key = std::pair<std::string, std::vector<std::uint64_t>>;
  struct Thread {
    std::string name;
    std::unique_ptr<ThreadSamples> samples;
  };

  CpuProfile(Needs needs, Limits limits);
  // What stopped the first one that could not be opened.
  Status FindThreads();
  void Drain(Thread& thread);
  std::vector<std::string> Remarks() const;

  const Needs needs_;
  const Limits limits_;
  const Clock::Wall began_;
  const Clock::Monotonic began_monotonic_;
  std::map<int, Thread> threads_;  // By id.
  std::map<Key, std::int64_t> counts_;
  std::uint64_t lost_ = 0;
  std::size_t threads_not_seen_ = 0;
};

}  // namespace apiserver::inline v0::server::debug
