#include "cpprest/pulled_body.h"

#include <exception>
#include <stdexcept>
#include <utility>

namespace apiserver::v0::cpprest {

// Breaks the task of a read, so that cpprestsdk cuts the connection instead of ending the body
// well.
void Want::Break() {
  try {
    filled_.set_exception(std::make_exception_ptr(std::runtime_error("the answer was cut")));
  } catch (...) {  // NOLINT(bugprone-empty-catch): for want of memory; the connection is cut late
  }
}

// Called on cpprestsdk's threads; the answer is made on the loop and completes the task.
pplx::task<std::size_t> PulledBody::getn(std::uint8_t* bytes, std::size_t count) {
  auto want = std::make_unique<Want>(std::span<char>(reinterpret_cast<char*>(bytes), count));
  auto task = want->task();
  puller_->Pull(std::move(want));
  return task;
}

}  // namespace apiserver::v0::cpprest
