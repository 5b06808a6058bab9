#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/storage/interface.h"

// What lists of the store and of the cache have in common.
namespace apiserver::inline v0::storage {

// `prefix` + `key`, ending in '/' if the key is a prefix. kInternalError: an empty key, or one with
// "." or ".." in it.
Result<std::string> PrepareKey(std::string_view prefix, std::string_view key, bool recursive);

// Where a list begins.
struct ListStart {
  std::int64_t revision = 0;  // Zero: now.
  std::string key;            // The first key that may be listed.
};
// `key` as PrepareKey made it. kBadRequest: bad continue token, bad or misplaced resource version.
Result<ListStart> StartOfList(std::string_view key, const ListOptions& options);

// A page that was cut, and what it was cut from.
struct ListCut {
  std::string_view last_key;
  std::string_view prefix;
  std::int64_t revision = 0;
  std::size_t count = 0;  // Keys from the page's start on.
};
// Gives `list` the token that continues behind the last key, and the number of items left when no
// selector hides any.
void CutList(const ListCut& cut, const ListOptions& options, runtime::List& list);

// Whether a watch begins with the state as ADDED events, and whether a bookmark ends them.
bool WantsInitialEvents(std::int64_t revision, const ListOptions& options);
bool WantsInitialEventsEnd(const ListOptions& options);

}  // namespace apiserver::inline v0::storage
