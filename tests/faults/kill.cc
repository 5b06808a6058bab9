#include "faults/kill.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/storage/rocks/engine.h"
#include "faults/history.h"
#include "faults/writers.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0::faults {
namespace {

constexpr std::size_t kWritesMax = 20'000;
// A store is given up after so many lives, so that verifying stays quick.
constexpr std::size_t kLivesMax = 20;
constexpr std::chrono::seconds kKillPatience{60};

storage::rocks::Options OptionsFor(const std::string& path, bool keep_all) {
  storage::rocks::Options options{.path = path};
  options.history = {.window = {}, .events_max = keep_all ? 0U : 1000U, .bytes_max = 0};
  options.write_buffer_bytes = 64 << 10;
  options.recent_events_max = 64;
  return options;
}

// A process of ours; killed at the latest when the object goes.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    if (posix_spawn(&pid_, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
      pid_ = -1;
    }
  }
  ~Process() { Kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool Runs() { return pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0; }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

class Kills {
 public:
  explicit Kills(const KillOptions& options)
      : options_(options), random_(NewSeededRandom(options.seed)) {}

  Outcome Run() {
    for (std::size_t round = 0; round < options_.rounds; ++round) {
      if (round % kLivesMax == 0) Renew();
      const std::string wrong = Round(round);
      ++outcome_.rounds;
      outcome_.acknowledged += history_->acknowledged();
      if (options_.verbose) {
        std::printf("kill %zu: %zu acknowledged, revision %ld %s\n", round,
                    history_->acknowledged(), static_cast<long>(known_.revision), wrong.c_str());
        (void)std::fflush(stdout);
      }
      if (wrong.empty()) continue;
      outcome_.Violated("round " + std::to_string(round) + ": " + wrong +
                        "; --seed=" + std::to_string(options_.seed) +
                        " --rounds=" + std::to_string(round + 1) + " tries it again");
      Renew();
    }
    return outcome_;
  }

 private:
  void Renew() {
    history_.reset();
    directory_ = std::make_unique<storage::rocks::TempDirectory>();
    // Before a victim starts: it may be killed before it has made anything.
    history_ = std::make_unique<History>(kWritesMax, directory_->path() + ".history");
    known_ = {};
    keep_all_ = random_->Below(2) == 0;
  }

  std::vector<std::string> Victim(std::size_t round) {
    std::vector<std::string> command = {options_.program,
                                        "writer",
                                        "--store=" + directory_->path(),
                                        "--history=" + directory_->path() + ".history",
                                        "--seed=" + std::to_string(random_->Next() >> 16),
                                        "--life=" + std::to_string(round)};
    if (keep_all_) command.emplace_back("--keep-all");
    if (options_.acknowledge_first) command.emplace_back("--acknowledge-first");
    return command;
  }

  std::string Round(std::size_t round) {
    history_->Clear();
    const std::size_t wanted = options_.writes_min + random_->Below(options_.writes_max);
    {
      Process victim(Victim(round));
      const auto deadline = std::chrono::steady_clock::now() + kKillPatience;
      while (history_->acknowledged() < wanted) {
        if (!victim.Runs()) return "the writer ended by itself";
        if (std::chrono::steady_clock::now() > deadline) return "the writer does not get on";
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    }
    if (random_->Below(3) == 0) {
      std::vector<std::string> command = Victim(round);
      command.emplace_back("--open-only");
      const Process opening(command);
      std::this_thread::sleep_for(std::chrono::microseconds(random_->Below(40'000)));
    }
    return VerifyStore(round);
  }

  std::string VerifyStore(std::size_t round) {
    auto engine = storage::rocks::Open(OptionsFor(directory_->path(), keep_all_));
    if (!engine.ok()) return "it does not open: " + engine.status().ToString();
    const auto contents = Read(**engine);
    if (!contents.ok()) return "it cannot be read: " + contents.status().ToString();
    return Verify(*contents, *history_, round, known_);
  }

  const KillOptions options_;
  const std::unique_ptr<Random> random_;
  std::unique_ptr<storage::rocks::TempDirectory> directory_;
  std::unique_ptr<History> history_;
  Known known_;
  bool keep_all_ = true;
  Outcome outcome_;
};

}  // namespace

Outcome RunKills(const KillOptions& options) { return Kills(options).Run(); }

int RunVictim(const VictimOptions& options) {
  History history(kWritesMax, options.history);
  auto engine = storage::rocks::Open(OptionsFor(options.store, options.keep_all));
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  if (options.open_only) pause();
  RunWriters(
      WriteTo(**engine), history,
      {.seed = options.seed, .life = options.life, .acknowledge_first = options.acknowledge_first});
  return 0;
}

}  // namespace apiserver::inline v0::faults
