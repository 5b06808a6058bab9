#pragma once

#include <memory>
#include <string>

#include "apiserver/testing/storage/storage_conformance.h"

// Storages with one mistake each, to see that the checker of histories finds it.
namespace apiserver::inline v0::testing {

enum class Bug {
  // Watches.
  kSkipsEvent,
  kRepeatsEvent,
  kSwapsEvents,
  kDropsDeletes,
  kDeletedWithOldRevision,
  kTransitionIsModified,
  kLeaksNamespace,
  kHangs,
  kEarlyBookmark,
  kBookmarkGoesBack,
  kInitialMissesObject,
  kInitialEndsEarly,
  kCompactedSkips,
  kExpiresForNothing,
  // Lists and gets.
  kStaleList,
  kStaleGet,
  kTornList,
  kListDropsLast,
  kExactIsOffByOne,
  kNotOlderListIsOlder,
  kNotOlderGetIsOlder,
  kPageSkips,
  kPageRepeats,
  kContinuesNow,
  // Writes.
  kLosesUpdate,
  kAcksWithoutWriting,
  kReusesRevision,
  kFailsButWrites,
  kCreateOverwrites,
  kIgnoresUid,
  kIgnoresRevision,
  kNoOpWrites,
};

// The store over an engine of `host`, with `bug`.
storage::StorageHost WithBug(storage::StorageHost host, Bug bug);

}  // namespace apiserver::inline v0::testing
