#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/storage/value/transformer.h"
#include "storage/kms/messages.h"

// How a value is wrapped: the rules of kmsv2.EncryptedObject.
namespace apiserver::inline v0::storage::kms {

inline constexpr std::size_t kKeyIdBytesMax = 1024;
inline constexpr std::size_t kDekSourceBytesMax = 1024;
inline constexpr std::size_t kAnnotationsBytesMax = 32 << 10;

// kInternalError in Go's words: empty, or over a limit above.
Status ValidateKeyId(std::string_view key_id);
Status ValidateEncryptedObject(const EncryptedObject& object);

// "sha256:<hex>" of what is not empty: how key ids appear in messages.
std::string HashIfNotEmpty(std::string_view text);
// What tells one DEK source from another: a SHA-256 over everything but the data.
std::string CacheKeyOf(const EncryptedObject& object);

// What values are written with. Immutable.
struct WriteState {
  value::TransformerPtr transformer;
  EncryptedObject envelope;  // Without data.
  std::string cache_key;
  Clock::Monotonic expires;  // Writes fail from then on.
};
using WriteStatePtr = std::shared_ptr<const WriteState>;

}  // namespace apiserver::inline v0::storage::kms
