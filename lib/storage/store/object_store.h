#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/store/store.h"
#include "storage/store/leases.h"

namespace apiserver::inline v0::storage::store {

// What somebody above who has seen the engine's events already knows; may be out of date.
class Memory {
 public:
  virtual ~Memory() = default;
  struct Known {
    runtime::ObjectPtr object;
    kv::Bytes bytes;  // The encoding: what Opened::plain is.
    kv::Revision revision = 0;
    kv::LeaseId lease = 0;
  };
  // The key's last known state; nullopt: unknown, or there is none.
  virtual std::optional<Known> Find(std::string_view key) const = 0;
};

// etcd3.store. Get and GetList here; the other verbs in files of their own.
class ObjectStore final : public Interface {
 public:
  // `memory` may be null; it must outlive the store.
  ObjectStore(Options options, const Memory* memory);

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view key,
                                    const runtime::Object& object,
                                    std::chrono::seconds ttl) override;
  void CreateAsync(const Context& ctx, std::string_view key, const runtime::Object& object,
                   CreateDone done) override;
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                 const GetOptions& options) override;
  Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                const ListOptions& options) override;
  Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                              const UpdateOptions& options,
                                              const TryUpdate& try_update) override;
  Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                    const UpdateOptions& options,
                                    const ValidateDeletion& validate) override;
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                               const ListOptions& options) override;

  Result<std::size_t> Count(const Context& ctx, std::string_view key) override;
  Result<std::int64_t> CurrentResourceVersion(const Context& ctx) override;
  // As the last list of all objects, or its first page, saw it.
  std::optional<Stats> GetStats() const override;
  Status Ready() const override { return options_.engine->Ready(); }
  bool AnswersInline() const override { return false; }
  void Stop() override {}

  // The object of a stored value: the one memory has, or decoded anew.
  Result<runtime::ObjectPtr> Decode(std::string_view key, const kv::Bytes& stored,
                                    kv::Revision revision) const;
  const Options& options() const { return options_; }

 private:
  // What creates `object` at a key; not yet its lease.
  struct Creation {
    kv::TxnRequest txn;
    codec::StorageEncoding encoded;  // Its bytes are in `plain`.
    kv::Bytes plain;
  };
  Result<Creation> NewCreation(const Context& ctx, std::string_view key,
                               const runtime::Object& object) const;
  // What `response` means for it.
  Result<runtime::ObjectPtr> Created(const Creation& creation,
                                     const kv::TxnResponse& response) const;
  // The object that was stored at `key` as `plain`.
  Result<runtime::ObjectPtr> Written(const std::string& key, const kv::Bytes& plain,
                                     const codec::StorageEncoding& encoded,
                                     kv::Revision revision) const;
  // The engine's, measured as the request's time in storage.
  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& wanted) const;
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& txn) const;
  Result<kv::Revision> CurrentRevision(const Context& ctx) const;

  // The object of an encoding: the one memory has, or decoded anew.
  Result<runtime::ObjectPtr> DecodePlain(std::string_view key, const kv::Bytes& plain,
                                         kv::Revision revision) const;
  // What memory has of `key` at `revision`; null: nothing.
  runtime::ObjectPtr Remembered(std::string_view key, kv::Revision revision) const;

  // What an update or delete starts from.
  struct State {
    runtime::ObjectPtr object;  // Null: the key is free.
    kv::Bytes bytes;            // The encoding.
    bool stale = false;         // To be written even if the encoding stays; known when `current`.
    kv::Revision revision = 0;
    std::optional<kv::LeaseId> lease;  // nullopt: not known.
    bool current = false;              // Read from the engine, not believed.
  };
  // What comes of one attempt: a result, or the state to try again from.
  struct Attempt {
    runtime::ObjectPtr done;
    std::optional<State> again;
  };

  // What stands in spans of Get, GetList, GuaranteedUpdate and Delete.
  Result<runtime::ObjectPtr> Read(const Context& ctx, std::string_view key,
                                  const GetOptions& options) const;
  Result<runtime::List> ReadList(const Context& ctx, std::string_view key,
                                 const ListOptions& options);
  Result<runtime::ObjectPtr> UpdateUntilDone(const Context& ctx, std::string_view key,
                                             const UpdateOptions& options,
                                             const TryUpdate& try_update);
  Result<runtime::ObjectPtr> DeleteUntilDone(const Context& ctx, std::string_view key,
                                             const UpdateOptions& options,
                                             const ValidateDeletion& validate);

  Result<State> ReadState(const Context& ctx, const std::string& key) const;
  Result<State> StateOf(const std::string& key, const kv::KeyValue& kv) const;
  Result<State> FirstState(const Context& ctx, const std::string& key,
                           const UpdateOptions& options) const;
  // After `refusal` of what was believed: the state to try again from, or the refusal if what was
  // believed is so.
  Result<State> Refetch(const Context& ctx, const std::string& key, const State& believed,
                        const Status& refusal) const;
  Status TryDelete(const Context& ctx, const std::string& key, const UpdateOptions& options,
                   const ValidateDeletion& validate, const State& state) const;
  Result<Attempt> Write(const Context& ctx, const std::string& key, const State& state,
                        const Update& update);
  Result<kv::LeaseId> LeaseFor(const Context& ctx, const State& state, const Update& update);

  Result<kv::RangeResponse> ReadPage(const Context& ctx, const kv::RangeRequest& request,
                                     const ListOptions& options, std::string_view prefix) const;
  // Says which values of `page` match, of a kind whose objects are converted together for that;
  // those that cannot be read do not. Empty: each is looked at by itself.
  Result<std::vector<bool>> MatchTogether(const Context& ctx, const kv::RangeResponse& page,
                                          const ListOptions& options) const;
  Status AppendMatching(const Context& ctx, const kv::RangeResponse& page,
                        const ListOptions& options, struct ListState& list) const;
  Status CorruptionOf(const struct ListState& list) const;
  // Learns from the first page of a list of everything.
  void LearnStats(const kv::RangeResponse& page);

  const Options options_;
  const Memory* const memory_;
  LeasePool leases_;
  std::atomic<std::int64_t> objects_{-1};  // Negative: not known.
  std::atomic<std::int64_t> average_bytes_{0};
};

// As New(), for a cache that stands above.
std::unique_ptr<ObjectStore> NewObjectStore(Options options, const Memory* memory);

}  // namespace apiserver::inline v0::storage::store
