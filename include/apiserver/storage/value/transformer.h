#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/base/status.h"

// Transformers of values between their encoding and the engine: encryption at rest. Follows
// k8s.io/apiserver/pkg/storage/value, byte for byte.
namespace apiserver::inline v0::storage::value {

// A value as it was read.
struct FromStorage {
  std::string bytes;
  // True if it would be written in another way now (another key or provider): the next update
  // writes it, even if the object does not change.
  bool stale = false;
};

// Turns stored bytes into plain bytes and back. Any thread may call its methods. They do not wait,
// except that a KMS provider may ask its plugin for a key that it has not seen before, within the
// provider's timeout.
//
// `authenticated_data` is the full key of the value, "/registry/<group>/<plural>/<ns>/<name>":
// providers that authenticate refuse a value that was moved to another key.
//
// Errors are kInternalError in Go's words.
class Transformer {
 public:
  virtual ~Transformer() = default;
  // Returns the plain bytes of `data`.
  virtual Result<FromStorage> TransformFromStorage(std::string_view data,
                                                   std::string_view authenticated_data) const = 0;
  // Returns the bytes to store for `data`.
  virtual Result<std::string> TransformToStorage(std::string_view data,
                                                 std::string_view authenticated_data) const = 0;
};
using TransformerPtr = std::shared_ptr<const Transformer>;

// The prefix of every encrypted value.
inline constexpr std::string_view kEncryptedPrefix = "k8s:enc:";
// The error of an absent transformer, and of the identity, for a value with that prefix.
inline constexpr std::string_view kReadsEncrypted =
    "identity transformer tried to read encrypted data";

// Returns the transformer that changes nothing, and refuses to read a value with kEncryptedPrefix.
TransformerPtr NewIdentity();
// AES-CBC with PKCS#7: 16 bytes IV, cipher text. Does not authenticate. `key`: 16, 24 or 32 bytes,
// else kInvalid. `random` outlives the transformer, here and below.
Result<TransformerPtr> NewAesCbc(std::string_view key, Random& random = SecureRandom());
// AES-GCM: 12 bytes random nonce, cipher text, 16 bytes tag. `key` as above. At most 2^32 values
// may be written with one key.
Result<TransformerPtr> NewAesGcm(std::string_view key, Random& random = SecureRandom());
// XSalsa20-Poly1305: 24 bytes nonce, 16 bytes tag, cipher text. Authenticates the value but not its
// place. `key`: 32 bytes, else kInvalid.
Result<TransformerPtr> NewSecretbox(std::string_view key, Random& random = SecureRandom());
// AES-GCM under a key derived for each value: 32 bytes random info, then as NewAesGcm with the key
// HKDF-Expand-SHA256(seed, info). Any number of values. `seed`: at least 32 bytes, else kInvalid.
Result<TransformerPtr> NewExtendedNonceGcm(std::string_view seed, Random& random = SecureRandom());

// A transformer and the prefix of its values.
struct Prefixed {
  std::string prefix;
  TransformerPtr transformer;
};
// Writes with the first of `transformers` (at least one); reads with each one whose prefix the
// value has, in order, until one succeeds. A value that another than the first has read is stale.
// The failure of one with an empty prefix does not count. `no_match`: the error when no prefix
// fits.
TransformerPtr NewPrefixTransformers(std::string no_match, std::vector<Prefixed> transformers);

}  // namespace apiserver::inline v0::storage::value
