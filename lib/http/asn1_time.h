#pragma once  // Library-internal: other rooms include this header.

#include <openssl/asn1.h>

#include "apiserver/base/clock.h"

namespace apiserver::inline v0::http {

// Returns a time of a certificate, in whole seconds from 1970 to the last that Clock::Wall can hold
// (2262). Certificates without an end say 9999-12-31T23:59:59Z (RFC 5280 §4.1.2.5), which is later.
// A time that cannot be read is 1970: a certificate with such an end counts as expired.
Clock::Wall WallOf(const ASN1_TIME* time);

}  // namespace apiserver::inline v0::http
