#pragma once

#include <cstddef>
#include <string>

#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "cpprest/cpprest.h"

namespace apiserver::inline v0::cpprest {

// Takes a request's body from cpprestsdk, which buffers it without a limit and answers no request
// before it has it all: a body over `bytes_max` makes it stop. `done` is called once, on a thread
// of cpprestsdk, and must not block. kRequestEntityTooLarge; kBadRequest: it broke off.
void ReadRequestBody(const web::http::http_request& request, std::size_t bytes_max,
                     UniqueFunction<void(Result<std::string>)> done);

}  // namespace apiserver::inline v0::cpprest
