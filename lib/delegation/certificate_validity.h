#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/http/certificates.h"

namespace apiserver::inline v0::delegation {

// Returns the finding of `check` about the dates of a certificate: a problem where it is not valid
// at `now`, a warning where it expires within 14 days.
Finding ValidityOf(const std::string& check, const http::CertificateFacts& facts, Clock::Wall now);

}  // namespace apiserver::inline v0::delegation
