#include "storage/cacher/page_reader.h"

#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::storage::cacher {

PageReader::PageReader(kv::Engine& engine, const Context& ctx, std::string_view prefix, bool ahead)
    : engine_(engine),
      ctx_(ctx),
      ahead_(ahead),
      pages_(ahead ? engine.ReadPages(ctx, prefix) : nullptr) {
  request_.key = prefix;
  request_.end = kv::PrefixEnd(prefix);
  request_.limit = kPageObjects;
}

Result<std::optional<kv::RangeResponse>> PageReader::Next() {
  if (pages_ == nullptr) return ReadNext();
  auto page = pages_->Next();
  if (page.ok() && *page && request_.at_revision == 0) request_.at_revision = (*page)->revision;
  return page;
}

Result<std::optional<kv::RangeResponse>> PageReader::ReadNext() {
  if (done_) return std::optional<kv::RangeResponse>();
  reading_.reset();
  auto fetched = fetched_ ? *std::exchange(fetched_, std::nullopt) : engine_.Range(ctx_, request_);
  ASSIGN_OR_RETURN(kv::RangeResponse page, std::move(fetched));
  // All pages are read at the revision of the first.
  if (request_.at_revision == 0) request_.at_revision = page.revision;
  done_ = !page.more || page.kvs.empty();
  if (!done_) {
    request_.key = page.kvs.back().key + '\0';
    // The next page is on its way while the caller decodes this one.
    if (ahead_)
      reading_.emplace("cache-reader", [this] { fetched_ = engine_.Range(ctx_, request_); });
  }
  return std::optional(std::move(page));
}

}  // namespace apiserver::v0::storage::cacher
