#include "storage/store/object_store.h"

#include <utility>

#include "apiserver/codec/codec.h"
#include "base/status_macros.h"
#include "storage/errors.h"
#include "storage/list_options.h"

namespace apiserver::inline v0::storage::store {

ObjectStore::ObjectStore(Options options, const Memory* memory)
    : options_(std::move(options)), memory_(memory), leases_(*options_.engine, *options_.clock) {}

Result<runtime::ObjectPtr> ObjectStore::Decode(std::string_view key, const kv::Bytes& bytes,
                                               kv::Revision revision) const {
  if (memory_ != nullptr) {
    auto known = memory_->Find(key);
    if (known && known->revision == revision) return known->object;
  }
  return codec::DecodeFromStorage(options_.kind, bytes, revision);
}

Result<runtime::ObjectPtr> ObjectStore::Create(const Context& ctx, std::string_view key,
                                               const runtime::Object& object,
                                               std::chrono::seconds ttl) {
  ASSIGN_OR_RETURN(const std::string prepared, PrepareKey(options_.prefix, key, false));
  const std::string_view version = object.resource_version();
  if (!version.empty() && version != "0") {
    return Status(Reason::kInvalid, "resourceVersion should not be set on objects to be created");
  }
  ASSIGN_OR_RETURN(std::string encoded, codec::EncodeForStorage(object));

  kv::TxnRequest txn;
  txn.key = prepared;
  txn.value = std::make_shared<const std::string>(std::move(encoded));
  if (ttl.count() > 0) {
    ASSIGN_OR_RETURN(txn.lease, leases_.Get(ctx, ttl));
  }
  ASSIGN_OR_RETURN(const kv::TxnResponse response, options_.engine->Txn(ctx, txn));
  if (!response.succeeded) return NewKeyExists(prepared);
  return Decode(prepared, txn.value, response.revision);
}

Result<runtime::ObjectPtr> ObjectStore::Get(const Context& ctx, std::string_view key,
                                            const GetOptions& options) {
  ASSIGN_OR_RETURN(const std::string prepared, PrepareKey(options_.prefix, key, false));
  kv::RangeRequest request;
  request.key = prepared;
  ASSIGN_OR_RETURN(const kv::RangeResponse response, options_.engine->Range(ctx, request));
  RETURN_IF_ERROR(CheckNotOlderThan(options.resource_version, response.revision));
  if (response.kvs.empty()) {
    if (options.ignore_not_found) return runtime::ObjectPtr();
    return NewKeyNotFound(prepared);
  }
  const kv::KeyValue& kv = response.kvs.front();
  return Decode(prepared, kv.value, kv.mod_revision);
}

Result<std::size_t> ObjectStore::Count(const Context& ctx, std::string_view key) {
  ASSIGN_OR_RETURN(std::string prepared, PrepareKey(options_.prefix, key, true));
  kv::RangeRequest request;
  request.end = kv::PrefixEnd(prepared);
  request.key = std::move(prepared);
  request.count_only = true;
  ASSIGN_OR_RETURN(const kv::RangeResponse response, options_.engine->Range(ctx, request));
  return response.count;
}

Result<std::int64_t> ObjectStore::CurrentResourceVersion(const Context& ctx) {
  return options_.engine->CurrentRevision(ctx);
}

std::unique_ptr<ObjectStore> NewObjectStore(Options options, const Memory* memory) {
  return std::make_unique<ObjectStore>(std::move(options), memory);
}

std::unique_ptr<Interface> New(Options options) {
  return std::make_unique<ObjectStore>(std::move(options), nullptr);
}

}  // namespace apiserver::inline v0::storage::store
