#pragma once  // Library-internal.

// Old names of libipsec-mb are OpenSSL's, too.
#define NO_COMPAT_IMB_API_053
#include <intel-ipsec-mb.h>

namespace apiserver::inline v0::http {

// AES-GCM functions of libipsec-mb for keys of one size. They keep nothing between calls but what
// they are given, so that any thread may call them.
struct GcmFunctions {
  aes_gcm_pre_t set_key;
  aes_gcm_init_t begin;
  aes_gcm_enc_dec_update_t encrypt;
  aes_gcm_enc_dec_update_t decrypt;
  aes_gcm_enc_dec_finalize_t end_encrypting;
  aes_gcm_enc_dec_finalize_t end_decrypting;
};

// Intel's Multi-Buffer Crypto for IPsec library, as far as TLS is faster by it.
struct IpsecMb {
  GcmFunctions aes128;
  GcmFunctions aes256;
};

// Returns the functions for this CPU. nullptr: it has no AES of 512-bit vectors (VAES, since
// Intel's Ice Lake and AMD's Zen 4), without which OpenSSL is as fast.
const IpsecMb* FindIpsecMb();

}  // namespace apiserver::inline v0::http
