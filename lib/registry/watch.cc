#include <utility>

#include "apiserver/meta/errors.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

// A watch refuses a bad resourceVersion with other words than a list: 422 about the resource.
Status CheckWatchVersion(std::string_view text, const runtime::GroupResource& resource) {
  const auto parsed = meta::ParseResourceVersion(text);
  if (parsed.ok()) return {};
  // "invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: …".
  std::string_view detail = parsed.status().message();
  const std::string quoted = field::Quote(text) + ": ";
  const std::size_t at = detail.find(quoted);
  if (at != std::string_view::npos) detail.remove_prefix(at + quoted.size());
  field::ErrorList errors;
  errors.Invalid(field::Path("resourceVersion"), text, std::string(detail));
  return meta::NewInvalid({resource.group, resource.resource}, "", errors);
}

}  // namespace

Result<std::unique_ptr<watch::Stream>> GenericStore::Watch(const Context& ctx,
                                                           const meta::ListOptions& options,
                                                           Clock::Monotonic deadline) {
  const Status version =
      CheckWatchVersion(options.resource_version, options_.kind->group_resource());
  if (!version.ok()) return version;
  Selection selection = Select(ctx, options);
  storage::ListOptions watch;
  watch.resource_version = options.resource_version;
  watch.match = options.resource_version_match;
  watch.predicate = std::move(selection.predicate);
  watch.recursive = selection.recursive;
  watch.send_initial_events = options.send_initial_events;
  watch.allow_bookmarks = options.allow_watch_bookmarks;
  watch.deadline = deadline;
  auto stream = storage_->Watch(ctx, selection.key, watch);
  if (!stream.ok()) return Interpret(stream.status(), Verb::kWatch, "");
  return stream;
}

}  // namespace apiserver::v0::registry
