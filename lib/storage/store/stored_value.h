#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/store/store.h"

// Converts between an object's encoding and the bytes that the engine keeps.
namespace apiserver::inline v0::storage::store {

// The content of a stored value.
struct Opened {
  kv::Bytes plain;  // The encoding; the stored bytes themselves when there is no transformer.
  bool stale = false;
};
// Decrypts a stored value. kInternalError: it does not decrypt, in the words of
// storage/corrupt_objects.h.
Result<Opened> Open(const Options& options, std::string_view key, const kv::Bytes& stored);
// Returns the bytes to store for `plain`. kInternalError: the transformer cannot write now.
Result<kv::Bytes> Close(const Options& options, std::string_view key, const kv::Bytes& plain);

// Returns the object of a stored value, which is parsed on its first use.
Result<runtime::ObjectPtr> DecodeStored(const Options& options, std::string_view key,
                                        const kv::Bytes& stored, kv::Revision revision);
// Returns a stand-in for an object whose value cannot be used: it reads as empty, and encoding it
// fails with `why`.
runtime::ObjectPtr NewUnusableObject(const runtime::KindPtr& kind, const Status& why);

}  // namespace apiserver::inline v0::storage::store
