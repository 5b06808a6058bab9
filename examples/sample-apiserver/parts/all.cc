#include <utility>

#include "parts/parts.h"

namespace sample {

Parts AllParts() {
  Parts parts;
  parts.push_back(NewServerRun());
  parts.push_back(NewAudit());
  parts.push_back(NewOperations());
  parts.push_back(NewTracing());
  parts.push_back(NewAuthentication());
  parts.push_back(NewAuthorization());
  parts.push_back(NewAdmission());
  parts.push_back(NewFlowControl());
  parts.push_back(NewDelegation());
  return parts;
}

}  // namespace sample
