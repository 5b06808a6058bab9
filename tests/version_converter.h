#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string_view>

#include "apiserver/base/sync.h"
#include "apiserver/runtime/convert.h"
#include "base/status_macros.h"

namespace apiserver::inline v0::testing {

// Stands for one that asks another process, as a conversion webhook does: counts its calls, calls
// the versions' functions, and fails while it is told to.
class RemoteConverter final : public runtime::VersionConverter {
 public:
  Status Convert(const Context& ctx, std::span<runtime::Object* const> objects,
                 std::string_view version) const override {
    ++calls_;
    objects_ += static_cast<int>(objects.size());
    if (!ctx.may_block()) ++where_nothing_may_wait_;
    if (on_call) on_call();
    if (fails) return Status(Reason::kInternalError, "conversion webhook failed: nobody answers");
    return runtime::FunctionConverter()->Convert(ctx, objects, version);
  }
  bool may_wait() const override { return true; }

  // Since it was asked last.
  int TakeCalls() { return calls_.exchange(0); }
  int TakeObjects() { return objects_.exchange(0); }
  int where_nothing_may_wait() const { return where_nothing_may_wait_; }

  std::atomic<bool> fails = false;
  std::function<void()> on_call;  // To be set before anything is converted; null: nothing.

 private:
  mutable std::atomic<int> calls_ = 0;
  mutable std::atomic<int> objects_ = 0;
  mutable std::atomic<int> where_nothing_may_wait_ = 0;
};

}  // namespace apiserver::inline v0::testing
