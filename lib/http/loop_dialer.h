#pragma once  // Library-internal: other rooms include this header.

#include <memory>

#include "apiserver/http/dialer.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// Makes a dialer whose connections live on a loop that the caller has started and stops. They end
// with the dialer, and when the loop stops. Its destructor waits for a look-up in progress.
std::unique_ptr<Dialer> NewDialerOn(const std::shared_ptr<Loop>& loop);

}  // namespace apiserver::inline v0::http
