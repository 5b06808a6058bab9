#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

// Objects read at once; a longer collection is read in pages of one revision.
constexpr std::int64_t kPageObjects = 10'000;

}  // namespace

// Runs `items` on several threads, as Go's DeleteCollectionWorkers; the caller's is one of them.
// The first error stops the work that has not begun.
Status GenericStore::DeleteAll(const Context& ctx, const std::vector<runtime::ObjectPtr>& items,
                               const rest::ValidateObject& validate,
                               const meta::DeleteOptions& options) {
  std::atomic<std::size_t> next{0};
  Guarded<Status> first_error;
  const auto work = [&] {
    for (;;) {
      const std::size_t at = next.fetch_add(1);
      if (at >= items.size() || !first_error.Lock()->ok()) return;
      if (Status cancelled = ctx.Err(*config_.clock); !cancelled.ok()) {
        auto error = first_error.Lock();
        if (error->ok()) *error = std::move(cancelled);
        return;
      }
      // The request's context names no namespace if it is for all of them; Delete() needs the
      // object's.
      Context one = Context::Child(ctx);
      if (NamespaceScoped()) one.Set(rest::Namespace{std::string(items[at]->namespace_())});
      const auto deleted = Delete(one, items[at]->name(), validate, options);
      if (deleted.ok() || deleted.status().reason() == Reason::kNotFound) continue;
      auto error = first_error.Lock();
      if (error->ok()) *error = deleted.status();
    }
  };
  const std::size_t helpers =
      std::min(std::max<std::size_t>(config_.delete_collection_workers, 1), items.size());
  {
    std::vector<Thread> threads;  // Joined here.
    for (std::size_t i = 1; i < helpers; ++i) threads.emplace_back("deletecoll", work);
    work();
  }
  return *first_error.Lock();
}

// Returns what was deleted. With a limit only the first page is deleted, as upstream.
Result<runtime::List> GenericStore::DeleteCollection(const Context& ctx,
                                                     const rest::ValidateObject& validate,
                                                     const meta::DeleteOptions& options,
                                                     const meta::ListOptions& list_options) {
  meta::ListOptions page_options = list_options;
  const bool one_page = page_options.limit > 0;
  if (!one_page) page_options.limit = kPageObjects;
  runtime::List all;
  for (bool first = true;; first = false) {
    RETURN_IF_ERROR(ctx.Err(*config_.clock));
    ASSIGN_OR_RETURN(runtime::List page, List(ctx, page_options));
    RETURN_IF_ERROR(DeleteAll(ctx, page.items, validate, options));
    if (one_page) return page;
    page_options.continue_token = page.continue_token;
    // The token names the revision; a version beside it would be refused.
    page_options.resource_version.clear();
    page_options.resource_version_match = meta::ResourceVersionMatch::kUnset;
    if (first) all.resource_version = page.resource_version;
    std::move(page.items.begin(), page.items.end(), std::back_inserter(all.items));
    if (page_options.continue_token.empty()) return all;
  }
}

}  // namespace apiserver::v0::registry
