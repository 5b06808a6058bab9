#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/registry/source_store.h"
#include "registry/replica.h"

// The half of a source store that reads: keeps the copy in memory in line with the source.
namespace apiserver::inline v0::registry {

// Calls a function of the host. An exception becomes kInternalError.
template <class F>
auto CallSource(F function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& thrown) {
    return Status(Reason::kInternalError, thrown.what());
  } catch (...) {
    return Status(Reason::kInternalError, "the source threw what is no std::exception");
  }
}

// Owns the source and the copy. Any thread.
class SourceReader : public std::enable_shared_from_this<SourceReader> {
 public:
  SourceReader(const StorageConfig& config, SourceOptions options, std::unique_ptr<Source> source);
  ~SourceReader() { Stop(); }

  // Hands the source its SourceChanges and reads for the first time, on the executor.
  void Start();
  // Cancels reads, waits for calls of the source and destroys it. Idempotent.
  void Stop();

  Source& source() { return *source_; }
  storage::Interface& copy() { return *copy_; }
  const storage::Interface& copy() const { return *copy_; }
  const Replica& replica() const { return replica_; }
  const runtime::Kind& kind() const { return *options_.store.kind; }

  // 429 until the source has been listed.
  Status CheckListed() const;
  Status Ready() const;

  // Keeps all others off one object while it lives.
  class Hold {
   public:
    Hold(SourceReader& reader, std::string key) : reader_(&reader), key_(std::move(key)) {}
    Hold(Hold&& other) noexcept
        : reader_(std::exchange(other.reader_, nullptr)), key_(std::move(other.key_)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (reader_ != nullptr) reader_->Release(key_);
    }

   private:
    SourceReader* reader_;
    std::string key_;
  };
  // Waits until no other holds `key`. kTimeout or why `ctx` has ended; kServiceUnavailable:
  // stopped.
  Result<Hold> HoldKey(const Context& ctx, const std::string& key);
  // Asks the source for the object that `hold` is held for, and writes the answer into the copy.
  Status Read(const Context& ctx, const Hold& hold, const std::string& key);

  // The functions of SourceChanges.
  void Changed(std::string key);
  void ChangedAll();
  Status Wait(const Context& ctx);

 private:
  struct Batch {
    std::set<std::string> keys;
    bool all = false;
    std::uint64_t reports = 0;  // Those up to this one are in it.
  };
  struct State {
    std::set<std::string> held;
    Batch next;
    std::uint64_t reports_read = 0;
    Status outcome;  // The result of the last batch.
    bool posted = false;
    bool reading = false;
    bool listed = false;  // Once, with success.
    bool stopped = false;
    // While a list is read: the keys held meanwhile, of which it may know less than the copy.
    bool listing = false;
    std::set<std::string> overtaken;
    Executor::Cancel retry;
    Executor::Cancel relist;
  };

  void Release(const std::string& key);
  void Post();
  void ReadBatches();
  Status ReadBatch(const Batch& batch, Batch& failed);
  Status ReadKey(const std::string& key);
  Status ListAll();
  Status CopyList();
  Status Apply(const std::string& key, runtime::Object* found);
  void Finish(const Batch& batch, const Status& outcome, Batch failed);
  void SetTimer(Executor::Cancel State::*timer, std::chrono::milliseconds delay,
                void (SourceReader::*then)());

  const StorageConfig config_;
  const SourceOptions options_;
  const std::unique_ptr<storage::kv::Engine> engine_;
  const std::unique_ptr<storage::Interface> copy_;
  const Replica replica_;
  std::unique_ptr<Source> source_;  // Null once stopped.
  // The Context of reads.
  const Context reads_ = Context::Child(Context::Background());
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::registry
