#pragma once

#include <exception>

#include "apiserver/base/status.h"
#include "base/status_macros.h"

// Runs a case of any of the kits.
namespace apiserver::inline v0::testing::storage {

// Opens a subject for `host` and returns the outcome of `run` on it. What either throws is a failed
// case: its error is the subject's failure() if it has one, since an exception of Result::value()
// has only the text of its Status.
template <class Subject, class Host>
Status RunCase(const Host& host, Status (*run)(Subject&)) {
  try {
    ASSIGN_OR_RETURN(const auto subject, Subject::Open(host));
    try {
      return run(*subject);
    } catch (const std::exception&) {
      if constexpr (requires { subject->failure(); }) {
        if (!subject->failure().ok()) return subject->failure();
      }
      throw;
    }
  } catch (const std::exception& thrown) {
    return Status(Reason::kInternalError, thrown.what());
  }
}

}  // namespace apiserver::inline v0::testing::storage
