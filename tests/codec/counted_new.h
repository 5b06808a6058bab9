#pragma once

#include <cstddef>

// Counts the heap memory of this test program, by an operator new of its own.
namespace counted_new {

// The bytes that this thread has allocated and not given back, as the allocator rounds them. What
// another thread gives back is not subtracted.
std::ptrdiff_t LiveBytes();
// The allocations that this thread has made.
std::size_t Allocations();

}  // namespace counted_new
