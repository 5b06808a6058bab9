#include "faults/io_errors.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "apiserver/base/random.h"
#include "faults/disk_file_system.h"
#include "faults/history.h"
#include "faults/writers.h"
#include "storage/rocks/open_over.h"

namespace apiserver::inline v0::faults {
namespace {

namespace kv = storage::kv;

constexpr char kErroringStore[] = "/data/store";
// Enough for a flush, a compaction of history, and a second log.
constexpr std::size_t kWrites = 60;
constexpr std::size_t kWritesAfter = 5;
constexpr std::chrono::seconds kErrorPatience{60};

storage::rocks::Options ErrorOptions() {
  storage::rocks::Options options{.path = kErroringStore};
  options.history = {.window = {}, .events_max = 20, .bytes_max = 0};
  options.write_buffer_bytes = 64 << 10;
  options.recent_events_max = 4;
  return options;
}

bool Says(const Status& status, std::string_view words) {
  return std::string_view(status.message()).find(words) != std::string_view::npos;
}

// One life with one fault.
class Life {
 public:
  Life(const Fault& fault, bool acknowledge_first)
      : fault_(fault), acknowledge_first_(acknowledge_first), env_(NewDiskEnv(disk_)) {}

  // Empty: all is well.
  std::string Run() {
    disk_.Set(fault_);
    auto engine = storage::rocks::OpenOver(*env_, ErrorOptions());
    std::string wrong = engine.ok() ? Live(**engine) : CheckError(engine.status());
    // Its last words on the way down count too.
    if (engine.ok()) (*engine)->Stop();
    reached_ = reached_ || disk_.reached();
    if (!wrong.empty()) return wrong;
    auto random = NewSeededRandom(1);
    Disk left(disk_.AfterCut(Loss::kAll, *random));
    const auto env = NewDiskEnv(left);
    auto again = storage::rocks::OpenOver(*env, ErrorOptions());
    if (!again.ok()) return "after a cut it does not open: " + again.status().ToString();
    return VerifyNow(**again, "after a cut: ");
  }

  bool reached() const { return reached_; }
  std::size_t acknowledged() const { return history_.acknowledged(); }

 private:
  std::string Live(kv::Engine& engine) {
    Status failed;
    const Write write = [&engine, &failed](const kv::TxnRequest& request) {
      auto response = engine.Txn(Context::Background(), request);
      if (!response.ok() && failed.ok()) failed = response.status();
      return response;
    };
    WritersOptions options{.seed = 1, .writes = kWrites, .stop_at_error = false};
    options.acknowledge_first = acknowledge_first_;
    RunWriter(write, history_, 0, options);
    std::string wrong = failed.ok() ? "" : CheckError(failed);
    if (fault_.forever && disk_.reached()) {
      if (wrong.empty()) wrong = CheckReadiness(engine);
      Heal();
    }
    if (wrong.empty()) wrong = AwaitReady(engine);
    if (wrong.empty()) wrong = VerifyNow(engine, "before a cut: ");
    if (!wrong.empty()) return wrong;
    options = {.seed = 2, .writes = kWritesAfter, .stop_at_error = false};
    failed = Status::Ok();
    RunWriter(write, history_, 1, options);
    if (failed.ok()) return "";
    return disk_.reached() && !reached_ ? CheckError(failed) : "a late " + failed.ToString();
  }

  // There is space again; the disk was replaced.
  void Heal() {
    reached_ = true;
    disk_.Set(std::nullopt);
  }

  // An error must be one that helps.
  std::string CheckError(const Status& status) const {
    if (!disk_.reached()) return "an error without a fault: " + status.ToString();
    if (status.reason() != Reason::kInternalError) return "a wrong reason: " + status.ToString();
    const bool helps = fault_.error == Error::kNoSpace ? Says(status, "free space on its disk")
                                                       : Says(status, "its disk");
    return helps ? "" : "an error that does not help: " + status.ToString();
  }

  // What refuses to write is not ready, and says the same.
  std::string CheckReadiness(kv::Engine& engine) const {
    kv::TxnRequest request;
    request.key = "/never";
    request.expected_mod_revision = 1;
    request.value = std::make_shared<const std::string>("never");
    const auto response = engine.Txn(Context::Background(), request);
    const Status ready = engine.Ready();
    if (ready.ok()) return "";
    return CheckError(ready);
  }

  std::string AwaitReady(kv::Engine& engine) {
    const auto deadline = std::chrono::steady_clock::now() + kErrorPatience;
    while (!engine.Ready().ok()) {
      // RocksDB's own threads may meet the fault only now.
      if (fault_.forever && disk_.reached()) Heal();
      if (std::chrono::steady_clock::now() > deadline) {
        return "it does not recover: " + engine.Ready().ToString();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return "";
  }

  std::string VerifyNow(kv::Engine& engine, const std::string& when) {
    auto contents = Read(engine);
    // The fault may come as late as this, and so may the engine's own compaction.
    for (int i = 0; i < 100 && !contents.ok(); ++i) {
      if (contents.status().reason() != Reason::kExpired && !disk_.reached() && !reached_) break;
      if (disk_.reached()) reached_ = true;
      if (fault_.forever) Heal();
      if (std::string wrong = AwaitReady(engine); !wrong.empty()) return when + wrong;
      contents = Read(engine);
    }
    if (!contents.ok()) return when + contents.status().ToString();
    Known known;
    const std::string wrong = Verify(*contents, history_, 0, known);
    return wrong.empty() ? "" : when + wrong;
  }

  const Fault fault_;
  const bool acknowledge_first_;
  Disk disk_;
  std::unique_ptr<rocksdb::Env> env_;
  History history_{kWrites + kWritesAfter};
  bool reached_ = false;
};

// All n of one kind of fault.
void RunKind(Fault fault, const IoErrorOptions& options, Outcome& outcome) {
  const std::string name = std::string(Name(fault.operation)) +
                           (fault.error == Error::kIo ? " EIO" : " ENOSPC") +
                           (fault.forever ? " for ever" : " once");
  std::size_t reached = 0;
  for (fault.nth = 1; options.nth_max == 0 || fault.nth <= options.nth_max; ++fault.nth) {
    Life life(fault, options.acknowledge_first);
    const std::string wrong = life.Run();
    ++outcome.rounds;
    outcome.acknowledged += life.acknowledged();
    if (!wrong.empty()) {
      const std::string text = name + ", n = " + std::to_string(fault.nth) + ": " + wrong;
      outcome.Violated(text);
      if (options.verbose) std::printf("%s\n", text.c_str());
    }
    if (!life.reached()) break;
    ++reached;
  }
  if (!options.verbose) return;
  std::printf("%s: %zu\n", name.c_str(), reached);
  (void)std::fflush(stdout);
}

}  // namespace

Outcome RunIoErrors(const IoErrorOptions& options) {
  std::vector<Operation> operations = options.operations;
  if (operations.empty()) operations.assign(std::begin(kOperations), std::end(kOperations));
  Outcome outcome;
  for (const Operation operation : operations) {
    for (const Error error : {Error::kIo, Error::kNoSpace}) {
      // Nothing needs space to be read.
      if (operation == Operation::kRead && error == Error::kNoSpace) continue;
      for (const bool forever : {false, true}) {
        RunKind({.operation = operation, .forever = forever, .error = error}, options, outcome);
      }
    }
  }
  return outcome;
}

}  // namespace apiserver::inline v0::faults
