#include <memory>

#include "apiserver/storage/value/transformer.h"
#include "base/status_macros.h"
#include "storage/value/cipher.h"

namespace apiserver::v0::storage::value {
namespace {

constexpr std::size_t kBlockBytes = 16;
constexpr std::size_t kInfoBytes = 32;
constexpr std::size_t kSeedBytesMin = 32;

// A stored value is the IV and the blocks, the last of which is padded as in PKCS #7.
class AesCbc final : public Transformer {
 public:
  AesCbc(std::string_view key, Random& random) : key_(key), random_(random) {}

  Result<FromStorage> TransformFromStorage(std::string_view data, std::string_view) const override {
    if (data.size() < kBlockBytes) return NewCipherError(kTooShort);
    const std::string_view blocks = data.substr(kBlockBytes);
    if (blocks.size() % kBlockBytes != 0) {
      return NewCipherError("the stored data is not a multiple of the block size");
    }
    ASSIGN_OR_RETURN(std::string plain, CbcDecrypt(key_, data.substr(0, kBlockBytes), blocks));
    // The checks and their texts are those of Go's AES-CBC transformer. CBC has no tag: the padding
    // is all that can show a wrong key, and a wrong key passes it once in about 256 values.
    const std::size_t padding = plain.empty() ? 0 : static_cast<unsigned char>(plain.back());
    if (padding == 0 || padding > plain.size()) {
      return NewCipherError("invalid PKCS7 data (empty or not padded)");
    }
    const std::size_t size = plain.size() - padding;
    if (plain.find_first_not_of(plain.back(), size) != std::string::npos) {
      return NewCipherError("invalid padding on input");
    }
    plain.resize(size);
    return FromStorage{std::move(plain), false};
  }

  Result<std::string> TransformToStorage(std::string_view data, std::string_view) const override {
    const std::size_t padding = kBlockBytes - data.size() % kBlockBytes;
    std::string padded(data);
    padded.append(padding, static_cast<char>(padding));
    std::string out;
    out.reserve(kBlockBytes + padded.size());
    AppendRandom(random_, kBlockBytes, out);
    const std::string iv = out;
    RETURN_IF_ERROR(CbcEncrypt(key_, iv, padded, out));
    return out;
  }

 private:
  const Secret key_;
  Random& random_;
};

// Opens a value of nonce, cipher text and tag.
Result<FromStorage> OpenWithNonce(const Secret& key, std::string_view data,
                                  std::string_view authenticated) {
  if (data.size() < kGcmNonceBytes) return NewCipherError(kTooShort);
  ASSIGN_OR_RETURN(std::string plain, GcmOpen(key, data.substr(0, kGcmNonceBytes),
                                              data.substr(kGcmNonceBytes), authenticated));
  return FromStorage{std::move(plain), false};
}

Status SealWithNonce(const Secret& key, Random& random, std::string_view data,
                     std::string_view authenticated, std::string& out) {
  std::string nonce;
  AppendRandom(random, kGcmNonceBytes, nonce);
  out.reserve(out.size() + kGcmNonceBytes + data.size() + kGcmTagBytes);
  out.append(nonce);
  return GcmSeal(key, nonce, data, authenticated, out);
}

class AesGcm final : public Transformer {
 public:
  AesGcm(std::string_view key, Random& random) : key_(key), random_(random) {}

  Result<FromStorage> TransformFromStorage(std::string_view data,
                                           std::string_view authenticated_data) const override {
    return OpenWithNonce(key_, data, authenticated_data);
  }
  Result<std::string> TransformToStorage(std::string_view data,
                                         std::string_view authenticated_data) const override {
    std::string out;
    RETURN_IF_ERROR(SealWithNonce(key_, random_, data, authenticated_data, out));
    return out;
  }

 private:
  const Secret key_;
  Random& random_;
};

// Follows NewHKDFExtendedNonceGCMTransformer: in front of nonce and cipher text stand 32 random
// bytes, from which the value's key is derived.
class ExtendedNonceGcm final : public Transformer {
 public:
  ExtendedNonceGcm(std::string_view seed, Random& random) : seed_(seed), random_(random) {}

  Result<FromStorage> TransformFromStorage(std::string_view data,
                                           std::string_view authenticated_data) const override {
    if (data.size() < kInfoBytes) return NewCipherError(kTooShort);
    // The seed is never a key itself: each value gets a key of its own, so that random nonces do
    // not repeat under one key, however many values are written.
    const Secret key(HkdfExpand(seed_, data.substr(0, kInfoBytes)));
    return OpenWithNonce(key, data.substr(kInfoBytes), authenticated_data);
  }
  Result<std::string> TransformToStorage(std::string_view data,
                                         std::string_view authenticated_data) const override {
    std::string out;
    AppendRandom(random_, kInfoBytes, out);
    const Secret key(HkdfExpand(seed_, out));
    RETURN_IF_ERROR(SealWithNonce(key, random_, data, authenticated_data, out));
    return out;
  }

 private:
  const Secret seed_;
  Random& random_;
};

}  // namespace

Result<TransformerPtr> NewAesCbc(std::string_view key, Random& random) {
  RETURN_IF_ERROR(CheckAesKey(key.size()));
  return std::make_shared<AesCbc>(key, random);
}

Result<TransformerPtr> NewAesGcm(std::string_view key, Random& random) {
  RETURN_IF_ERROR(CheckAesKey(key.size()));
  return std::make_shared<AesGcm>(key, random);
}

Result<TransformerPtr> NewExtendedNonceGcm(std::string_view seed, Random& random) {
  if (seed.size() < kSeedBytesMin) {
    // A shorter seed would be weaker than the AES-256 keys derived from it.
    return Status(Reason::kInvalid, "invalid seed length " + std::to_string(seed.size()) +
                                        " used for key generation");
  }
  return std::make_shared<ExtendedNonceGcm>(seed, random);
}

}  // namespace apiserver::v0::storage::value
