#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "apiserver/base/progress.h"

namespace apiserver::inline v0::server {

// Passes reports on and counts them, so that a server can tell whether its jobs get on. Any thread.
class CountedProgress final : public ProgressSink {
 public:
  explicit CountedProgress(std::shared_ptr<ProgressSink> next) : next_(std::move(next)) {}

  void Report(const Progress& progress) override {
    ++reports_;
    next_->Report(progress);
  }
  std::uint64_t reports() const { return reports_; }

 private:
  const std::shared_ptr<ProgressSink> next_;
  std::atomic<std::uint64_t> reports_{0};
};

}  // namespace apiserver::inline v0::server
