#include <set>

#include "testing/storage/rest_subject.h"

// Gets, lists and tables of a rest::Storage.
namespace apiserver::v0::testing::storage::rest_kit {
namespace {

constexpr unsigned kReads = kGet | kList;

Status GetReturnsWhatIsThere(RestSubject& s) {
  s.Add("a", "red");
  const auto a = s.Get("a");
  EXPECT(a.ok());
  EXPECT_EQ(s.NameOf(**a), "a");
  EXPECT_EQ(std::string((*a)->namespace_()), s.namespaced() ? "ns" : "");
  EXPECT_EQ(s.MarkOf(**a), "red");
  EXPECT(!(*a)->uid().empty());
  EXPECT(!(*a)->metadata()["creationTimestamp"].AsString().empty());
  EXPECT(Number((*a)->resource_version()) > 0);
  return Status::Ok();
}

Status GetOfNothingIsNotFound(RestSubject& s) {
  s.Add("a");
  const auto b = s.Get("b");
  EXPECT_REASON(b, Reason::kNotFound);
  EXPECT_EQ(b.status().code(), 404);
  EXPECT(b.status().details() != nullptr);
  EXPECT_EQ(b.status().details()->name, s.HostName("b"));
  return Status::Ok();
}

Status GetLooksInItsNamespace(RestSubject& s) {
  s.Add("a", "one", "ns");
  s.Add("a", "two", "other");
  EXPECT_EQ(s.MarkOf(*s.Get("a", "", "ns").value()), "one");
  EXPECT_EQ(s.MarkOf(*s.Get("a", "", "other").value()), "two");
  EXPECT_REASON(s.Get("a", "", "third"), Reason::kNotFound);
  return Status::Ok();
}

Status GetTakesEveryVersionThatHasBeen(RestSubject& s) {
  s.Add("a");
  s.Remark("a", "two");
  const std::string rv(s.Get("a").value()->resource_version());
  EXPECT_EQ(s.MarkOf(*s.Get("a", rv).value()), "two");
  EXPECT(s.Get("a", "0").ok());
  return Status::Ok();
}

Status GetRefusesABadVersion(RestSubject& s) {
  s.Add("a");
  EXPECT_REASON(s.Get("a", "yesterday"), Reason::kBadRequest);
  return Status::Ok();
}

Status GetShowsEveryAcknowledgedChange(RestSubject& s) {
  s.Add("a");
  for (const char* label : {"two", "three", "four"}) {
    s.Remark("a", label);
    EXPECT_EQ(s.MarkOf(*s.Get("a").value()), label);
  }
  s.Remove("a");
  EXPECT_REASON(s.Get("a"), Reason::kNotFound);
  return Status::Ok();
}

Status NewIsAnEmptyObject(RestSubject& s) {
  const auto object = s.opened().storage->New();
  EXPECT(object != nullptr);
  EXPECT(object->name().empty());
  EXPECT(object->uid().empty());
  // Handlers fill the object, so that no two may share one.
  EXPECT(s.opened().storage->New() != object);
  return Status::Ok();
}

Status DestroyMayComeTwice(RestSubject& s) {
  s.opened().storage->Destroy();
  s.opened().storage->Destroy();
  return Status::Ok();
}

Status AnEmptyListHasAVersion(RestSubject& s) {
  const auto list = s.List();
  EXPECT(list.ok());
  EXPECT(list->items.empty());
  EXPECT(Number(list->resource_version) > 0);
  EXPECT(list->continue_token.empty());
  return Status::Ok();
}

Status AListHoldsAllByName(RestSubject& s) {
  for (const char* name : {"c", "a", "b", "ab"}) s.Add(name);
  EXPECT_EQ(s.Names(), "a ab b c");
  return Status::Ok();
}

Status AListHoldsItsNamespace(RestSubject& s) {
  // Each name is a prefix of another: keys without a separator would mix them up.
  s.Add("a", "one", "ns");
  s.Add("b", "one", "ns2");
  s.Add("c", "one", "n");
  EXPECT_EQ(s.Names({}, "ns"), "a");
  EXPECT_EQ(s.Names({}, "n"), "c");
  EXPECT_EQ(s.Names({}, "none"), "");
  EXPECT_EQ(s.List({}, "").value().items.size(), 3U);
  return Status::Ok();
}

Status AListIsNoOlderThanItsItems(RestSubject& s) {
  for (const char* name : {"a", "b", "c"}) s.Add(name);
  const auto list = s.List().value();
  for (const auto& item : list.items) {
    EXPECT(Number(item->resource_version()) > 0);
    EXPECT(Number(item->resource_version()) <= Number(list.resource_version));
  }
  return Status::Ok();
}

Status AListShowsEveryAcknowledgedChange(RestSubject& s) {
  std::uint64_t before = Number(s.List()->resource_version);
  for (int i = 0; i < 10; ++i) {
    s.Add("a" + std::to_string(i));
    const auto list = s.List().value();
    EXPECT_EQ(list.items.size(), static_cast<std::size_t>(i + 1));
    EXPECT(Number(list.resource_version) > before);
    before = Number(list.resource_version);
  }
  s.Remove("a5");
  EXPECT_EQ(s.List()->items.size(), 9U);
  EXPECT(Number(s.List()->resource_version) > before);
  return Status::Ok();
}

Status ListsAndGetsAgree(RestSubject& s) {
  for (const char* name : {"a", "b"}) s.Add(name);
  s.Remark("a", "two");
  const auto first = s.List().value();
  const auto second = s.List().value();
  for (std::size_t i = 0; i < first.items.size(); ++i) {
    const auto got = s.Get(s.NameOf(*first.items[i])).value();
    EXPECT_EQ(std::string(got->resource_version()),
              std::string(first.items[i]->resource_version()));
    EXPECT_EQ(std::string(got->uid()), std::string(second.items[i]->uid()));
    EXPECT_EQ(std::string(got->resource_version()),
              std::string(second.items[i]->resource_version()));
  }
  return Status::Ok();
}

Status AChangeLeavesOthersAlone(RestSubject& s) {
  s.Add("a");
  s.Add("b");
  const std::string b(s.Get("b").value()->resource_version());
  const std::string a(s.Get("a").value()->resource_version());
  s.Remark("a", "two");
  EXPECT_EQ(std::string(s.Get("b").value()->resource_version()), b);
  EXPECT(Number(s.Get("a").value()->resource_version()) > Number(a));
  return Status::Ok();
}

Status LabelSelectorsFilterAList(RestSubject& s) {
  s.Add("a", "red");
  s.Add("b", "blue");
  s.Add("c", "red");
  EXPECT_EQ(s.Names(Labelled("kit=red")), "a c");
  EXPECT_EQ(s.Names(Labelled("kit!=red")), "b");
  EXPECT_EQ(s.Names(Labelled("kit in (blue,green)")), "b");
  EXPECT_EQ(s.Names(Labelled("!kit")), "");
  return Status::Ok();
}

Status FieldSelectorsFilterAList(RestSubject& s) {
  s.Add("a", "red");
  s.Add("b", "blue");
  meta::ListOptions options;
  options.field_selector = meta::FieldSelector::Equals("metadata.name", s.HostName("b"));
  EXPECT_EQ(s.Names(options), "b");
  options.field_selector = *meta::FieldSelector::Parse("metadata.name!=" + s.HostName("b"));
  EXPECT_EQ(s.Names(options), "a");
  return Status::Ok();
}

Status SelectorsOfBothKindsFilterAList(RestSubject& s) {
  s.Add("a", "red");
  s.Add("b", "blue");
  meta::ListOptions options = Labelled("kit=red");
  options.field_selector = meta::FieldSelector::Equals("metadata.name", "b");
  EXPECT_EQ(s.Names(options), "");
  options.field_selector = *meta::FieldSelector::Parse("metadata.name!=b");
  EXPECT_EQ(s.Names(options), "a");
  return Status::Ok();
}

Status AnyVersionMayBeAskedFor(RestSubject& s) {
  s.Add("a");
  // A cache may answer for 0 with whatever it has; the list makes it catch up.
  (void)s.List();
  EXPECT(s.List(At("0")).ok());
  EXPECT(s.List(At("0", ResourceVersionMatch::kNotOlderThan)).ok());
  return Status::Ok();
}

Status NotOlderThanIsNow(RestSubject& s) {
  s.Add("a");
  const std::string rv = s.List()->resource_version;
  s.Add("b");
  const std::string now = s.List()->resource_version;
  EXPECT_EQ(s.Names(At(now, ResourceVersionMatch::kNotOlderThan)), "a b");
  const auto list = s.List(At(rv, ResourceVersionMatch::kNotOlderThan));
  EXPECT(list.ok());
  EXPECT(Number(list->resource_version) >= Number(rv));
  return Status::Ok();
}

Status AnExactListShowsThePast(RestSubject& s) {
  s.Add("a");
  s.Add("b");
  const auto then = s.List().value();
  s.Remove("a");
  s.Remark("b", "two");
  s.Add("c");
  const auto exact = s.List(At(then.resource_version, ResourceVersionMatch::kExact));
  EXPECT_EQ(s.NamesOf(exact), "a b");
  EXPECT_EQ(exact->resource_version, then.resource_version);
  EXPECT_EQ(s.MarkOf(*exact->items[1]), "one");
  return Status::Ok();
}

Status AListOfTheFutureIsRefused(RestSubject& s) {
  s.Add("a");
  const std::string future = std::to_string(Number(s.List()->resource_version) + 1'000'000'000'000);
  EXPECT_REASON(s.List(At(future, ResourceVersionMatch::kNotOlderThan)), Reason::kTimeout);
  return Status::Ok();
}

Status AListRefusesABadVersion(RestSubject& s) {
  EXPECT_REASON(s.List(At("yesterday")), Reason::kBadRequest);
  return Status::Ok();
}

Status ATableHasARowForEachItem(RestSubject& s) {
  for (const char* name : {"a", "b", "c"}) s.Add(name);
  const auto list = s.List().value();
  const auto table = s.can().lister->ConvertToTable(s.In("ns"), list.items, {});
  EXPECT(table.ok());
  EXPECT(!table->columns.empty());
  EXPECT_EQ(table->rows.size(), 3U);
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    EXPECT_EQ(table->rows[i].cells.size(), table->columns.size());
    EXPECT(table->rows[i].object != nullptr);
    EXPECT_EQ(std::string(table->rows[i].object->name()), std::string(list.items[i]->name()));
  }
  return Status::Ok();
}

Status AnEmptyTableHasColumns(RestSubject& s) {
  const auto table = s.can().lister->ConvertToTable(s.In("ns"), {}, {});
  EXPECT(table.ok());
  EXPECT(!table->columns.empty());
  EXPECT(table->rows.empty());
  return Status::Ok();
}

Status PagesTogetherHoldAll(RestSubject& s) {
  for (const char* name : {"a", "b", "c", "d", "e"}) s.Add(name);
  const auto first = s.List(Pages(2)).value();
  EXPECT_EQ(s.NamesOf(first), "a b");
  EXPECT(!first.continue_token.empty());
  EXPECT(!first.remaining_item_count || first.remaining_item_count == 3);
  const auto second = s.List(Pages(2, first.continue_token)).value();
  EXPECT_EQ(s.NamesOf(second), "c d");
  EXPECT(!second.continue_token.empty());
  const auto third = s.List(Pages(2, second.continue_token)).value();
  EXPECT_EQ(s.NamesOf(third), "e");
  EXPECT(third.continue_token.empty());
  EXPECT(!third.remaining_item_count);
  return Status::Ok();
}

Status PagesAreOfOneState(RestSubject& s) {
  for (const char* name : {"a", "b", "c", "d"}) s.Add(name);
  const auto first = s.List(Pages(2)).value();
  s.Remove("c");
  s.Add("bb");
  s.Add("e");
  const auto second = s.List(Pages(2, first.continue_token));
  EXPECT_EQ(s.NamesOf(second), "c d");
  EXPECT_EQ(second->resource_version, first.resource_version);
  EXPECT(second->continue_token.empty());
  return Status::Ok();
}

Status PagesOfSelectedObjectsAreFilled(RestSubject& s) {
  for (int i = 0; i < 9; ++i) s.Add("a" + std::to_string(i), i % 3 == 0 ? "red" : "blue");
  meta::ListOptions options = Labelled("kit=red");
  options.limit = 2;
  const auto first = s.List(options).value();
  EXPECT_EQ(s.NamesOf(first), "a0 a3");
  EXPECT(!first.continue_token.empty());
  // The count is of all objects, selected or not: it must not be told.
  EXPECT(!first.remaining_item_count);
  options.continue_token = first.continue_token;
  EXPECT_EQ(s.Names(options), "a6");
  return Status::Ok();
}

Status APageThatHoldsAllIsTheLast(RestSubject& s) {
  for (const char* name : {"a", "b"}) s.Add(name);
  for (const std::int64_t limit : {2, 3, 500}) {
    const auto list = s.List(Pages(limit)).value();
    EXPECT_EQ(s.NamesOf(list), "a b");
    EXPECT(list.continue_token.empty());
    EXPECT(!list.remaining_item_count);
  }
  return Status::Ok();
}

Status PagesCrossNamespaces(RestSubject& s) {
  s.Add("a", "one", "x");
  s.Add("a", "one", "y");
  s.Add("b", "one", "x");
  std::multiset<std::string> seen;
  meta::ListOptions options = Pages(1);
  for (int page = 0; page < 5; ++page) {
    const auto list = s.List(options, "").value();
    for (const auto& item : list.items) {
      seen.insert(std::string(item->namespace_()) + "/" + s.NameOf(*item));
    }
    options.continue_token = list.continue_token;
    if (options.continue_token.empty()) break;
  }
  EXPECT(seen == (std::multiset<std::string>{"x/a", "x/b", "y/a"}));
  return Status::Ok();
}

Status ABadTokenIsRefused(RestSubject& s) {
  s.Add("a");
  EXPECT_REASON(s.List(Pages(1, "not a token")), Reason::kBadRequest);
  return Status::Ok();
}

Status ATokenAllowsNoVersion(RestSubject& s) {
  for (const char* name : {"a", "b"}) s.Add(name);
  const auto first = s.List(Pages(1)).value();
  meta::ListOptions options = Pages(1, first.continue_token);
  options.resource_version = first.resource_version;
  EXPECT_REASON(s.List(options), Reason::kBadRequest);
  return Status::Ok();
}

Status AnExactListOfWhatIsForgottenHasExpired(RestSubject& s) {
  s.Add("a");
  const std::string then = s.Now();
  s.Remark("a", "two");
  s.Remark("a", "three");
  s.Forget(s.Now());
  const auto list = s.List(At(then, ResourceVersionMatch::kExact));
  EXPECT_REASON(list, Reason::kExpired);
  EXPECT_EQ(list.status().code(), 410);
  return Status::Ok();
}

Status AnExpiredTokenComesWithANewOne(RestSubject& s) {
  for (const char* name : {"a", "b", "c"}) s.Add(name);
  const auto first = s.List(Pages(1)).value();
  s.Remove("c");
  s.Remark("a", "two");
  s.Remark("a", "three");
  s.Forget(s.Now());
  const auto second = s.List(Pages(1, first.continue_token));
  EXPECT_REASON(second, Reason::kExpired);
  const std::string token(second.status().continue_token());
  EXPECT(!token.empty());
  EXPECT_EQ(s.Names(Pages(5, token)), "b");
  return Status::Ok();
}

}  // namespace

RestCaseTable GetCases() {
  return {
      {"storage: New returns an empty object", 0, NewIsAnEmptyObject},
      {"storage: Destroy may be called twice", 0, DestroyMayComeTwice},
      {"get: returns the object with its system fields", kGet, GetReturnsWhatIsThere},
      {"get: an absent object is 404 with its name", kGet, GetOfNothingIsNotFound},
      {"get: looks in the namespace of the request", kGet | kNamespaces, GetLooksInItsNamespace},
      {"get: takes resourceVersions that have been", kGet, GetTakesEveryVersionThatHasBeen},
      {"get: a bad resourceVersion is 400", kGet, GetRefusesABadVersion},
      {"get: shows every acknowledged change", kGet, GetShowsEveryAcknowledgedChange},
  };
}

RestCaseTable ListCases() {
  return {
      {"list: an empty list has a resourceVersion", kList, AnEmptyListHasAVersion},
      {"list: holds all objects ordered by name", kList, AListHoldsAllByName},
      {"list: holds the namespace of the request, or all", kList | kNamespaces,
       AListHoldsItsNamespace},
      {"list: its resourceVersion is no older than its items'", kList, AListIsNoOlderThanItsItems},
      {"list: shows every acknowledged change and moves on", kList,
       AListShowsEveryAcknowledgedChange},
      {"list: agrees with gets and other lists", kReads, ListsAndGetsAgree},
      {"list: a change gives one object a new resourceVersion", kReads, AChangeLeavesOthersAlone},
      {"list: label selectors filter", kList | kLabels, LabelSelectorsFilterAList},
      {"list: metadata.name as a field selector filters", kList, FieldSelectorsFilterAList},
      {"list: label and field selectors filter together", kList | kLabels,
       SelectorsOfBothKindsFilterAList},
      {"list: resourceVersion 0 is any state", kList, AnyVersionMayBeAskedFor},
      {"list: NotOlderThan shows that state or a newer one", kList, NotOlderThanIsNow},
      {"list: Exact shows the past", kList, AnExactListShowsThePast},
      {"list: a resourceVersion of the future times out", kList, AListOfTheFutureIsRefused},
      {"list: a bad resourceVersion is 400", kList, AListRefusesABadVersion},
      {"list: an Exact list of what is forgotten is 410", kList | kExpiry,
       AnExactListOfWhatIsForgottenHasExpired},
      {"table: has a row for each item, in order", kList, ATableHasARowForEachItem},
      {"table: has columns without items", kList, AnEmptyTableHasColumns},
  };
}

RestCaseTable PageCases() {
  return {
      {"pages: together hold all objects once", kList, PagesTogetherHoldAll},
      {"pages: are of the first page's state", kList, PagesAreOfOneState},
      {"pages: are filled with selected objects", kList | kLabels, PagesOfSelectedObjectsAreFilled},
      {"pages: one that holds all is the last", kList, APageThatHoldsAllIsTheLast},
      {"pages: cross namespaces", kList | kNamespaces, PagesCrossNamespaces},
      {"pages: a bad continue token is 400", kList, ABadTokenIsRefused},
      {"pages: continue and resourceVersion together are 400", kList, ATokenAllowsNoVersion},
      {"pages: an expired token is 410 and comes with a new one", kList | kExpiry,
       AnExpiredTokenComesWithANewOne},
  };
}

}  // namespace apiserver::v0::testing::storage::rest_kit
