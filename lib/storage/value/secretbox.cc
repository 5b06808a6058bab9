#include <sodium.h>

#include <memory>

#include "apiserver/storage/value/transformer.h"
#include "storage/value/cipher.h"

namespace apiserver::v0::storage::value {
namespace {

constexpr std::size_t kNonceBytes = crypto_secretbox_NONCEBYTES;
constexpr std::size_t kTagBytes = crypto_secretbox_MACBYTES;
constexpr std::size_t kKeyBytes = crypto_secretbox_KEYBYTES;

const unsigned char* Octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

class Secretbox final : public Transformer {
 public:
  Secretbox(std::string_view key, Random& random) : key_(key), random_(random) {}

  Result<FromStorage> TransformFromStorage(std::string_view data, std::string_view) const override {
    if (data.size() < kNonceBytes + kTagBytes) return NewCipherError(kTooShort);
    const std::string_view box = data.substr(kNonceBytes);
    std::string plain(box.size() - kTagBytes, '\0');
    if (crypto_secretbox_open_easy(reinterpret_cast<unsigned char*>(plain.data()), Octets(box),
                                   box.size(), Octets(data), key_.data()) != 0) {
      // The text misleads, but Go returns it for a value that it cannot authenticate.
      return NewCipherError("output array was not large enough for encryption");
    }
    return FromStorage{std::move(plain), false};
  }

  Result<std::string> TransformToStorage(std::string_view data, std::string_view) const override {
    std::string out;
    AppendRandom(random_, kNonceBytes, out);
    out.resize(kNonceBytes + kTagBytes + data.size());
    auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
    if (crypto_secretbox_easy(bytes + kNonceBytes, Octets(data), data.size(), bytes, key_.data()) !=
        0) {
      return NewCipherError("the cipher library failed");
    }
    return out;
  }

 private:
  const Secret key_;
  Random& random_;
};

}  // namespace

Result<TransformerPtr> NewSecretbox(std::string_view key, Random& random) {
  if (key.size() != kKeyBytes) {
    return Status(Reason::kInvalid,
                  "expected key size 32 for secretbox provider, got " + std::to_string(key.size()));
  }
  // Chooses the fastest implementation; it may be called again and by several threads.
  if (sodium_init() < 0) return Status(Reason::kInternalError, "libsodium cannot be used");
  return std::make_shared<Secretbox>(key, random);
}

}  // namespace apiserver::v0::storage::value
