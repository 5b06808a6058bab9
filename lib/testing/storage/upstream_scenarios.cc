#include "apiserver/testing/storage/storage_conformance.h"

// The scenarios of upstream by name. A test compares the list with the cases, so that none is
// forgotten.
namespace apiserver::v0::testing::storage {
namespace {

struct Row {
  const char* name;
  const char* not_applicable = "";
};

// The reason for several scenarios of one feature.
constexpr const char* kUnsafe =
    "deletes what cannot be decoded; storage::Interface has no such unsafe deletion";

// In upstream's order: first store_tests.go, then watcher_tests.go.
constexpr Row kRows[] = {
    {"RunTestCreate"},
    {"RunTestCreateWithTTL"},
    {"RunTestCreateWithKeyExist"},
    {"RunTestGet"},
    {"RunTestUnconditionalDelete"},
    {"RunTestConditionalDelete"},
    {"RunTestDeleteWithSuggestion"},
    {"RunTestDeleteWithSuggestionAndConflict"},
    {"RunTestDeleteWithConflict"},
    {"RunTestDeleteWithSuggestionOfDeletedObject"},
    {"RunTestValidateDeletionWithSuggestion"},
    {"RunTestValidateDeletionWithOnlySuggestionValid"},
    {"RunTestPreconditionalDeleteWithSuggestion"},
    {"RunTestPreconditionalDeleteWithOnlySuggestionPass"},
    {"RunTestList"},
    {"RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError", kUnsafe},
    {"RunTestDeleteExpectedTransformOrDecodeError", kUnsafe},
    {"RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError", kUnsafe},
    {"RunTestConsistentList"},
    {"RunTestGetListNonRecursive"},
    {"RunTestGetListRecursivePrefix"},
    {"RunTestGetListWithErrorAggregation"},
    {"RunTestGetListWithoutErrorAggregation",
     "a list here always tells all that cannot be read, as upstream's does with the feature "
     "AllowUnsafeMalformedObjectDeletion"},
    {"RunTestListContinuation"},
    {"RunTestListPaginationRareObject"},
    {"RunTestListContinuationWithFilter"},
    {"RunTestListInconsistentContinuation"},
    {"RunTestListResourceVersionMatch"},
    {"RunTestGuaranteedUpdate"},
    {"RunTestGuaranteedUpdateWithTTL"},
    {"RunTestGuaranteedUpdateChecksStoredData"},
    {"RunTestGuaranteedUpdateWithConflict"},
    {"RunTestGuaranteedUpdateWithSuggestionAndConflict"},
    {"RunTestTransformationFailure"},
    {"RunTestStats"},
    {"RunTestListPaging"},
    {"RunTestNamespaceScopedList"},
    {"RunTestCompactRevision"},
    {"RunTestKeySchema"},
    {"RunTestWatch"},
    {"RunTestWatchFromZero"},
    {"RunTestDeleteTriggerWatch"},
    {"RunTestWatchFromNonZero"},
    {"RunTestDelayedWatchDelivery"},
    {"RunTestWatchError"},
    {"RunTestWatchWithUnsafeDelete", kUnsafe},
    {"RunTestWatchContextCancel"},
    {"RunTestWatcherTimeout"},
    {"RunTestWatchDeleteEventObjectHaveLatestRV"},
    {"RunTestWatchInitializationSignal",
     "a watch is pulled: it is initialised when Watch() returns, so there is no signal"},
    {"RunOptionalTestProgressNotify"},
    {"RunTestClusterScopedWatch"},
    {"RunTestNamespaceScopedWatch"},
    {"RunTestWatchDispatchBookmarkEvents"},
    {"RunTestOptionalWatchBookmarksWithCorrectResourceVersion"},
    {"RunSendInitialEventsBackwardCompatibility"},
    {"RunWatchSemantics"},
    {"RunWatchSemanticInitialEventsExtended"},
    {"RunWatchListMatchSingle"},
    {"RunWatchErrorIsBlockingFurtherEvents"},
};

}  // namespace

std::vector<UpstreamScenario> UpstreamScenarios() {
  std::vector<UpstreamScenario> scenarios;
  for (const Row& row : kRows) scenarios.push_back({row.name, row.not_applicable});
  return scenarios;
}

}  // namespace apiserver::v0::testing::storage
