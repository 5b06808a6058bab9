#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/storage/interface.h"

// The parts that lists of the store and of the cache share.
namespace apiserver::inline v0::storage {

// Returns `prefix` + `key`, ending in '/' if the key is a prefix. kInternalError: an empty key, or
// one with "." or ".." in it.
Result<std::string> PrepareKey(std::string_view prefix, std::string_view key, bool recursive);

// The place where a list begins.
struct ListStart {
  std::int64_t revision = 0;  // Zero: the current revision.
  std::string key;            // The first key that may be listed.
};
// Returns where to begin; `key` comes from PrepareKey(). kBadRequest: bad continue token, bad or
// misplaced resource version.
Result<ListStart> StartOfList(std::string_view key, const ListOptions& options);

// A page that was cut, and the list it was cut from.
struct ListCut {
  std::string_view last_key;
  std::string_view prefix;
  std::int64_t revision = 0;
  std::size_t count = 0;  // The number of keys from the page's start on.
};
// Sets the token of `list` that continues behind the last key, and the number of remaining items
// when no selector hides any.
void CutList(const ListCut& cut, const ListOptions& options, runtime::List& list);

// True if a watch begins with the state as ADDED events; the second says if a bookmark ends them.
bool WantsInitialEvents(std::int64_t revision, const ListOptions& options);
bool WantsInitialEventsEnd(const ListOptions& options);

}  // namespace apiserver::inline v0::storage
