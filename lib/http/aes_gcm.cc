#include "http/aes_gcm.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>

namespace apiserver::v0::http {

AesGcm::~AesGcm() {
  OPENSSL_cleanse(&key_, sizeof(key_));
  OPENSSL_cleanse(&state_, sizeof(state_));
}

bool AesGcm::Init(bool encrypts, const unsigned char* key, std::size_t key_size,
                  const unsigned char* nonce, std::size_t nonce_size) {
  encrypts_ = encrypts;
  begun_ = false;
  authenticated_size_ = 0;
  if (key != nullptr) {
    if (key_size != key_bytes_) return false;
    functions_.set_key(key, &key_);
    has_key_ = true;
  }
  if (nonce != nullptr) {
    if (nonce_size != kNonceBytes) return false;
    std::copy_n(nonce, kNonceBytes, nonce_.begin());
    nonce_is_new_ = true;
  }
  return true;
}

bool AesGcm::Begin() {
  if (begun_) return true;
  // Two texts of one key and nonce would give away both, and the key of the tags.
  if (!has_key_ || !nonce_is_new_) return false;
  nonce_is_new_ = false;
  begun_ = true;
  functions_.begin(&key_, &state_, nonce_.data(), authenticated_.data(), authenticated_size_);
  authenticated_size_ = 0;
  return true;
}

bool AesGcm::Authenticate(const unsigned char* in, std::size_t size) {
  if (begun_ || size > authenticated_.size() - authenticated_size_) return false;
  std::copy_n(in, size, authenticated_.data() + authenticated_size_);
  authenticated_size_ += size;
  return true;
}

// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
bool AesGcm::Update(unsigned char* out, std::size_t* written, std::size_t room,
                    const unsigned char* in, std::size_t size) {
  *written = 0;
  if (is_record_) return room >= size && Record(out, written, in, size);
  if (size == 0) return true;
  if (out == nullptr ? !Authenticate(in, size) : room < size || !Begin()) return false;
  if (out != nullptr) {
    (encrypts_ ? functions_.encrypt : functions_.decrypt)(&key_, &state_, out, in, size);
  }
  *written = size;
  return true;
}

bool AesGcm::Final() {
  if (!encrypts_ && !has_tag_) return false;
  if (!Begin()) return false;
  begun_ = false;
  has_tag_ = encrypts_;
  if (encrypts_) {
    functions_.end_encrypting(&key_, &state_, tag_.data(), kTagBytes);
    return true;
  }
  std::array<unsigned char, kTagBytes> made = {};
  functions_.end_decrypting(&key_, &state_, made.data(), kTagBytes);
  return CRYPTO_memcmp(made.data(), tag_.data(), kTagBytes) == 0;
}

const unsigned char* AesGcm::tag() const { return encrypts_ && has_tag_ ? tag_.data() : nullptr; }

bool AesGcm::SetTag(const unsigned char* tag, std::size_t size) {
  if (encrypts_ || size != kTagBytes) return false;
  std::copy_n(tag, kTagBytes, tag_.begin());
  has_tag_ = true;
  return true;
}

bool AesGcm::SetFixedNonce(const unsigned char* nonce, std::size_t size) {
  if (size != kFixedNonceBytes) return false;
  std::copy_n(nonce, size, nonce_.begin());
  has_fixed_nonce_ = true;
  // Only a peer's nonces come with their records.
  return !encrypts_ || RAND_bytes(nonce_.data() + size, kSentNonceBytes) == 1;
}

bool AesGcm::SetRecordHead(const unsigned char* head, std::size_t size) {
  if (size != authenticated_.size() || !has_fixed_nonce_) return false;
  const std::size_t record = std::size_t{head[size - 2]} << 8U | head[size - 1];
  const std::size_t added = kSentNonceBytes + (encrypts_ ? 0 : kTagBytes);
  if (record < added) return false;
  std::copy_n(head, size, authenticated_.begin());
  authenticated_[size - 2] = static_cast<unsigned char>((record - added) >> 8U);
  authenticated_[size - 1] = static_cast<unsigned char>(record - added);
  authenticated_size_ = size;
  is_record_ = true;
  return true;
}

void AesGcm::NextNonce() {
  for (std::size_t i = kNonceBytes; i > kFixedNonceBytes; --i) {
    if (++nonce_[i - 1] != 0) return;
  }
}

// A record of TLS 1.2, in place: the nonce that is sent, the text, the tag.
bool AesGcm::Record(unsigned char* out, std::size_t* written, const unsigned char* in,
                    std::size_t size) {
  is_record_ = false;
  if (out != in || size < kSentNonceBytes + kTagBytes) return false;
  unsigned char* const text = out + kSentNonceBytes;
  const std::size_t text_size = size - kSentNonceBytes - kTagBytes;
  unsigned char* const sent_nonce = nonce_.data() + kFixedNonceBytes;
  if (encrypts_) {
    std::copy_n(sent_nonce, kSentNonceBytes, out);
  } else {
    std::copy_n(out, kSentNonceBytes, sent_nonce);
    SetTag(text + text_size, kTagBytes);
  }
  nonce_is_new_ = true;
  begun_ = false;
  if (!Begin()) return false;
  (encrypts_ ? functions_.encrypt : functions_.decrypt)(&key_, &state_, text, text, text_size);
  if (!Final()) {
    OPENSSL_cleanse(text, text_size);
    return false;
  }
  if (encrypts_) {
    std::copy_n(tag_.data(), kTagBytes, text + text_size);
    NextNonce();
  }
  *written = encrypts_ ? size : text_size;
  return true;
}

}  // namespace apiserver::v0::http
