#pragma once

#include <memory>

#include "apiserver/http/stream.h"
#include "http/body_collector.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// The handle of a request's body that is read as it comes. `owner`, of which `body` is a part,
// lives as long as the handle does.
std::unique_ptr<ReadStream> NewBodyStream(std::shared_ptr<Loop> loop, BodyCollector& body,
                                          OpenBodyOptions options, std::shared_ptr<void> owner);

}  // namespace apiserver::inline v0::http
