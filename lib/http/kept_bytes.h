#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "apiserver/base/memory_budget.h"

namespace apiserver::inline v0::http {

// Counts the bytes that a stream keeps, in a share of a budget, whether or not there is room. What
// is still counted in the end is given back. Any thread.
class KeptBytes final {
 public:
  // Null `memory`: nothing is counted.
  KeptBytes(std::shared_ptr<MemoryBudget> memory, FairShare MemoryBudget::*share,
            const Tenant& tenant = {})
      : memory_(std::move(memory)), share_(share), tenant_(tenant) {}
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;
  ~KeptBytes() { Release(count_.load()); }

  void Add(std::size_t bytes) {
    if (memory_ == nullptr || bytes == 0) return;
    count_ += bytes;
    (memory_.get()->*share_).Add(bytes, tenant_);
  }
  void Release(std::size_t bytes) {
    if (memory_ == nullptr || bytes == 0) return;
    count_ -= bytes;
    (memory_.get()->*share_).Release(bytes, tenant_);
  }

 private:
  const std::shared_ptr<MemoryBudget> memory_;
  FairShare MemoryBudget::*const share_;
  const Tenant tenant_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace apiserver::inline v0::http
