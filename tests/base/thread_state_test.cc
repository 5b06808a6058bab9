#include "base/thread_state.h"

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: the kernel tells which threads wait", "[base]") {
  CHECK(IsRunnable(::gettid()));

  std::atomic<int> id{0};
  Notification release;
  // Parentheses in the name, as before the state.
  const Thread waiting("a) R (b", [&] {
    id = ::gettid();
    release.Wait();
  });
  while (id == 0 || IsRunnable(id)) {
  }
  CHECK_FALSE(IsRunnable(id));
  release.Notify();

  CHECK_FALSE(IsRunnable(0));
  CHECK_FALSE(IsRunnable(-1));
}

}  // namespace
}  // namespace apiserver::inline v0
