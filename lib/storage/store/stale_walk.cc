#include "storage/store/stale_walk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apiserver/codec/codec.h"
#include "base/status_macros.h"
#include "storage/corrupt_objects.h"
#include "storage/store/stored_value.h"

namespace apiserver::v0::storage::store {
namespace {

// The bytes of values that a page should have, so that large ones do not fill the memory.
constexpr std::size_t kPageBytes = 4 << 20;
// The first page shows how large the values are.
constexpr std::size_t kFirstPage = 50;
// The pauses before the engine is asked again.
constexpr std::chrono::milliseconds kRetryMin(200);
constexpr std::chrono::milliseconds kRetryMax(30'000);

// True if the write may succeed when it is made again.
bool IsPassing(const Status& status) {
  return status.reason() == Reason::kServiceUnavailable || status.reason() == Reason::kTimeout ||
         status.reason() == Reason::kServerTimeout || status.reason() == Reason::kTooManyRequests;
}

Result<Update> WriteAgain(const runtime::ObjectPtr& current) {
  return Update{.object = current->Clone()};
}

class StaleWalk {
 public:
  StaleWalk(const Context& ctx, const StaleWalkParts& parts) : ctx_(ctx), parts_(parts) {}

  Status Walk() {
    kv::RangeRequest request{.key = parts_.store.prefix + "/",
                             .end = kv::PrefixEnd(parts_.store.prefix + "/"),
                             .limit = std::min(kFirstPage, parts_.page_objects_max)};
    for (;;) {
      ASSIGN_OR_RETURN(const kv::RangeResponse page, ReadPage(request));
      RETURN_IF_ERROR(LookAtAll(page));
      if (!page.more || page.kvs.empty()) return {};
      request.key = page.kvs.back().key + '\0';
      request.limit = NextLimit(page);
    }
  }

 private:
  Status LookAtAll(const kv::RangeResponse& page) {
    for (const kv::KeyValue& kv : page.kvs) RETURN_IF_ERROR(LookAt(kv));
    return {};
  }

  // Returns how many values to read next if they are as large as those of `page`.
  std::size_t NextLimit(const kv::RangeResponse& page) const {
    std::size_t bytes = 0;
    for (const kv::KeyValue& kv : page.kvs) bytes += kv.value->size();
    return std::clamp(kPageBytes / (bytes / page.kvs.size() + 1), std::size_t{1},
                      parts_.page_objects_max);
  }

  // Says why the engine did not answer, and waits before it is asked again.
  Status WaitAfter(const Status& failure) {
    RETURN_IF_ERROR(ctx_.Err());
    parts_.on_failure(failure);
    WaitUnlessDone(ctx_, retry_);
    retry_ = std::min(2 * retry_, kRetryMax);
    return ctx_.Err();
  }

  Result<kv::RangeResponse> ReadPage(const kv::RangeRequest& request) {
    for (;;) {
      RETURN_IF_ERROR(ctx_.Err());
      auto page = parts_.store.engine->Range(ctx_, request);
      if (page.ok()) {
        retry_ = kRetryMin;
        return page;
      }
      RETURN_IF_ERROR(WaitAfter(page.status()));
    }
  }

  // Returns whether the value would be written in another way now.
  Result<bool> IsStale(const kv::KeyValue& kv) const {
    ASSIGN_OR_RETURN(const Opened opened, Open(parts_.store, kv.key, kv.value));
    if (opened.stale) return true;
    const auto object = codec::DecodeFromStorage(parts_.store.kind, opened.plain, kv.mod_revision);
    if (!object.ok()) return NewNotDecodable(kv.mod_revision, object.status());
    return (*object)->version() != parts_.store.kind->storage_version();
  }

  Status LookAt(const kv::KeyValue& kv) {
    RETURN_IF_ERROR(ctx_.Err());
    ++parts_.counts.looked_at;
    const auto stale = IsStale(kv);
    if (!stale.ok()) {
      ++parts_.counts.unreadable;
      parts_.on_left(kv.key, stale.status());
    } else if (*stale) {
      RETURN_IF_ERROR(Rewrite(kv.key));
    }
    parts_.pace.Spend(ctx_, stale.ok() && *stale ? kLooksPerRewrite : 1);
    parts_.on_value();
    return {};
  }

  // The error is that of the context.
  Status Rewrite(const std::string& key) {
    const std::string_view own = std::string_view(key).substr(parts_.store.prefix.size());
    for (;;) {
      const auto written = parts_.storage.GuaranteedUpdate(ctx_, own, {}, WriteAgain);
      // A value that was deleted meanwhile is not stale any more.
      if (written.ok() || written.status().reason() == Reason::kNotFound) break;
      RETURN_IF_ERROR(ctx_.Err());
      if (!IsPassing(written.status())) {
        ++parts_.counts.failed;
        parts_.on_left(key, written.status());
        return {};
      }
      RETURN_IF_ERROR(WaitAfter(written.status()));
    }
    retry_ = kRetryMin;
    ++parts_.counts.rewritten;
    return {};
  }

  const Context& ctx_;
  const StaleWalkParts& parts_;
  std::chrono::milliseconds retry_ = kRetryMin;
};

}  // namespace

Status WalkStale(const Context& ctx, const StaleWalkParts& parts) {
  return StaleWalk(ctx, parts).Walk();
}

}  // namespace apiserver::v0::storage::store
