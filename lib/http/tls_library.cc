#include "http/tls_library.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>

#include <memory>
#include <string_view>

#ifdef APISERVER_IPSEC_MB
#include "http/aes_gcm_provider.h"
#include "http/ipsec_mb.h"
#endif

namespace apiserver::v0::http {
namespace {

#ifdef APISERVER_IPSEC_MB

constexpr char kProvider[] = "libapiserver";

struct FreeLibrary {
  void operator()(OSSL_LIB_CTX* library) const { OSSL_LIB_CTX_free(library); }
};

OSSL_LIB_CTX* NewTlsLibrary() {
  // Reads openssl.cnf, which may name providers.
  if (OPENSSL_init_ssl(0, nullptr) != 1 || !HasOwnProvidersOnly(nullptr)) return nullptr;
  if (FindIpsecMb() == nullptr) return nullptr;
  std::unique_ptr<OSSL_LIB_CTX, FreeLibrary> library(OSSL_LIB_CTX_new());
  if (!library || OSSL_PROVIDER_add_builtin(library.get(), kProvider, StartAesGcmProvider) != 1 ||
      OSSL_PROVIDER_load(library.get(), kProvider) == nullptr ||
      OSSL_PROVIDER_load(library.get(), "default") == nullptr ||
      EVP_set_default_properties(library.get(), "?provider=libapiserver") != 1) {
    return nullptr;
  }
  return library.release();
}

// An error that stayed in the thread's queue would be taken for one of the next call's.
OSSL_LIB_CTX* NewTlsLibraryQuietly() {
  ERR_set_mark();
  OSSL_LIB_CTX* const library = NewTlsLibrary();
  ERR_pop_to_mark();
  return library;
}

#endif

int IsOwn(OSSL_PROVIDER* provider, void* own) {
  const std::string_view name = OSSL_PROVIDER_get0_name(provider);
  if (name != "default" && name != "base" && name != "legacy") *static_cast<bool*>(own) = false;
  return 1;
}

}  // namespace

bool HasOwnProvidersOnly(OSSL_LIB_CTX* library) {
  bool own = OSSL_PROVIDER_available(library, "default") == 1 &&
             EVP_default_properties_is_fips_enabled(library) == 0;
  OSSL_PROVIDER_do_all(library, IsOwn, &own);
  return own;
}

OSSL_LIB_CTX* TlsLibrary() {
#ifdef APISERVER_IPSEC_MB
  static OSSL_LIB_CTX* const library = NewTlsLibraryQuietly();
  return library;
#else
  return nullptr;
#endif
}

}  // namespace apiserver::v0::http
