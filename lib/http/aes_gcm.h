#pragma once  // Library-internal.

#include <openssl/evp.h>

#include <array>
#include <cstddef>

#include "http/ipsec_mb.h"

namespace apiserver::inline v0::http {

// AES-GCM (NIST SP 800-38D) of one key and direction by libipsec-mb, as OpenSSL's TLS calls a
// cipher (provider-cipher(7)). Nonces have 12 bytes and tags 16, as TLS has them. Calls in a wrong
// order, or with other sizes, answer false. One thread at a time may call it.
class AesGcm {
 public:
  static constexpr std::size_t kNonceBytes = 12;
  static constexpr std::size_t kTagBytes = 16;

  AesGcm(const GcmFunctions& functions, std::size_t key_bytes)
      : functions_(functions), key_bytes_(key_bytes) {}
  // Wipes the key.
  ~AesGcm();
  AesGcm(const AesGcm&) = delete;
  AesGcm& operator=(const AesGcm&) = delete;

  // Sets the direction and what is given: nullptr leaves the key or the nonce as it is.
  bool Init(bool encrypts, const unsigned char* key, std::size_t key_size,
            const unsigned char* nonce, std::size_t nonce_size);
  // Takes `size` bytes: to be authenticated only if `out` is nullptr, else to be encrypted or
  // decrypted to `out`, which may be `in`. After SetRecordHead they are a record of TLS 1.2.
  bool Update(unsigned char* out, std::size_t* written, std::size_t room, const unsigned char* in,
              std::size_t size);
  // Makes the tag, or compares it with that of SetTag. The next bytes need a new nonce.
  bool Final();

  std::size_t key_bytes() const { return key_bytes_; }
  // The tag of what was encrypted last. nullptr: there is none.
  const unsigned char* tag() const;
  // Sets the tag that Final compares.
  bool SetTag(const unsigned char* tag, std::size_t size);

  // TLS 1.2 (RFC 5288, section 3): the first four bytes of each nonce, the same for all records.
  bool SetFixedNonce(const unsigned char* nonce, std::size_t size);
  // TLS 1.2 (RFC 5246, section 6.2.3.3): the bytes that are authenticated besides the record which
  // is given to Update next. The last two are the size of its nonce, its text and, if it was
  // received, its tag. Needs a fixed nonce.
  bool SetRecordHead(const unsigned char* head, std::size_t size);

 private:
  // TLS 1.2 sends the last eight bytes of a nonce in front of its record.
  static constexpr std::size_t kSentNonceBytes = 8;
  static constexpr std::size_t kFixedNonceBytes = kNonceBytes - kSentNonceBytes;

  bool Begin();
  bool Authenticate(const unsigned char* in, std::size_t size);
  bool Record(unsigned char* out, std::size_t* written, const unsigned char* in, std::size_t size);
  void NextNonce();

  gcm_key_data key_ = {};
  gcm_context_data state_ = {};
  const GcmFunctions& functions_;
  const std::size_t key_bytes_;
  std::array<unsigned char, kNonceBytes> nonce_ = {};
  std::array<unsigned char, kTagBytes> tag_ = {};
  std::array<unsigned char, EVP_AEAD_TLS1_AAD_LEN> authenticated_ = {};
  std::size_t authenticated_size_ = 0;
  bool encrypts_ = false;
  bool has_key_ = false;
  bool has_fixed_nonce_ = false;
  bool has_tag_ = false;
  bool nonce_is_new_ = false;
  bool begun_ = false;
  bool is_record_ = false;
};

}  // namespace apiserver::inline v0::http
