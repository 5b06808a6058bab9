#pragma once  // Library-internal.

#include <openssl/types.h>

namespace apiserver::inline v0::http {

// Returns the library context (OSSL_LIB_CTX(3)) that contexts of TLS are made in. nullptr:
// OpenSSL's default one, with its own ciphers. Otherwise one of this library, which the host does
// not see, whose AES-GCM encrypts a record in a third of the time. Kept until the process ends.
OSSL_LIB_CTX* TlsLibrary();

// Tells whether a host has left the default library context with OpenSSL's own providers, and not,
// say, with FIPS's or a card's, which TLS must then use.
bool HasOwnProvidersOnly(OSSL_LIB_CTX* library);

}  // namespace apiserver::inline v0::http
