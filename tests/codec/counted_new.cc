#include "codec/counted_new.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace counted_new {
namespace {

// Trivial, so that it needs no allocation itself.
thread_local std::ptrdiff_t live = 0;
thread_local std::size_t allocations = 0;

// Returns null when there is no memory left.
void* TryAllocate(std::size_t bytes) noexcept {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) return nullptr;
  live += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  ++allocations;
  return memory;
}

void* Allocate(std::size_t bytes) {
  void* const memory = TryAllocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Free(void* memory) noexcept {
  if (memory != nullptr) live -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

std::ptrdiff_t LiveBytes() { return live; }
std::size_t Allocations() { return allocations; }

}  // namespace counted_new

void* operator new(std::size_t bytes) { return counted_new::Allocate(bytes); }
void* operator new[](std::size_t bytes) { return counted_new::Allocate(bytes); }
// The standard library's forwards to the one above; AddressSanitizer's, which would take its place,
// does not.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return counted_new::TryAllocate(bytes);
}
void operator delete(void* memory) noexcept { counted_new::Free(memory); }
void operator delete[](void* memory) noexcept { counted_new::Free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { counted_new::Free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { counted_new::Free(memory); }
