#include <utility>

#include "parts/parts.h"

namespace sample {

Parts AllParts() {
  Parts parts;
  parts.push_back(NewAudit());
  parts.push_back(NewTracing());
  // Front proxies come before everybody else who is known, and anonymous after them.
  parts.push_back(NewDelegation());
  parts.push_back(NewAuthentication());
  parts.push_back(NewAuthorization());
  parts.push_back(NewAdmission());
  parts.push_back(NewServerRun());
  return parts;
}

}  // namespace sample
