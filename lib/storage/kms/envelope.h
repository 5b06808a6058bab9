#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/storage/value/transformer.h"
#include "storage/kms/messages.h"

// The rules of kmsv2.EncryptedObject, in which values are wrapped.
namespace apiserver::inline v0::storage::kms {

inline constexpr std::size_t kKeyIdBytesMax = 1024;
inline constexpr std::size_t kDekSourceBytesMax = 1024;
inline constexpr std::size_t kAnnotationsBytesMax = 32 << 10;

// Return kInternalError in Go's words if it is empty, or over a limit above.
Status ValidateKeyId(std::string_view key_id);
Status ValidateEncryptedObject(const EncryptedObject& object);

// Returns "sha256:<hex>", the form of key ids in messages; empty for an empty text.
std::string HashIfNotEmpty(std::string_view text);
// Returns a SHA-256 over everything but the data, which tells one DEK source from another.
std::string CacheKeyOf(const EncryptedObject& object);

// The state that values are written with. Immutable.
struct WriteState {
  value::TransformerPtr transformer;
  EncryptedObject envelope;  // The data is empty.
  std::string cache_key;
  Clock::Monotonic expires;  // Writes fail from then on.
};
using WriteStatePtr = std::shared_ptr<const WriteState>;

}  // namespace apiserver::inline v0::storage::kms
