#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::cacher {

// Reads all keys of a prefix page by page, each as of the revision of the first: by the engine's
// own way if it has one. Used by one thread, which may wait.
class PageReader {
 public:
  // `ahead`: the next page is read while the caller works on the last one, so that an engine on
  // another machine and the caller work at the same time. `engine` and `ctx` must outlive the
  // reader.
  PageReader(kv::Engine& engine, const Context& ctx, std::string_view prefix, bool ahead);

  // Returns the next page. nullopt: there is no more.
  Result<std::optional<kv::RangeResponse>> Next();
  // The revision of the first page; zero before it.
  kv::Revision revision() const { return request_.at_revision; }

 private:
  static constexpr std::size_t kPageObjects = 10'000;

  Result<std::optional<kv::RangeResponse>> ReadNext();

  kv::Engine& engine_;
  const Context& ctx_;
  const bool ahead_;
  const std::unique_ptr<kv::Pages> pages_;  // Null: the engine has none.
  bool done_ = false;
  kv::RangeRequest request_;
  std::optional<Result<kv::RangeResponse>> fetched_;
  std::optional<Thread> reading_;  // Fills fetched_. The last member: it is joined first.
};

}  // namespace apiserver::inline v0::storage::cacher
