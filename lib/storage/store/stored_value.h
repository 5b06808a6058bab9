#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/store/store.h"

// Between an object's encoding and the bytes that the engine keeps.
namespace apiserver::inline v0::storage::store {

// What a stored value holds.
struct Opened {
  kv::Bytes plain;  // The encoding; the stored bytes themselves when there is no transformer.
  bool stale = false;
};
// kInternalError: the value does not decrypt, in the words of storage/corrupt_objects.h.
Result<Opened> Open(const Options& options, std::string_view key, const kv::Bytes& stored);
// What to store for `plain`. kInternalError: the transformer cannot write now.
Result<kv::Bytes> Close(const Options& options, std::string_view key, const kv::Bytes& plain);

// The object of a stored value, parsed when somebody looks.
Result<runtime::ObjectPtr> DecodeStored(const Options& options, std::string_view key,
                                        const kv::Bytes& stored, kv::Revision revision);
// Stands for an object whose value cannot be used: reads as empty, and whoever encodes it gets
// `why`.
runtime::ObjectPtr NewUnusableObject(const runtime::KindPtr& kind, const Status& why);

}  // namespace apiserver::inline v0::storage::store
