#include "storage/list_options.h"

#include <algorithm>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "storage/errors.h"

namespace apiserver::v0::storage {
namespace {

// True if a segment of `key` is "." or "..".
bool HasDotSegment(std::string_view key) {
  std::size_t at = 0;
  while (at <= key.size()) {
    const std::size_t slash = std::min(key.find('/', at), key.size());
    const std::string_view segment = key.substr(at, slash - at);
    if (segment == "." || segment == "..") return true;
    at = slash + 1;
  }
  return false;
}

}  // namespace

// Follows prepareKey in etcd3/store.go: a key must not climb out of its prefix.
Result<std::string> PrepareKey(std::string_view prefix, std::string_view key, bool recursive) {
  if (HasDotSegment(key)) {
    return Status(Reason::kInternalError, "invalid key: \"" + std::string(key) + "\"");
  }
  if (!recursive && (key.empty() || key == "/")) {
    return Status(Reason::kInternalError, "empty key: \"" + std::string(key) + "\"");
  }
  std::string prepared;
  prepared.reserve(prefix.size() + key.size() + 2);
  prepared.append(prefix);
  if (!key.starts_with('/')) prepared.push_back('/');
  prepared.append(key);
  if (recursive && !prepared.ends_with('/')) prepared.push_back('/');
  return prepared;
}

// Follows ValidateListOptions in storage/interfaces.go.
Result<ListStart> StartOfList(std::string_view key, const ListOptions& options) {
  ListStart start{0, std::string(key)};
  if (options.recursive && !options.continue_token.empty()) {
    ASSIGN_OR_RETURN(const ContinueToken token, DecodeContinueToken(options.continue_token));
    if (!options.resource_version.empty() && options.resource_version != "0") {
      return meta::NewBadRequest("specifying resource version is not allowed when using continue");
    }
    start.key += token.start_key;
    start.revision = token.resource_version > 0 ? token.resource_version : 0;
    return start;
  }
  if (options.resource_version.empty()) return start;
  ASSIGN_OR_RETURN(const std::int64_t revision, ParseReadVersion(options.resource_version));
  switch (options.match) {
    case meta::ResourceVersionMatch::kExact:
      start.revision = revision;
      break;
    case meta::ResourceVersionMatch::kUnset:
      // The oldest clients page without a match, and expect the exact revision.
      if (options.recursive && options.limit > 0) start.revision = revision;
      break;
    case meta::ResourceVersionMatch::kNotOlderThan:
      break;
    case meta::ResourceVersionMatch::kOther:
      return Status(Reason::kUnknown, "unknown ResourceVersionMatch value");
  }
  return start;
}

void CutList(const ListCut& cut, const ListOptions& options, runtime::List& list) {
  std::string start(cut.last_key.substr(cut.prefix.size()));
  // A zero byte makes it the first key that can follow the last one.
  start.push_back('\0');
  list.continue_token = EncodeContinueToken({cut.revision, std::move(start)});
  // With a selector it is not known how many of the rest match; Go leaves the number out, too.
  if (options.predicate.empty()) {
    list.remaining_item_count = static_cast<std::int64_t>(cut.count) - options.limit;
  }
}

bool WantsInitialEvents(std::int64_t revision, const ListOptions& options) {
  return options.send_initial_events.value_or(revision == 0);
}

bool WantsInitialEventsEnd(const ListOptions& options) {
  return options.send_initial_events.value_or(false) && options.allow_bookmarks;
}

}  // namespace apiserver::v0::storage
