#include "http/aes_gcm_provider.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <new>
#include <string_view>

#include "http/aes_gcm.h"
#include "http/ipsec_mb.h"

// The functions of provider-cipher(7) for an AesGcm; 1 is success.
namespace apiserver::v0::http {
namespace {

AesGcm& AesGcmOf(void* context) { return *static_cast<AesGcm*>(context); }

const unsigned char* BytesOf(const OSSL_PARAM& parameter) {
  return parameter.data_type == OSSL_PARAM_OCTET_STRING
             ? static_cast<const unsigned char*>(parameter.data)
             : nullptr;
}

// Parameters that are not known are left as they are, as in OpenSSL's ciphers.
bool SetParameter(AesGcm& cipher, const OSSL_PARAM& parameter) {
  const std::string_view name = parameter.key;
  const unsigned char* bytes = BytesOf(parameter);
  const std::size_t size = parameter.data_size;
  if (name == OSSL_CIPHER_PARAM_AEAD_IVLEN) {
    std::size_t nonce_bytes = 0;
    return OSSL_PARAM_get_size_t(&parameter, &nonce_bytes) == 1 &&
           nonce_bytes == AesGcm::kNonceBytes;
  }
  if (name == OSSL_CIPHER_PARAM_AEAD_TAG) return bytes != nullptr && cipher.SetTag(bytes, size);
  if (name == OSSL_CIPHER_PARAM_AEAD_TLS1_AAD) {
    return bytes != nullptr && cipher.SetRecordHead(bytes, size);
  }
  if (name == OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED) {
    return bytes != nullptr && cipher.SetFixedNonce(bytes, size);
  }
  return true;
}

int SetAesGcm(void* context, const OSSL_PARAM* parameters) {
  if (parameters == nullptr) return 1;
  for (const OSSL_PARAM* each = parameters; each->key != nullptr; ++each) {
    if (!SetParameter(AesGcmOf(context), *each)) return 0;
  }
  return 1;
}

int GetParameter(const AesGcm& cipher, OSSL_PARAM* parameter) {
  const std::string_view name = parameter->key;
  if (name == OSSL_CIPHER_PARAM_KEYLEN) {
    return OSSL_PARAM_set_size_t(parameter, cipher.key_bytes());
  }
  if (name == OSSL_CIPHER_PARAM_IVLEN) {
    return OSSL_PARAM_set_size_t(parameter, AesGcm::kNonceBytes);
  }
  if (name == OSSL_CIPHER_PARAM_AEAD_TAGLEN || name == OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD) {
    return OSSL_PARAM_set_size_t(parameter, AesGcm::kTagBytes);
  }
  if (name == OSSL_CIPHER_PARAM_AEAD_TAG) {
    if (cipher.tag() == nullptr || parameter->data_size > AesGcm::kTagBytes) return 0;
    return OSSL_PARAM_set_octet_string(parameter, cipher.tag(), parameter->data_size);
  }
  return 1;
}

int GetAesGcm(void* context, OSSL_PARAM* parameters) {
  for (OSSL_PARAM* each = parameters; each->key != nullptr; ++each) {
    if (GetParameter(AesGcmOf(context), each) != 1) return 0;
  }
  return 1;
}

const OSSL_PARAM* SettableOfAesGcm(void* /*context*/, void* /*provider*/) {
  static const OSSL_PARAM names[] = {
      OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, nullptr),
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, 0),
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, nullptr, 0),
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, nullptr, 0),
      OSSL_PARAM_END,
  };
  return names;
}

int DescribeParameter(OSSL_PARAM* parameter, std::size_t key_bytes) {
  const std::string_view name = parameter->key;
  if (name == OSSL_CIPHER_PARAM_MODE) return OSSL_PARAM_set_uint(parameter, EVP_CIPH_GCM_MODE);
  if (name == OSSL_CIPHER_PARAM_KEYLEN) return OSSL_PARAM_set_size_t(parameter, key_bytes);
  if (name == OSSL_CIPHER_PARAM_IVLEN) {
    return OSSL_PARAM_set_size_t(parameter, AesGcm::kNonceBytes);
  }
  if (name == OSSL_CIPHER_PARAM_BLOCK_SIZE) return OSSL_PARAM_set_size_t(parameter, 1);
  if (name == OSSL_CIPHER_PARAM_AEAD || name == OSSL_CIPHER_PARAM_CUSTOM_IV) {
    return OSSL_PARAM_set_int(parameter, 1);
  }
  return 1;
}

template <std::size_t kKeyBytes>
int Describe(OSSL_PARAM* parameters) {
  for (OSSL_PARAM* each = parameters; each->key != nullptr; ++each) {
    if (DescribeParameter(each, kKeyBytes) != 1) return 0;
  }
  return 1;
}

template <std::size_t kKeyBytes>
void* NewAesGcm(void* /*provider*/) {
  const IpsecMb& library = *FindIpsecMb();
  return new (std::nothrow) AesGcm(kKeyBytes == 16 ? library.aes128 : library.aes256, kKeyBytes);
}

void FreeAesGcm(void* context) { delete &AesGcmOf(context); }

template <bool kEncrypts>
// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
int InitAesGcm(void* context, const unsigned char* key, std::size_t key_size,
               const unsigned char* nonce, std::size_t nonce_size, const OSSL_PARAM* parameters) {
  if (!AesGcmOf(context).Init(kEncrypts, key, key_size, nonce, nonce_size)) return 0;
  return SetAesGcm(context, parameters);
}

// NOLINTNEXTLINE(readability-function-size): the parameters are OpenSSL's
int UpdateAesGcm(void* context, unsigned char* out, std::size_t* written, std::size_t room,
                 const unsigned char* in, std::size_t size) {
  return AesGcmOf(context).Update(out, written, room, in, size) ? 1 : 0;
}

int FinishAesGcm(void* context, unsigned char* /*out*/, std::size_t* written,
                 std::size_t /*room*/) {
  *written = 0;
  return AesGcmOf(context).Final() ? 1 : 0;
}

// OpenSSL keeps functions of all types as this one, and calls them as what their number says.
using AnyFunction = void (*)();
template <typename Function>
AnyFunction Any(Function* function) {
  return reinterpret_cast<AnyFunction>(function);
}

template <std::size_t kKeyBytes>
const OSSL_DISPATCH* FunctionsOfAesGcm() {
  static const OSSL_DISPATCH functions[] = {
      {OSSL_FUNC_CIPHER_NEWCTX, Any(NewAesGcm<kKeyBytes>)},
      {OSSL_FUNC_CIPHER_FREECTX, Any(FreeAesGcm)},
      {OSSL_FUNC_CIPHER_ENCRYPT_INIT, Any(InitAesGcm<true>)},
      {OSSL_FUNC_CIPHER_DECRYPT_INIT, Any(InitAesGcm<false>)},
      {OSSL_FUNC_CIPHER_UPDATE, Any(UpdateAesGcm)},
      {OSSL_FUNC_CIPHER_FINAL, Any(FinishAesGcm)},
      {OSSL_FUNC_CIPHER_GET_PARAMS, Any(Describe<kKeyBytes>)},
      {OSSL_FUNC_CIPHER_GET_CTX_PARAMS, Any(GetAesGcm)},
      {OSSL_FUNC_CIPHER_SET_CTX_PARAMS, Any(SetAesGcm)},
      {OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, Any(SettableOfAesGcm)},
      {0, nullptr},
  };
  return functions;
}

const OSSL_ALGORITHM* AlgorithmsOf(void* /*provider*/, int operation, int* no_cache) {
  *no_cache = 0;
  if (operation != OSSL_OP_CIPHER) return nullptr;
  static const OSSL_ALGORITHM ciphers[] = {
      {"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", "provider=libapiserver",
       FunctionsOfAesGcm<16>(), nullptr},
      {"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", "provider=libapiserver",
       FunctionsOfAesGcm<32>(), nullptr},
      {nullptr, nullptr, nullptr, nullptr},
  };
  return ciphers;
}

}  // namespace

int StartAesGcmProvider(const OSSL_CORE_HANDLE* /*handle*/, const OSSL_DISPATCH* /*core*/,
                        const OSSL_DISPATCH** functions, void** context) {
  if (FindIpsecMb() == nullptr) return 0;
  static const OSSL_DISPATCH ours[] = {
      {OSSL_FUNC_PROVIDER_QUERY_OPERATION, Any(AlgorithmsOf)},
      {0, nullptr},
  };
  *functions = ours;
  *context = nullptr;
  return 1;
}

}  // namespace apiserver::v0::http
