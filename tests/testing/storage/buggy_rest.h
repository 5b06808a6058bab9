#pragma once

#include "apiserver/registry/store.h"
#include "apiserver/testing/storage/rest_conformance.h"

// A good rest::Storage with one mistake each, to see that the cases for a rest::Storage find it.
namespace apiserver::inline v0::testing {

enum class RestBug {
  kNone,
  // Reads.
  kGetIgnoresNamespace,
  kGetOfNothingIs500,
  kGetTakesBadVersion,
  kListReversed,
  kListHasNoVersion,
  kListIgnoresLabels,
  kListIgnoresFields,
  kListIgnoresLimit,
  kPagesGoOnNow,
  kRemainingCountWithSelector,
  kExactIsNow,
  kTableSkipsRow,
  // Watches.
  kWatchBeginsNow,
  kWatchDropsDeletes,
  kWatchRepeats,
  kWatchDeletesWithOldVersion,
  kWatchFiltersNaively,
  kWatchHasNoInitialEnd,
  kWatchHasNoBookmarks,
  kWatchExpiresSilently,
  // Writes.
  kCreateIgnoresDryRun,
  kCreateSkipsValidate,
  kCreateOverwrites,
  kCreateValidatesBeforeNaming,
  kUpdateIgnoresDryRun,
  kUpdateIgnoresVersion,
  kUpdateIgnoresUid,
  kUpdateSkipsValidate,
  kUpdateAlwaysWrites,
  kDeleteIgnoresDryRun,
  kDeleteIgnoresPreconditions,
  kDeleteSkipsValidate,
  kDeleteIgnoresFinalizers,
  kCollectionIgnoresSelector,
};

// `good` with `bug`.
std::shared_ptr<rest::Storage> WithRestBug(std::shared_ptr<registry::Store> good, RestBug bug);

}  // namespace apiserver::inline v0::testing
