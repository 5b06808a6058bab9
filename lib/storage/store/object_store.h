#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/memory_budget.h"
#include "apiserver/codec/codec.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/store/store.h"
#include "storage/store/leases.h"
#include "storage/store/unwritten.h"
#include "storage/store/written.h"

namespace apiserver::inline v0::storage::store {

// The state that a cache above has seen from the engine's events; may be out of date.
class Memory {
 public:
  virtual ~Memory() = default;
  struct Known {
    runtime::ObjectPtr object;
    kv::Bytes bytes;  // The encoding, equal to Opened::plain.
    kv::Revision revision = 0;
    kv::LeaseId lease = 0;
  };
  // Returns the key's last known state. nullopt: it is unknown, or the key is free.
  virtual std::optional<Known> Find(std::string_view key) const = 0;
};

// The store over an engine: etcd3.store. Get and GetList are in object_store.cc and list.cc; the
// other verbs have files of their own.
class ObjectStore final : public Interface {
 public:
  // `memory` may be null; it must outlive the store. What updates write is kept in `share`; null:
  // it is not.
  ObjectStore(Options options, const Memory* memory, std::shared_ptr<EvictingShare> share);

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view key,
                                    const runtime::Object& object,
                                    std::chrono::seconds ttl) override;
  void CreateAsync(const Context& ctx, std::string_view key, const runtime::Object& object,
                   CreateDone done) override;
  // The same, and tells the revision at which the key was taken, if that is why nothing was stored.
  // Zero otherwise.
  using CreateSeen = UniqueFunction<void(Result<runtime::ObjectPtr>, kv::Revision taken_at)>;
  void CreateAsyncSeen(const Context& ctx, std::string_view key, const runtime::Object& object,
                       CreateSeen done);
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                 const GetOptions& options) override;
  Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                const ListOptions& options) override;
  Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                              const UpdateOptions& options,
                                              const TryUpdate& try_update) override;
  void GuaranteedUpdateAsync(const Context& ctx, std::string_view key, const UpdateOptions& options,
                             TryUpdate try_update, UpdateDone done) override;
  Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                    const UpdateOptions& options,
                                    const ValidateDeletion& validate) override;
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                               const ListOptions& options) override;

  Result<std::size_t> Count(const Context& ctx, std::string_view key) override;
  Result<std::int64_t> CurrentResourceVersion(const Context& ctx) override;
  // Returns the figures from the last list of all objects, or from its first page.
  std::optional<Stats> GetStats() const override;
  Status Ready() const override { return options_.engine->Ready(); }
  bool AnswersInline() const override { return false; }
  void Stop() override {}

  // Returns the object of a stored value: the one that memory has, or a newly decoded one.
  Result<runtime::ObjectPtr> Decode(std::string_view key, const kv::Bytes& stored,
                                    kv::Revision revision) const;
  const Options& options() const { return options_; }

 private:
  // The write that creates an object at a key, without its lease.
  struct Creation {
    kv::TxnRequest txn;
    codec::StorageEncoding encoded;
  };
  Result<Creation> NewCreation(const Context& ctx, std::string_view key,
                               const runtime::Object& object);
  // Interprets `response`.
  Result<runtime::ObjectPtr> Created(const Creation& creation,
                                     const kv::TxnResponse& response) const;
  // Returns the object that was stored at `key` as `encoded`.
  Result<runtime::ObjectPtr> Stored(const std::string& key, const codec::StorageEncoding& encoded,
                                    kv::Revision revision) const;
  // Call the engine and count the time as the request's time in storage.
  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& wanted) const;
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& txn, Call call) const;
  Result<kv::Revision> CurrentRevision(const Context& ctx) const;
  // Counts a call that has been answered.
  void OnAnswered(const Context& ctx, Call call, Clock::Monotonic began,
                  const Status& status) const;

  // Returns the object of an encoding: the one that memory has, or a newly decoded one.
  Result<runtime::ObjectPtr> DecodePlain(std::string_view key, const kv::Bytes& plain,
                                         kv::Revision revision) const;
  // Returns the object that memory has of `key` at `revision`. Null: none.
  runtime::ObjectPtr Remembered(std::string_view key, kv::Revision revision) const;

  // The state that an update or delete starts from.
  struct State {
    runtime::ObjectPtr object;  // Null: the key is free.
    kv::Bytes bytes;            // The encoding.
    bool stale = false;         // True: write even if the encoding stays. Known when `current`.
    kv::Revision revision = 0;
    std::optional<kv::LeaseId> lease;  // nullopt: not known.
    // True if read from the engine, false if it came from memory or a suggestion.
    bool current = false;
  };
  // The write that an update asks for.
  struct Change {
    kv::TxnRequest txn;
    kv::Revision before = 0;  // The revision that it expects.
    codec::StorageEncoding encoded;
  };
  // The outcome of one attempt: the write to make or, where that is absent, the object, to which
  // nothing has to be changed; or the state to try again from.
  struct Attempt {
    std::optional<Change> change;
    runtime::ObjectPtr unchanged;
    std::optional<State> again;
  };
  // The arguments of an update; `key` is the engine's.
  struct UpdateCall {
    std::string key;
    UpdateOptions options;
    TryUpdate try_update;
  };
  struct AsyncUpdate;

  // The work of Get, GetList, GuaranteedUpdate and Delete, inside of their spans.
  Result<runtime::ObjectPtr> Read(const Context& ctx, std::string_view key,
                                  const GetOptions& options) const;
  Result<runtime::List> ReadList(const Context& ctx, std::string_view key,
                                 const ListOptions& options);
  Result<runtime::ObjectPtr> UpdateUntilDone(const Context& ctx, const UpdateCall& call,
                                             State state);
  Result<runtime::ObjectPtr> DeleteUntilDone(const Context& ctx, std::string_view key,
                                             const UpdateOptions& options,
                                             const ValidateDeletion& validate);

  Result<State> ReadState(const Context& ctx, const std::string& key) const;
  Result<State> StateOf(const std::string& key, const kv::KeyValue& kv) const;
  // Returns the state that memory knows, with an object for one update.
  State KnownState(const std::string& key, Memory::Known known) const;
  Result<State> FirstState(const Context& ctx, const std::string& key,
                           const UpdateOptions& options) const;
  // Called after a `refusal` of the believed state: returns the state to try again from, or the
  // refusal if the believed state is the stored one.
  Result<State> Refetch(const Context& ctx, const std::string& key, const State& believed,
                        const Status& refusal);
  Status TryDelete(const Context& ctx, const std::string& key, const UpdateOptions& options,
                   const ValidateDeletion& validate, const State& state) const;
  // Returns the object of a state that an update does not change.
  runtime::ObjectPtr Unchanged(const std::string& key, const State& state);
  // Makes attempts from `state` on, until one of them is to be written or changes nothing.
  Result<Attempt> NextChange(const Context& ctx, const UpdateCall& call, State state);
  Result<Attempt> ChangeOf(const Context& ctx, const std::string& key, const State& state,
                           const Update& update);
  // Returns the object of a change that was written at `revision`. Does not wait.
  Result<runtime::ObjectPtr> Changed(const std::string& key, Change change, kv::Revision revision);
  Result<kv::LeaseId> LeaseFor(const Context& ctx, const State& state, const Update& update);

  Result<kv::RangeResponse> ReadPage(const Context& ctx, const kv::RangeRequest& request,
                                     const ListOptions& options, std::string_view prefix) const;
  // Returns for each value of `page` whether it matches, for a kind whose objects are converted
  // together for that; unreadable ones do not match. Empty: each is matched by itself.
  Result<std::vector<bool>> MatchTogether(const Context& ctx, const kv::RangeResponse& page,
                                          const ListOptions& options) const;
  Status AppendMatching(const Context& ctx, const kv::RangeResponse& page,
                        const ListOptions& options, struct ListState& list) const;
  Status CorruptionOf(const struct ListState& list) const;
  // Takes the figures from the first page of a list of everything.
  void LearnStats(const kv::RangeResponse& page);

  const Options options_;
  const Memory* const memory_;
  LeasePool leases_;
  Unwritten unwritten_;
  Written written_;
  std::atomic<std::int64_t> objects_{-1};  // Negative: not known.
  std::atomic<std::int64_t> average_bytes_{0};
  std::atomic<std::size_t> created_bytes_{0};  // The size of the last object created.
};

// Makes a store as New() does, for a cache in front of it.
std::unique_ptr<ObjectStore> NewObjectStore(Options options, const Memory* memory,
                                            std::shared_ptr<EvictingShare> share);

}  // namespace apiserver::inline v0::storage::store
