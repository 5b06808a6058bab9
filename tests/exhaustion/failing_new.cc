#include "exhaustion/failing_new.h"

#include <cstdlib>
#include <new>

namespace exhaustion {
namespace {

struct Plan {
  std::size_t after = 0;
  std::size_t failures = 0;
  std::size_t failed = 0;
};
// Trivial, so that it needs no allocation itself.
thread_local Plan plan;

void* Allocate(std::size_t bytes) {
  if (plan.failures > 0) {
    if (plan.after > 0) {
      --plan.after;
    } else {
      --plan.failures;
      ++plan.failed;
      throw std::bad_alloc();
    }
  }
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void FailAllocations(std::size_t after, std::size_t failures) { plan = {after, failures, 0}; }

std::size_t StopFailing() {
  const std::size_t failed = plan.failed;
  plan = {};
  return failed;
}

}  // namespace exhaustion

void* operator new(std::size_t bytes) { return exhaustion::Allocate(bytes); }
void* operator new[](std::size_t bytes) { return exhaustion::Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
