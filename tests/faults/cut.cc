#include "faults/cut.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "apiserver/base/random.h"
#include "faults/bare.h"
#include "faults/disk.h"
#include "faults/disk_file_system.h"
#include "faults/history.h"
#include "faults/writers.h"
#include "storage/rocks/open_over.h"

namespace apiserver::inline v0::faults {
namespace {

namespace kv = storage::kv;

constexpr char kCutStore[] = "/data/store";
constexpr std::size_t kCutWritesMax = 4000;
// A store gets a new directory after so many cuts, so that verifying stays quick.
constexpr std::size_t kCutLivesMax = 10;
// A cut before nothing was ever written has its place too, but seldom.
constexpr std::uint64_t kChangesMax = 1500;

storage::rocks::Options CutOptionsFor(bool keep_all) {
  storage::rocks::Options options{.path = kCutStore};
  options.history = {.window = {}, .events_max = keep_all ? 0U : 200U, .bytes_max = 0};
  options.write_buffer_bytes = 64 << 10;
  // So that tails read the disk.
  options.recent_events_max = 16;
  return options;
}

// One store over lives and disks.
class Cuts {
 public:
  explicit Cuts(const CutOptions& options)
      : options_(options), random_(NewSeededRandom(options.seed)) {}

  Outcome Run() {
    for (std::size_t round = 0; round < options_.rounds; ++round) {
      if (round % kCutLivesMax == 0) Renew();
      const std::string wrong = Round(round);
      ++outcome_.rounds;
      outcome_.acknowledged += history_.acknowledged();
      if (options_.verbose) {
        std::printf("cut %zu: %zu acknowledged, revision %ld%s%s\n", round, history_.acknowledged(),
                    static_cast<long>(known_.revision), wrong.empty() ? "" : ": ", wrong.c_str());
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
    left_.clear();
    known_ = {};
    keep_all_ = random_->Below(2) == 0;
  }

  bool bare() const {
    return options_.subject == Subject::kBare || options_.subject == Subject::kBareUnsynced;
  }

  // A life that ends with a cut, and a look at what is left.
  std::string Round(std::size_t round) {
    history_.Clear();
    Disk disk(left_);
    disk.SetLying(options_.subject == Subject::kLyingDisk);
    disk.PowerOffAfter(1 + random_->Below(kChangesMax));
    WritersOptions writers{.seed = random_->Next() >> 8, .life = round};
    writers.acknowledge_first = options_.subject == Subject::kAcknowledgeFirst;
    Live(disk, writers);
    left_ = disk.AfterCut(static_cast<Loss>(random_->Below(5)), *random_);
    Disk after(left_);
    const auto contents = ReadAll(after);
    if (!contents.ok()) return "it does not open: " + contents.status().ToString();
    const std::string wrong = Verify(*contents, history_, round, known_);
    // The next life finds what this opening has made of it.
    left_ = after.Now();
    return wrong;
  }

  void Live(Disk& disk, const WritersOptions& writers) {
    const auto env = NewDiskEnv(disk);
    if (bare()) {
      (void)env->CreateDirIfMissing("/data");
      auto store = BareStore::Open(*env, kCutStore, options_.subject == Subject::kBare);
      if (store != nullptr) RunWriters(store->Writer(), history_, writers);
      disk.PowerOff();
      return;
    }
    auto engine = storage::rocks::OpenOver(*env, CutOptionsFor(keep_all_));
    if (engine.ok()) RunWriters(WriteTo(**engine), history_, writers);
    // Before it is stopped, which might sync.
    disk.PowerOff();
  }

  Result<Contents> ReadAll(Disk& disk) {
    const auto env = NewDiskEnv(disk);
    if (bare()) {
      (void)env->CreateDirIfMissing("/data");
      auto store = BareStore::Open(*env, kCutStore, true);
      if (store == nullptr) return Status(Reason::kInternalError, "the bare store does not open");
      return store->Read();
    }
    auto engine = storage::rocks::OpenOver(*env, CutOptionsFor(keep_all_));
    if (!engine.ok()) return engine.status();
    return Read(**engine);
  }

  const CutOptions options_;
  const std::unique_ptr<Random> random_;
  History history_{kCutWritesMax};
  Disk::Files left_;
  Known known_;
  bool keep_all_ = true;
  Outcome outcome_;
};

// The newest log of RocksDB on a disk.
std::string NewestLog(const Disk::Files& files) {
  std::string newest;
  for (const auto& [path, content] : files) {
    if (path.ends_with(".log") && !content.empty()) newest = path;
  }
  return newest;
}

}  // namespace

Outcome RunCuts(const CutOptions& options) { return Cuts(options).Run(); }

Outcome RunBoundaries(std::size_t writes) {
  Disk disk;
  Outcome outcome;
  {
    const auto env = NewDiskEnv(disk);
    auto engine = storage::rocks::OpenOver(*env, CutOptionsFor(true));
    Revision held = 0;
    for (std::size_t n = 0; engine.ok() && n < writes; ++n) {
      kv::TxnRequest request{.key = "/k/" + std::to_string(n / 4), .expected_mod_revision = held};
      if (n % 4 != 3) request.value = std::make_shared<const std::string>(n % 9, 'x');
      const auto response = (*engine)->Txn(Context::Background(), request);
      if (!response.ok() || !response->succeeded) break;
      held = n % 4 == 3 ? 0 : response->revision;
      ++outcome.acknowledged;
    }
    disk.PowerOff();
  }
  const Disk::Files whole = disk.Now();
  const std::string log = NewestLog(whole);
  Revision before = 1;
  for (std::size_t size = 0; size <= whole.at(log).size(); ++size) {
    Disk::Files cut = whole;
    cut[log].resize(size);
    Disk left(cut);
    const auto env = NewDiskEnv(left);
    auto engine = storage::rocks::OpenOver(*env, CutOptionsFor(true));
    std::string wrong = engine.ok() ? "" : engine.status().ToString();
    if (engine.ok()) {
      const auto contents = Read(**engine);
      if (!contents.ok()) {
        wrong = contents.status().ToString();
      } else if (contents->revision < before) {
        wrong = "a longer log holds less";
      } else if (contents->log.size() + 1 != static_cast<std::size_t>(contents->revision)) {
        wrong = "the log has gaps";
      } else {
        before = contents->revision;
      }
    }
    ++outcome.rounds;
    if (!wrong.empty()) {
      outcome.Violated("a log of " + std::to_string(size) + " bytes: " + wrong);
    }
  }
  // Whole, it holds all.
  if (before != static_cast<Revision>(outcome.acknowledged) + 1) {
    outcome.Violated("the whole log is not all there is");
  }
  return outcome;
}

}  // namespace apiserver::inline v0::faults
