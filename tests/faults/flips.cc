#include "faults/flips.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/random.h"
#include "faults/disk.h"
#include "faults/disk_file_system.h"
#include "faults/history.h"
#include "faults/writers.h"
#include "storage/rocks/open_over.h"

namespace apiserver::inline v0::faults {
namespace {

constexpr char kFlippedStore[] = "/data/store";
constexpr std::size_t kSector = 512;

storage::rocks::Options FlippedStoreOptions() {
  storage::rocks::Options options{.path = kFlippedStore};
  options.history = {.window = {}, .events_max = 0, .bytes_max = 0};
  options.write_buffer_bytes = 64 << 10;
  options.recent_events_max = 4;
  return options;
}

Result<Contents> ReadStore(const Disk::Files& files, bool& opened) {
  Disk disk(files);
  const auto env = NewDiskEnv(disk);
  auto engine = storage::rocks::OpenOver(*env, FlippedStoreOptions());
  opened = engine.ok();
  if (!opened) return engine.status();
  return Read(**engine);
}

// A store with tables, a log that is in use, and its contents.
Disk::Files MakeStore(std::uint64_t seed, std::size_t writes, Contents& contents) {
  Disk disk;
  const auto env = NewDiskEnv(disk);
  auto engine = storage::rocks::OpenOver(*env, FlippedStoreOptions());
  if (!engine.ok()) return {};
  History history(writes);
  RunWriters(WriteTo(**engine), history, {.seed = seed, .writes = writes});
  auto read = Read(**engine);
  if (read.ok()) contents = *std::move(read);
  if (seed % 2 == 0) {
    // All is in tables, and the log is empty.
    (*engine)->Stop();
    engine = storage::rocks::OpenOver(*env, FlippedStoreOptions());
  }
  disk.PowerOff();
  return disk.Now();
}

bool Same(const Contents& a, const Contents& b) {
  const auto same_change = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.key == y.second.key && x.second.value == y.second.value;
  };
  return a.revision == b.revision && a.state == b.state && a.log.size() == b.log.size() &&
         std::equal(a.log.begin(), a.log.end(), b.log.begin(), same_change);
}

class Damage {
 public:
  Damage(const Disk::Files& files, Random& random) : random_(random) {
    // Each kind of file is hit as often as any other, large or small.
    std::vector<std::string> kinds;
    for (const auto& [path, content] : files) {
      if (!content.empty()) kinds.push_back(KindOf(path));
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    const std::string& kind = kinds[random_.Below(kinds.size())];
    std::vector<std::string> paths;
    for (const auto& [path, content] : files) {
      if (!content.empty() && KindOf(path) == kind) paths.push_back(path);
    }
    path_ = paths[random_.Below(paths.size())];
    at_ = random_.Below(files.at(path_).size());
    // The end of a file is where mistakes hide.
    const std::size_t size = files.at(path_).size();
    if (random_.Below(4) == 0) at_ = size - 1 - random_.Below(std::min<std::size_t>(size, 64));
    how_ = random_.Below(8);
    newest_log_ = kind == "log" && path_ == paths.back();
  }

  void Apply(Disk::Files& files) const {
    std::string& content = files.at(path_);
    const std::size_t begin = at_ / kSector * kSector;
    const std::size_t end = std::min(content.size(), begin + kSector);
    if (how_ < 5) {
      content[at_] = static_cast<char>(content[at_] ^ (1 << random_.Below(8)));
    } else if (how_ == 5) {
      std::fill(content.begin() + static_cast<long>(begin),
                content.begin() + static_cast<long>(end), '\0');
    } else if (how_ == 6) {
      for (std::size_t i = begin; i < end; ++i) content[i] = static_cast<char>(random_.Below(256));
    } else {
      content.resize(at_);
    }
  }

  std::string ToString() const {
    const char* how = how_ < 5 ? "bit" : how_ == 5 ? "zeros" : how_ == 6 ? "noise" : "cut";
    return path_ + " " + how + " at " + std::to_string(at_);
  }
  // The newest log, ended early or with a hole, is what an honest power cut may leave.
  bool LooksLikeACut() const { return (how_ == 7 || how_ == 5) && newest_log_; }

 private:
  static std::string KindOf(const std::string& path) {
    if (path.ends_with(".log")) return "log";
    if (path.ends_with(".sst")) return "sst";
    const std::string name = path.substr(path.rfind('/') + 1);
    return name.substr(0, name.find('-'));
  }

  Random& random_;
  std::string path_;
  std::size_t at_ = 0;
  std::uint64_t how_ = 0;
  bool newest_log_ = false;
};

// Whether `found` is what `whole` was at an earlier revision.
bool IsPrefix(const Contents& found, const Contents& whole) {
  Contents then;
  then.revision = found.revision;
  for (const auto& [revision, change] : whole.log) {
    if (revision > found.revision) break;
    then.log[revision] = change;
    if (change.value) {
      then.state[change.key] = *change.value;
    } else {
      then.state.erase(change.key);
    }
  }
  return Same(found, then);
}

}  // namespace

FlipOutcome RunFlips(const FlipOptions& options) {
  auto random = NewSeededRandom(options.seed);
  FlipOutcome result;
  Contents whole;
  Disk::Files files;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    if (round % 25 == 0) {
      whole = {};
      files = MakeStore(options.seed + round / 25, 20 + random->Below(60), whole);
    }
    Disk::Files damaged = files;
    const Damage damage(files, *random);
    damage.Apply(damaged);
    bool opened = false;
    const auto found = ReadStore(damaged, opened);
    ++result.outcome.rounds;
    std::string verdict = "harmless";
    if (!opened) {
      ++result.refused;
      verdict = found.status().ToString();
    } else if (!found.ok()) {
      ++result.failed;
      verdict = found.status().ToString();
    } else if (Same(*found, whole) || (damage.LooksLikeACut() && IsPrefix(*found, whole))) {
      ++result.harmless;
    } else {
      verdict = "revision " + std::to_string(whole.revision) + " is read as " +
                std::to_string(found->revision);
      result.outcome.Violated("round " + std::to_string(round) + ", " + damage.ToString() + ": " +
                              verdict + "; --seed=" + std::to_string(options.seed) +
                              " --rounds=" + std::to_string(round + 1) + " tries it again");
      verdict = "WRONG " + verdict;
    }
    if (options.verbose) std::printf("%s: %s\n", damage.ToString().c_str(), verdict.c_str());
  }
  return result;
}

}  // namespace apiserver::inline v0::faults
