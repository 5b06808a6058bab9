#include "storage/store/object_store.h"

#include <algorithm>
#include <utility>

#include "apiserver/codec/codec.h"
#include "apiserver/request/latency.h"
#include "base/status_macros.h"
#include "storage/corrupt_objects.h"
#include "storage/errors.h"
#include "storage/in_span.h"
#include "storage/list_options.h"
#include "storage/store/stored_value.h"

namespace apiserver::v0::storage::store {

namespace {

// Memory is taken for an object as large as the last one and one of so many parts of it.
constexpr std::size_t kSpareParts = 32;
// Limits what is taken without need, if the last object was much larger.
constexpr std::size_t kRoomMax = std::size_t{64} << 10;

// Returns the room to encode an object in. Objects of a kind are much alike.
std::size_t RoomAfter(std::size_t last_bytes) {
  return std::min(last_bytes + last_bytes / kSpareParts, kRoomMax);
}

Call CallOf(const kv::RangeRequest& wanted) {
  if (wanted.count_only) return Call::kListWithCount;
  return wanted.end.empty() ? Call::kGet : Call::kList;
}

}  // namespace

ObjectStore::ObjectStore(Options options, const Memory* memory,
                         std::shared_ptr<EvictingShare> share)
    : options_(std::move(options)),
      memory_(memory),
      leases_(*options_.engine, *options_.clock),
      written_(std::move(share)) {}

runtime::ObjectPtr ObjectStore::Remembered(std::string_view key, kv::Revision revision) const {
  if (memory_ == nullptr) return nullptr;
  auto known = memory_->Find(key);
  // The memory may lag behind the engine or be ahead of this read; only the same revision is the
  // same value.
  return known && known->revision == revision ? std::move(known->object) : nullptr;
}

Result<runtime::ObjectPtr> ObjectStore::Decode(std::string_view key, const kv::Bytes& stored,
                                               kv::Revision revision) const {
  if (runtime::ObjectPtr known = Remembered(key, revision)) return known;
  return DecodeStored(options_, key, stored, revision);
}

Result<runtime::ObjectPtr> ObjectStore::DecodePlain(std::string_view key, const kv::Bytes& plain,
                                                    kv::Revision revision) const {
  // If the memory has seen the commit, the written object is the very one that GET, LIST and all
  // watches share, and its encodings are made once.
  if (runtime::ObjectPtr known = Remembered(key, revision)) return known;
  return codec::DecodeFromStorage(options_.kind, plain, revision);
}

Result<ObjectStore::Creation> ObjectStore::NewCreation(const Context& ctx, std::string_view key,
                                                       const runtime::Object& object) {
  Creation creation;
  ASSIGN_OR_RETURN(creation.txn.key, PrepareKey(options_.prefix, key, false));
  const std::string_view version = object.resource_version();
  // Go parses the version, and "0" is the zero that stands for none.
  if (!version.empty() && version != "0") {
    return Status(Reason::kInvalid, "resourceVersion should not be set on objects to be created");
  }
  const codec::StorageWishes wishes{.bytes = RoomAfter(created_bytes_)};
  ASSIGN_OR_RETURN(creation.encoded, codec::EncodeForStorage(ctx, object, wishes));
  created_bytes_ = creation.encoded.bytes->size();
  ASSIGN_OR_RETURN(creation.txn.value, Close(options_, creation.txn.key, creation.encoded.bytes));
  return creation;
}

Result<runtime::ObjectPtr> ObjectStore::Created(const Creation& creation,
                                                const kv::TxnResponse& response) const {
  if (!response.succeeded) return NewKeyExists(creation.txn.key);
  return Stored(creation.txn.key, creation.encoded, response.revision);
}

Result<runtime::ObjectPtr> ObjectStore::Stored(const std::string& key,
                                               const codec::StorageEncoding& encoded,
                                               kv::Revision revision) const {
  ASSIGN_OR_RETURN(runtime::ObjectPtr object, DecodePlain(key, encoded.bytes, revision));
  // The answer to a write is nearly the bytes that were stored: with that encoding kept, answering
  // need not parse and encode the object again.
  if (encoded.answer) codec::StoreAnswer(*object, *encoded.answer, revision);
  return object;
}

Result<runtime::ObjectPtr> ObjectStore::Create(const Context& ctx, std::string_view key,
                                               const runtime::Object& object,
                                               std::chrono::seconds ttl) {
  const auto create = [&](const Context& traced) -> Result<runtime::ObjectPtr> {
    ASSIGN_OR_RETURN(Creation creation, NewCreation(traced, key, object));
    if (ttl.count() > 0) {
      ASSIGN_OR_RETURN(creation.txn.lease, leases_.Get(traced, ttl));
    }
    ASSIGN_OR_RETURN(const kv::TxnResponse response, Txn(traced, creation.txn, Call::kCreate));
    return Created(creation, response);
  };
  return InSpan(ctx, "Create store", {*options_.kind, key}, create);
}

void ObjectStore::CreateAsync(const Context& ctx, std::string_view key,
                              const runtime::Object& object, CreateDone done) {
  CreateAsyncSeen(
      ctx, key, object,
      [done = std::move(done)](Result<runtime::ObjectPtr> created,
                               kv::Revision /*taken_at*/) mutable { done(std::move(created)); });
}

void ObjectStore::CreateAsyncSeen(const Context& ctx, std::string_view key,
                                  const runtime::Object& object, CreateSeen done) {
  trace::Span span = trace::StartSpan(ctx, "Create store");
  Describe({*options_.kind, key}, span);
  auto creation = NewCreation(ctx, key, object);
  if (!creation.ok()) {
    span.EndWith(creation.status());
    return done(creation.status(), 0);
  }
  kv::TxnRequest txn = creation->txn;
  options_.engine->TxnAsync(
      // `done` may run after the caller's frame has gone, so everything it uses is moved or copied
      // into it.
      ctx, std::move(txn),
      [this, creation = *std::move(creation), ctx, span = std::move(span),
       began = options_.clock->Now(),
       done = std::move(done)](Result<kv::TxnResponse> response) mutable {
        OnAnswered(ctx, Call::kCreate, began, response.status());
        auto created = response.ok() ? Created(creation, *response)
                                     : Result<runtime::ObjectPtr>(response.status());
        span.EndWith(created.status());
        const bool taken = response.ok() && !response->succeeded;
        done(std::move(created), taken ? response->kv.mod_revision : 0);
      });
}

// A call that may not wait here is none: it is made again where it may.
void ObjectStore::OnAnswered(const Context& ctx, Call call, Clock::Monotonic began,
                             const Status& status) const {
  const auto took = options_.clock->Now() - began;
  request::TrackLatency(ctx, request::Layer::kStorage, took);
  if (options_.calls == nullptr || status.reason() == Reason::kWouldBlock) return;
  options_.calls->OnCall(call, took, !status.ok());
}

Result<kv::RangeResponse> ObjectStore::Range(const Context& ctx,
                                             const kv::RangeRequest& wanted) const {
  const Clock::Monotonic began = options_.clock->Now();
  auto response = options_.engine->Range(ctx, wanted);
  OnAnswered(ctx, CallOf(wanted), began, response.status());
  return response;
}

Result<kv::TxnResponse> ObjectStore::Txn(const Context& ctx, const kv::TxnRequest& txn,
                                         Call call) const {
  const Clock::Monotonic began = options_.clock->Now();
  auto response = options_.engine->Txn(ctx, txn);
  OnAnswered(ctx, call, began, response.status());
  return response;
}

Result<kv::Revision> ObjectStore::CurrentRevision(const Context& ctx) const {
  const Clock::Monotonic began = options_.clock->Now();
  auto revision = options_.engine->CurrentRevision(ctx);
  OnAnswered(ctx, Call::kGetCurrentResourceVersion, began, revision.status());
  return revision;
}

Result<runtime::ObjectPtr> ObjectStore::Get(const Context& ctx, std::string_view key,
                                            const GetOptions& options) {
  return InSpan(ctx, "Get store", {*options_.kind, key},
                [&](const Context& traced) { return Read(traced, key, options); });
}

Result<runtime::ObjectPtr> ObjectStore::Read(const Context& ctx, std::string_view key,
                                             const GetOptions& options) const {
  ASSIGN_OR_RETURN(const std::string prepared, PrepareKey(options_.prefix, key, false));
  kv::RangeRequest request;
  request.key = prepared;
  ASSIGN_OR_RETURN(const kv::RangeResponse response, Range(ctx, request));
  // A read from the engine is always the newest state, so a client that asks for a newer one gets
  // kTimeout at once, as from etcd3.store.
  RETURN_IF_ERROR(CheckNotOlderThan(options.resource_version, response.revision));
  if (response.kvs.empty()) {
    if (options.ignore_not_found) return runtime::ObjectPtr();
    return NewKeyNotFound(prepared);
  }
  const kv::KeyValue& kv = response.kvs.front();
  auto object = Decode(prepared, kv.value, kv.mod_revision);
  return object.ok() ? std::move(object) : NewCorruptObject(prepared, object.status());
}

Result<std::size_t> ObjectStore::Count(const Context& ctx, std::string_view key) {
  ASSIGN_OR_RETURN(std::string prepared, PrepareKey(options_.prefix, key, true));
  kv::RangeRequest request;
  request.end = kv::PrefixEnd(prepared);
  request.key = std::move(prepared);
  request.count_only = true;
  ASSIGN_OR_RETURN(const kv::RangeResponse response, Range(ctx, request));
  return response.count;
}

Result<std::int64_t> ObjectStore::CurrentResourceVersion(const Context& ctx) {
  return CurrentRevision(ctx);
}

std::unique_ptr<ObjectStore> NewObjectStore(Options options, const Memory* memory,
                                            std::shared_ptr<EvictingShare> share) {
  return std::make_unique<ObjectStore>(std::move(options), memory, std::move(share));
}

std::unique_ptr<Interface> New(Options options) {
  return std::make_unique<ObjectStore>(std::move(options), nullptr, nullptr);
}

}  // namespace apiserver::v0::storage::store
