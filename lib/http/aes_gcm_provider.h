#pragma once  // Library-internal.

#include <openssl/core.h>

namespace apiserver::inline v0::http {

// Starts an OpenSSL provider (provider(7)) that has AES-128-GCM and AES-256-GCM by libipsec-mb, and
// nothing else. 0: this CPU has no faster one than OpenSSL's own.
int StartAesGcmProvider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core,
                        const OSSL_DISPATCH** functions, void** context);

}  // namespace apiserver::inline v0::http
