#include "codec/counted_new.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace counted_new {
namespace {

// Trivial, so that it needs no allocation itself.
thread_local std::ptrdiff_t live = 0;
thread_local std::size_t allocations = 0;

void* Allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  live += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  ++allocations;
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
void operator delete(void* memory) noexcept { counted_new::Free(memory); }
void operator delete[](void* memory) noexcept { counted_new::Free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { counted_new::Free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { counted_new::Free(memory); }
