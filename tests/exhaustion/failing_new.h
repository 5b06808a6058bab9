#pragma once

#include <cstddef>

// An operator new that fails on demand, on the thread that demands it alone.
namespace exhaustion {

// After `after` allocations that succeed, `failures` in a row throw std::bad_alloc.
void FailAllocations(std::size_t after, std::size_t failures);
// Ends that; returns how many have failed since.
std::size_t StopFailing();

}  // namespace exhaustion
