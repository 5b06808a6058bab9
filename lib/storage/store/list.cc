#include <algorithm>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "storage/corrupt_objects.h"
#include "storage/errors.h"
#include "storage/in_span.h"
#include "storage/list_options.h"
#include "storage/look_into.h"
#include "storage/store/object_store.h"

namespace apiserver::v0::storage::store {

// A list that is being filled.
struct ListState {
  runtime::List list;
  std::string last_key;  // The key of the last object looked at.
  bool full = false;     // True if something of the page was left.
  CorruptObjects corrupt;
};

namespace {

constexpr std::string_view kContextDone = "request did not complete within requested timeout";

// Translates the engine's error for a list into the message that clients know.
Status InterpretListError(const Status& error, const ListOptions& options, const ListCut& place,
                          kv::Engine& engine, const Context& ctx) {
  if (error.reason() == Reason::kExpired) {
    Status expired = meta::NewResourceExpired(
        std::string(options.continue_token.empty() ? kListExpired : kInconsistentContinue));
    if (options.continue_token.empty()) return expired;
    // As handleCompactedErrorForPaging, the token lets a client go on at the current revision.
    const std::string start(place.last_key.substr(place.prefix.size()));
    return expired.WithContinueToken(EncodeContinueToken({-1, start}));
  }
  if (meta::HasCause(error, "ResourceVersionTooLarge")) {
    const auto current = engine.CurrentRevision(ctx);
    return meta::NewTooLargeResourceVersion(static_cast<std::uint64_t>(place.revision),
                                            current.ok() ? static_cast<std::uint64_t>(*current) : 0,
                                            0);
  }
  return error;
}

// Checks that `object` can be matched. Lists parse objects only if there is a selector.
Status UsableFor(const SelectionPredicate& predicate, const runtime::Object& object,
                 const kv::KeyValue& kv) {
  if (predicate.empty()) return {};
  const Status loaded = object.load_status();
  return loaded.ok() ? Status() : NewNotDecodable(kv.mod_revision, loaded);
}

}  // namespace

Status ObjectStore::CorruptionOf(const ListState& list) const {
  return list.corrupt.Outcome({options_.kind->group(), options_.kind->plural()});
}

Result<kv::RangeResponse> ObjectStore::ReadPage(const Context& ctx, const kv::RangeRequest& request,
                                                const ListOptions& options,
                                                std::string_view prefix) const {
  auto page = Range(ctx, request);
  if (page.ok()) return page;
  const ListCut place{request.key, prefix, request.at_revision, 0};
  return InterpretListError(page.status(), options, place, *options_.engine, ctx);
}

Result<std::vector<bool>> ObjectStore::MatchTogether(const Context& ctx,
                                                     const kv::RangeResponse& page,
                                                     const ListOptions& options) const {
  if (!LooksTogether(*options_.kind, options.predicate)) return std::vector<bool>();
  std::vector<runtime::ObjectPtr> objects;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < page.kvs.size(); ++i) {
    const kv::KeyValue& kv = page.kvs[i];
    auto object = Decode(kv.key, kv.value, kv.mod_revision);
    // An object that cannot be read matches nothing here; AppendMatching() reports it.
    if (!object.ok() || !(*object)->load_status().ok()) continue;
    objects.push_back(*std::move(object));
    places.push_back(i);
  }
  ASSIGN_OR_RETURN(const auto matches, MatchAll(ctx, options.predicate, objects));
  std::vector<bool> of_page(page.kvs.size());
  for (std::size_t i = 0; i < places.size(); ++i) of_page[places[i]] = matches[i];
  return of_page;
}

Status ObjectStore::AppendMatching(const Context& ctx, const kv::RangeResponse& page,
                                   const ListOptions& options, ListState& list) const {
  ASSIGN_OR_RETURN(const std::vector<bool> known, MatchTogether(ctx, page, options));
  for (std::size_t i = 0; i < page.kvs.size(); ++i) {
    const kv::KeyValue& kv = page.kvs[i];
    if (options.limit > 0 && std::cmp_greater_equal(list.list.items.size(), options.limit)) {
      list.full = true;
      return {};
    }
    // Set first, whether the object matches or not: the next read of the engine begins behind it.
    list.last_key = kv.key;
    if (ctx.done()) return NewStorageTimeout(kv.key, kContextDone);
    auto object = Decode(kv.key, kv.value, kv.mod_revision);
    const Status usable =
        object.ok() ? UsableFor(options.predicate, **object, kv) : object.status();
    if (!usable.ok()) {
      if (!list.corrupt.Add(kv.key, usable)) return CorruptionOf(list);
      continue;
    }
    bool matches = true;
    if (!known.empty()) {
      matches = known[i];
    } else if (!options.predicate.empty()) {
      ASSIGN_OR_RETURN(matches, MatchesOne(ctx, options.predicate, *object));
    }
    if (matches) list.list.items.push_back(*std::move(object));
  }
  return {};
}

void ObjectStore::LearnStats(const kv::RangeResponse& page) {
  std::int64_t bytes = 0;
  for (const kv::KeyValue& kv : page.kvs) bytes += static_cast<std::int64_t>(kv.value->size());
  if (!page.kvs.empty()) average_bytes_.store(bytes / static_cast<std::int64_t>(page.kvs.size()));
  objects_.store(static_cast<std::int64_t>(page.count));
}

std::optional<Stats> ObjectStore::GetStats() const {
  const std::int64_t objects = objects_.load();
  if (objects < 0) return std::nullopt;
  return Stats{objects, average_bytes_.load()};
}

Result<runtime::List> ObjectStore::GetList(const Context& ctx, std::string_view key,
                                           const ListOptions& options) {
  return InSpan(
      ctx, options.recursive ? "List(recursive=true) store" : "List(recursive=false) store",
      {*options_.kind, key}, [&](const Context& traced) { return ReadList(traced, key, options); });
}

Result<runtime::List> ObjectStore::ReadList(const Context& ctx, std::string_view key,
                                            const ListOptions& options) {
  ASSIGN_OR_RETURN(const std::string prefix, PrepareKey(options_.prefix, key, options.recursive));
  ASSIGN_OR_RETURN(const ListStart start, StartOfList(prefix, options));

  kv::RangeRequest request;
  request.key = start.key;
  if (options.recursive) request.end = kv::PrefixEnd(prefix);
  request.at_revision = start.revision;
  request.limit = static_cast<std::size_t>(std::max<std::int64_t>(options.limit, 0));

  ListState state;
  kv::Revision revision = start.revision;
  // Only a list of everything at the current revision counts all objects of the resource.
  bool of_all = options.recursive && start.revision == 0 && start.key == options_.prefix + "/";
  for (;;) {
    ASSIGN_OR_RETURN(const kv::RangeResponse page, ReadPage(ctx, request, options, prefix));
    if (std::exchange(of_all, false)) LearnStats(page);
    if (revision == 0) RETURN_IF_ERROR(CheckNotOlderThan(options.resource_version, page.revision));
    // All pages are read at the revision of the first.
    if (revision == 0) request.at_revision = revision = page.revision;
    RETURN_IF_ERROR(AppendMatching(ctx, page, options, state));
    const bool filled =
        options.limit > 0 && std::cmp_greater_equal(state.list.items.size(), options.limit);
    const bool last = state.full || !page.more || filled;
    if (last) RETURN_IF_ERROR(CorruptionOf(state));
    if (last) {
      state.list.resource_version = std::to_string(revision);
      if (state.full || page.more) {
        CutList({state.last_key, prefix, revision, page.count}, options, state.list);
      }
      return std::move(state.list);
    }
    // Selectors hid part of the page: fewer and larger reads follow.
    request.key = state.last_key + '\0';
    request.limit = std::min(request.limit * 2, options_.page_objects_max);
  }
}

}  // namespace apiserver::v0::storage::store
