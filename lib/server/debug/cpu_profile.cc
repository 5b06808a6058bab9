#include "server/debug/cpu_profile.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/status_macros.h"
#include "server/debug/loaded_objects.h"
#include "server/debug/profile_message.h"

namespace apiserver::v0::server::debug {

namespace {

constexpr char kTasks[] = "/proc/self/task";

std::int64_t InNanoseconds(std::chrono::nanoseconds duration) { return duration.count(); }

int ThreadId(const std::string& name) {
  int number = 0;
  (void)std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

std::string ThreadName(int thread, const FileSystem& files) {
  auto name = files.Read(std::string(kTasks) + "/" + std::to_string(thread) + "/comm");
  if (!name.ok()) return "";
  while (name->ends_with('\n')) name->pop_back();
  return *std::move(name);
}

}  // namespace

CpuProfile::CpuProfile(Needs needs, Limits limits)
    : needs_(std::move(needs)),
      limits_(limits),
      began_(needs_.clock->WallNow()),
      began_monotonic_(needs_.clock->Now()) {}

Result<std::unique_ptr<CpuProfile>> CpuProfile::Start(Needs needs, Limits limits) {
  std::unique_ptr<CpuProfile> profile(new CpuProfile(std::move(needs), limits));
  const Status found = profile->FindThreads();
  // Some threads are better than none, and the profile says what is missing.
  if (profile->threads_.empty() && !found.ok()) return found;
  return profile;
}

Status CpuProfile::FindThreads() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, needs_.files->List(kTasks));
  std::map<int, Thread> threads;
  Status wrong;
  threads_not_seen_ = 0;
  // Threads keep their samples over several lists, so an id that is known is not opened again.
  for (const std::string& name : names) {
    const int id = ThreadId(name);
    if (auto known = threads_.extract(id)) {
      threads.insert(std::move(known));
      continue;
    }
    if (threads.size() >= limits_.threads) {
      ++threads_not_seen_;
      continue;
    }
    auto samples = needs_.open(id);
    if (samples.ok()) {
      threads.emplace(id, Thread{ThreadName(id, *needs_.files), *std::move(samples)});
    } else if (samples.status().reason() != Reason::kNotFound) {
      if (wrong.ok()) wrong = samples.status();
      ++threads_not_seen_;
    }
  }
  // The threads left in the old map have ended.
  threads_ = std::move(threads);
  return wrong;
}

void CpuProfile::Drain(Thread& thread) {
  lost_ += thread.samples->Drain([&](std::span<const std::uint64_t> stack) {
    Key key{thread.name, {stack.begin(), stack.end()}};
    const auto found = counts_.find(key);
    if (found != counts_.end()) {
      ++found->second;
    } else if (counts_.size() < limits_.stacks) {
      counts_.emplace(std::move(key), 1);
    } else {
      // Only counted: the profile's memory must not depend on the program.
      ++lost_;
    }
  });
}

void CpuProfile::Collect() {
  for (auto& [id, thread] : threads_) Drain(thread);
  // If threads cannot be listed now, sampling of the known ones goes on.
  (void)FindThreads();
}

std::vector<std::string> CpuProfile::Remarks() const {
  std::vector<std::string> remarks;
  if (lost_ > 0) remarks.push_back(std::to_string(lost_) + " samples are missing: no room");
  if (threads_not_seen_ > 0) {
    remarks.push_back(std::to_string(threads_not_seen_) + " threads are missing at the end");
  }
  return remarks;
}

std::string CpuProfile::Finish() {
  for (auto& [id, thread] : threads_) Drain(thread);
  ProfileMessage message(LoadedObjects());
  for (const auto& [key, count] : counts_) {
    message.AddSample(key.first, key.second, count);
  }
  return std::move(message).Finish(
      {.began_nanoseconds = InNanoseconds(began_.time_since_epoch()),
       .lasted_nanoseconds = InNanoseconds(needs_.clock->Now() - began_monotonic_),
       .remarks = Remarks()});
}

}  // namespace apiserver::v0::server::debug
