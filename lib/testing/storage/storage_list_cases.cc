#include "base/status_macros.h"
#include "testing/storage/storage_subject.h"

// The cases about lists: RunTestList* of k8s.io/apiserver/pkg/storage/testing/store_tests.go.
namespace apiserver::v0::testing::storage {
namespace {

ListOptions At(std::string rv, ResourceVersionMatch match = ResourceVersionMatch::kUnset,
               std::int64_t limit = 0) {
  ListOptions options;
  options.resource_version = std::move(rv);
  options.match = match;
  options.limit = limit;
  return options;
}

ListOptions Page(std::int64_t limit, std::string token = "") {
  ListOptions options;
  options.limit = limit;
  options.continue_token = std::move(token);
  return options;
}

// Writes a to e in "ns" at the revisions 2 to 6; b and d are red, the others blue.
void Fill(StorageSubject& s) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    s.Create(name, "ns", name[0] % 2 == 0 ? "red" : "blue");
  }
  // A consistent list makes a cache that follows a tail catch up.
  (void)s.List();
}

Status AnEmptyListHasAResourceVersion(StorageSubject& s) {
  const auto list = s.List();
  EXPECT(list.ok());
  EXPECT(list->items.empty());
  EXPECT_EQ(list->resource_version, "1");
  EXPECT(list->continue_token.empty());
  EXPECT(!list->remaining_item_count);
  return Status::Ok();
}

Status AListIsOrderedByKey(StorageSubject& s) {
  s.Create("b", "y");
  s.Create("c", "x");
  s.Create("a", "y");
  EXPECT_EQ(NamesOf(s.List()), "c a b");
  EXPECT_EQ(s.List()->resource_version, "4");
  return Status::Ok();
}

Status AListOfANamespaceHoldsOnlyThatOnes(StorageSubject& s) {
  s.Create("a", "ns");
  s.Create("b", "ns2");
  s.Create("c", "n");
  EXPECT_EQ(NamesOf(s.List({}, "/ns/")), "a");
  // A key without the slash means the same namespace, not "ns2" as well.
  EXPECT_EQ(NamesOf(s.List({}, "/ns")), "a");
  EXPECT_EQ(NamesOf(s.List({}, "/n/")), "c");
  return Status::Ok();
}

Status AListThatIsNotRecursiveHoldsOneObject(StorageSubject& s) {
  s.Create("a");
  s.Create("ab");
  ListOptions options;
  options.recursive = false;
  EXPECT_EQ(NamesOf(s.List(options, "/ns/a")), "a");
  EXPECT(NamesOf(s.List(options, "/ns/b")).empty());
  options.predicate.field = meta::FieldSelector::Equals("metadata.name", "other");
  EXPECT(NamesOf(s.List(options, "/ns/a")).empty());
  options.predicate = {};
  options.resource_version = "2";
  options.match = ResourceVersionMatch::kExact;
  // Revision 2 is the create of "a": the other key did not exist yet.
  EXPECT(NamesOf(s.List(options, "/ns/ab")).empty());
  return Status::Ok();
}

Status AConsistentListSeesEveryAcknowledgedWrite(StorageSubject& s) {
  for (int i = 0; i < 20; ++i) {
    s.Create("a" + std::to_string(i));
    EXPECT_EQ(s.List()->items.size(), static_cast<std::size_t>(i + 1));
  }
  return Status::Ok();
}

Status SelectorsFilterAList(StorageSubject& s) {
  Fill(s);
  EXPECT_EQ(NamesOf(s.List(WithLabels({}, "color=red"))), "b d");
  ListOptions options = WithLabels({}, "color=blue");
  options.predicate.field = meta::FieldSelector::Equals("metadata.name", "c");
  EXPECT_EQ(NamesOf(s.List(options)), "c");
  return Status::Ok();
}

Status AListIsCutIntoPagesOfOneRevision(StorageSubject& s) {
  Fill(s);
  const auto first = s.List(Page(2));
  EXPECT_EQ(NamesOf(first), "a b");
  EXPECT_EQ(first->resource_version, "6");
  EXPECT(first->remaining_item_count == 3);
  // The successor of the last key, relative to the prefix of the list, as upstream.
  EXPECT_EQ(apiserver::storage::DecodeContinueToken(first->continue_token)->start_key,
            std::string("ns/b\0", 5));
  // Writes between the pages must not show: the token has the revision of the first page.
  EXPECT(s.Delete("d").ok());
  s.Create("bb");
  const auto second = s.List(Page(2, first->continue_token));
  EXPECT_EQ(NamesOf(second), "c d");
  EXPECT_EQ(second->resource_version, "6");
  EXPECT(second->remaining_item_count == 1);
  const auto third = s.List(Page(2, second->continue_token));
  EXPECT_EQ(NamesOf(third), "e");
  EXPECT(third->continue_token.empty());
  EXPECT(!third->remaining_item_count);
  return Status::Ok();
}

Status APageThatHoldsAllHasNoToken(StorageSubject& s) {
  Fill(s);
  const auto list = s.List(Page(5));
  EXPECT_EQ(NamesOf(list), "a b c d e");
  EXPECT(list->continue_token.empty());
  return Status::Ok();
}

Status PagesOfASelectiveListAreFilled(StorageSubject& s) {
  Fill(s);
  const auto first = s.List(WithLabels(Page(2), "color=blue"));
  EXPECT_EQ(NamesOf(first), "a c");
  // With a selector the number of remaining matches is not known.
  EXPECT(!first->remaining_item_count);
  const auto second = s.List(WithLabels(Page(2, first->continue_token), "color=blue"));
  EXPECT_EQ(NamesOf(second), "e");
  EXPECT(second->continue_token.empty());
  return Status::Ok();
}

Status ARareObjectIsFoundBehindManyOthers(StorageSubject& s) {
  for (int i = 100; i < 150; ++i) s.Create("a" + std::to_string(i));
  s.Create("z", "ns", "red");
  // The page is filled from many reads of the engine, not returned empty with a token.
  const auto list = s.List(WithLabels(Page(1), "color=red"));
  EXPECT_EQ(NamesOf(list), "z");
  EXPECT(list->continue_token.empty());
  return Status::Ok();
}

Status AnExactListShowsThePast(StorageSubject& s) {
  Fill(s);
  EXPECT(s.Delete("a").ok());
  EXPECT(s.Resize("b", 9).ok());
  const auto list = s.List(At("3", ResourceVersionMatch::kExact));
  EXPECT_EQ(NamesOf(list), "a b");
  EXPECT_EQ(list->resource_version, "3");
  // The object as of then, not as it is now.
  EXPECT_EQ(list->items[1]->resource_version(), "3");
  EXPECT_EQ(NamesOf(s.List(At("7", ResourceVersionMatch::kExact))), "b c d e");
  return Status::Ok();
}

Status ALimitWithARevisionIsAnExactList(StorageSubject& s) {
  Fill(s);
  // As upstream: a limit with a resource version and no match means an exact list.
  const auto list = s.List(At("3", ResourceVersionMatch::kUnset, 1));
  EXPECT_EQ(NamesOf(list), "a");
  EXPECT_EQ(list->resource_version, "3");
  EXPECT(list->remaining_item_count == 1);
  return Status::Ok();
}

Status NotOlderThanARevisionIsTheStateNow(StorageSubject& s) {
  Fill(s);
  const auto list = s.List(At("3", ResourceVersionMatch::kNotOlderThan));
  EXPECT_EQ(NamesOf(list), "a b c d e");
  EXPECT_EQ(NamesOf(s.List(At("6"))), "a b c d e");
  EXPECT_EQ(NamesOf(s.List(At("3", ResourceVersionMatch::kNotOlderThan, 2))), "a b");
  return Status::Ok();
}

Status AListOfAFutureRevisionIsTooLarge(StorageSubject& s) {
  Fill(s);
  EXPECT(s.List(At("6", ResourceVersionMatch::kNotOlderThan)).ok());
  ASSIGN_OR_RETURN(const auto impatient, s.OpenImpatient());
  for (const auto match : {ResourceVersionMatch::kExact, ResourceVersionMatch::kNotOlderThan,
                           ResourceVersionMatch::kUnset}) {
    const auto list = impatient->GetList(s.ctx, "/", At("1000", match));
    EXPECT_REASON(list, Reason::kTimeout);
    EXPECT_EQ(list.status().message(), "Timeout: Too large resource version: 1000, current: 6");
  }
  return Status::Ok();
}

Status AListRefusesBadVersionsAndTokens(StorageSubject& s) {
  Fill(s);
  EXPECT_REASON(s.List(At("abc")), Reason::kBadRequest);
  EXPECT_EQ(
      s.List(Page(1, "!")).status().message(),
      "invalid continue token: continue key is not valid: illegal base64 data at input byte 0");
  ListOptions both = Page(1, apiserver::storage::EncodeContinueToken({3, "ns/a"}));
  // The token has a revision already.
  both.resource_version = "3";
  EXPECT_EQ(s.List(both).status().message(),
            "specifying resource version is not allowed when using continue");
  return Status::Ok();
}

Status AListOfACompactedRevisionHasExpired(StorageSubject& s) {
  Fill(s);
  s.Compact("5");
  const auto list = s.List(At("3", ResourceVersionMatch::kExact));
  EXPECT(list.status() ==
         Status(Reason::kExpired, "The resourceVersion for the provided list is too old."));
  return Status::Ok();
}

Status AnExpiredTokenComesWithOneThatGoesOnNow(StorageSubject& s) {
  Fill(s);
  const auto first = s.List(Page(2));
  EXPECT(s.Delete("c").ok());
  s.Create("f");
  s.Compact("8");
  const auto expired = s.List(Page(2, first->continue_token));
  EXPECT_REASON(expired, Reason::kExpired);
  EXPECT(expired.status().message().find("use the continue token in this response") !=
         std::string::npos);
  const std::string fresh(expired.status().continue_token());
  // Minus one stands for the current revision: the rest is consistent, but not with the first page.
  EXPECT_EQ(apiserver::storage::DecodeContinueToken(fresh)->resource_version, -1);
  const auto rest = s.List(Page(2, fresh));
  EXPECT_EQ(NamesOf(rest), "d e");
  EXPECT_EQ(rest->resource_version, "8");
  EXPECT_EQ(NamesOf(s.List(Page(2, rest->continue_token))), "f");
  return Status::Ok();
}

Status AListOfAnyRevisionMayAskWithZero(StorageSubject& s) {
  Fill(s);
  const auto list = s.List(At("0"));
  EXPECT(list.ok());
  // The list has the revision of its state, from which a client can watch.
  EXPECT(list->resource_version != "0");
  return Status::Ok();
}

Status ATokenOfAnotherNamespacesListStaysInTheOwnOne(StorageSubject& s) {
  Fill(s);
  s.Create("x", "other");
  const auto list =
      // A forged token must not reach another namespace.
      s.List(Page(10, apiserver::storage::EncodeContinueToken({-1, "ns/d"})), "/other/");
  EXPECT(list.ok());
  EXPECT_EQ(NamesOf(list), "x");
  return Status::Ok();
}

Status SelectorsFilterANamespacesList(StorageSubject& s) {
  Fill(s);
  s.Create("b", "other", "red");
  EXPECT_EQ(NamesOf(s.List(WithLabels({}, "color=red"), "/other/")), "b");
  EXPECT_EQ(NamesOf(s.List(WithLabels({}, "color=blue"), "/other/")), "");
  ListOptions options;
  options.predicate.field = meta::FieldSelector::Equals("metadata.name", "b");
  EXPECT_EQ(NamesOf(s.List(options)), "b b");
  EXPECT_EQ(NamesOf(s.List(options, "/ns/")), "b");
  options.predicate.field = meta::FieldSelector::Equals("metadata.namespace", "other");
  EXPECT_EQ(NamesOf(s.List(options)), "b");
  EXPECT_EQ(NamesOf(s.List(options, "/ns/")), "");
  return Status::Ok();
}

Status HowMuchIsStoredIsKnownAfterAList(StorageSubject& s) {
  Fill(s);
  const auto five = s.storage->GetStats();
  EXPECT(five.has_value());
  EXPECT_EQ(five->count, 5);
  EXPECT(five->average_bytes > 100);
  // A list of a part does not update the statistics.
  EXPECT_EQ(NamesOf(s.List(Page(0), "/other/")), "");
  EXPECT_EQ(s.storage->GetStats()->count, 5);
  RETURN_IF_ERROR(s.Delete("b").status());
  RETURN_IF_ERROR(s.Delete("c").status());
  RETURN_IF_ERROR(s.Resize("a", 1, std::string(30'000, 'x')).status());
  EXPECT_EQ(NamesOf(s.List()), "a d e");
  const auto three = s.storage->GetStats();
  EXPECT_EQ(three->count, 3);
  // The color is in the field and in the label: 60,000 bytes more, 20,000 on average.
  EXPECT(three->average_bytes > five->average_bytes + 19'000);
  EXPECT(three->average_bytes < five->average_bytes + 21'000);
  for (const char* name : {"a", "d", "e"}) RETURN_IF_ERROR(s.Delete(name).status());
  EXPECT_EQ(NamesOf(s.List()), "");
  EXPECT_EQ(s.storage->GetStats()->count, 0);
  return Status::Ok();
}

}  // namespace

StorageCaseTable StorageListCases() {
  return {
      {"an empty list has a resource version", "RunTestList", AnEmptyListHasAResourceVersion},
      {"a list is ordered by key", "RunTestList", AListIsOrderedByKey},
      {"a list of a namespace holds only that one's", "RunTestGetListRecursivePrefix",
       AListOfANamespaceHoldsOnlyThatOnes},
      {"a list that is not recursive holds one object", "RunTestGetListNonRecursive",
       AListThatIsNotRecursiveHoldsOneObject},
      {"a consistent list sees every acknowledged write", "RunTestConsistentList",
       AConsistentListSeesEveryAcknowledgedWrite},
      {"selectors filter a list", "RunTestList", SelectorsFilterAList},
      {"a list is cut into pages of one revision", "RunTestListContinuation",
       AListIsCutIntoPagesOfOneRevision},
      {"a page that holds all has no token", "RunTestListPaging", APageThatHoldsAllHasNoToken},
      {"pages of a selective list are filled", "RunTestListContinuationWithFilter",
       PagesOfASelectiveListAreFilled},
      {"a rare object is found behind many others", "RunTestListPaginationRareObject",
       ARareObjectIsFoundBehindManyOthers},
      {"an exact list shows the past", "RunTestListResourceVersionMatch", AnExactListShowsThePast},
      {"a limit with a revision is an exact list", "RunTestListResourceVersionMatch",
       ALimitWithARevisionIsAnExactList},
      {"not older than a revision is the state now", "RunTestListResourceVersionMatch",
       NotOlderThanARevisionIsTheStateNow},
      {"a list of a future revision is too large", "RunTestList", AListOfAFutureRevisionIsTooLarge},
      {"a list refuses bad versions and tokens", "RunTestList", AListRefusesBadVersionsAndTokens},
      {"a list of a compacted revision has expired", "RunTestCompactRevision",
       AListOfACompactedRevisionHasExpired},
      {"an expired token comes with one that goes on now", "RunTestListInconsistentContinuation",
       AnExpiredTokenComesWithOneThatGoesOnNow},
      {"selectors filter the list of a namespace", "RunTestNamespaceScopedList",
       SelectorsFilterANamespacesList},
      {"a list of any revision may ask with zero", "RunTestList", AListOfAnyRevisionMayAskWithZero},
      {"a token of another namespace's list stays in the own one", "RunTestNamespaceScopedList",
       ATokenOfAnotherNamespacesListStaysInTheOwnOne},
      {"how much is stored is known after a list", "RunTestStats",
       HowMuchIsStoredIsKnownAfterAList},
  };
}

}  // namespace apiserver::v0::testing::storage
