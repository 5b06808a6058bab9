#pragma once

#include <memory>

#include "apiserver/http/stream.h"
#include "http/body_collector.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// Makes the handle of a request's body that is read as it comes. Keeps `owner`, which `body` is a
// part of, for as long as the handle lives.
std::unique_ptr<ReadStream> NewBodyStream(std::shared_ptr<Loop> loop, BodyCollector& body,
                                          OpenBodyOptions options, std::shared_ptr<void> owner);

}  // namespace apiserver::inline v0::http
