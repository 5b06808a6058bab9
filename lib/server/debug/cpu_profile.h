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

// The processor time of this process's threads, by stack, from Start() to Finish(). Used by one
// thread at a time.
class CpuProfile {
 public:
  struct Needs {
    OpenThreadSamples open = &OpenPerfEvents;
    const FileSystem* files = &RealFileSystem();  // Must have /proc.
    const Clock* clock = &RealClock();
  };
  struct Limits {
    std::size_t threads = 4096;  // Further threads are not sampled; the profile says how many.
    // Distinct stacks. Further ones are counted, and the profile says so.
    std::size_t stacks = 100'000;
  };

  // Starts to sample. The error says what the kernel refuses and what to do about it.
  static Result<std::unique_ptr<CpuProfile>> Start(Needs needs, Limits limits);

  // Takes the new samples and finds new threads: call it a few times a second.
  void Collect();
  // Returns the profile so far, as github.com/google/pprof/proto/profile.proto: not compressed yet.
  std::string Finish();

 private:
  // A thread's name and its stack.
  using Key = std::pair<std::string, std::vector<std::uint64_t>>;
  struct Thread {
    std::string name;
    std::unique_ptr<ThreadSamples> samples;
  };

  CpuProfile(Needs needs, Limits limits);
  // Returns the error of the first thread that could not be opened.
  Status FindThreads();
  void Drain(Thread& thread);
  std::vector<std::string> Remarks() const;

  const Needs needs_;
  const Limits limits_;
  const Clock::Wall began_;
  const Clock::Monotonic began_monotonic_;
  std::map<int, Thread> threads_;  // By thread id.
  std::map<Key, std::int64_t> counts_;
  std::uint64_t lost_ = 0;
  std::size_t threads_not_seen_ = 0;
};

}  // namespace apiserver::inline v0::server::debug
