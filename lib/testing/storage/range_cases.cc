#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases about reads of a key and of ranges.
namespace apiserver::v0::testing::storage {
namespace {

Status Fill(Subject& s, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) RETURN_IF_ERROR(s.Create(key, "v").status());
  return Status::Ok();
}

Result<kv::RangeResponse> Read(Subject& s, const kv::RangeRequest& request) {
  return s.engine().Range(Context::Background(), request);
}

Status SingleKey(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "a/", "ab", "b"}));
  ASSIGN_OR_RETURN(const auto response, Read(s, {.key = "a", .end = ""}));
  EXPECT_EQ(TextOf(response.kvs), "a=v");
  EXPECT_EQ(response.count, 1U);
  EXPECT(!response.more);
  ASSIGN_OR_RETURN(const auto missing, Read(s, {.key = "aa", .end = ""}));
  EXPECT_EQ(missing.count, 0U);
  EXPECT(missing.kvs.empty());
  return Status::Ok();
}

Status PrefixOnly(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"/pods", "/pods/a", "/pods/b", "/pods0", "/podsx/c"}));
  // The neighbours differ from the prefix in its last byte, or end before it.
  ASSIGN_OR_RETURN(const std::string text, s.Text("/pods/"));
  EXPECT_EQ(text, "/pods/a=v /pods/b=v");
  return Status::Ok();
}

Status ByteOrder(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"b", "\xc3\xa9", "a", "\x7f", "a/b", "a-b", "B"}));
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "B=v a=v a-b=v a/b=v b=v \x7f=v \xc3\xa9=v");
  return Status::Ok();
}

Status ZeroEnd(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "b", "c", "\xff\xff"}));
  // etcd's notation for a range without an end.
  kv::RangeRequest request{.key = "b", .end = std::string(1, '\0')};
  ASSIGN_OR_RETURN(const auto response, Read(s, request));
  EXPECT_EQ(TextOf(response.kvs), "b=v c=v \xff\xff=v");
  EXPECT_EQ(response.count, 3U);
  return Status::Ok();
}

Status HalfOpen(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "b", "c", "d"}));
  ASSIGN_OR_RETURN(const auto response, Read(s, {.key = "b", .end = "d"}));
  EXPECT_EQ(TextOf(response.kvs), "b=v c=v");
  ASSIGN_OR_RETURN(const auto empty, Read(s, {.key = "c", .end = "b"}));
  EXPECT_EQ(empty.count, 0U);
  EXPECT(empty.kvs.empty());
  return Status::Ok();
}

Status Limit(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "b", "c", "d", "e"}));
  ASSIGN_OR_RETURN(const auto cut, s.List("", 0, 2));
  EXPECT_EQ(TextOf(cut.kvs), "a=v b=v");
  EXPECT(cut.more);
  EXPECT_EQ(cut.count, 5U);
  ASSIGN_OR_RETURN(const auto exact, s.List("", 0, 5));
  EXPECT(!exact.more);
  EXPECT_EQ(exact.kvs.size(), 5U);
  return Status::Ok();
}

Status LimitOfThePast(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "b", "c", "d", "e"}));
  RETURN_IF_ERROR(s.Delete("d").status());
  RETURN_IF_ERROR(s.Tick().status());
  ASSIGN_OR_RETURN(const auto cut, s.List("", 6, 2));
  EXPECT_EQ(TextOf(cut.kvs), "a=v b=v");
  EXPECT(cut.more);
  EXPECT_EQ(cut.count, 5U);
  // The response has the store's revision, not the one that was read.
  EXPECT_EQ(cut.revision, 8);
  ASSIGN_OR_RETURN(const auto exact, s.List("", 6, 5));
  EXPECT(!exact.more);
  return Status::Ok();
}

Status KeysOnly(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "b"}));
  RETURN_IF_ERROR(s.Update("a", "2").status());
  for (const Revision at : {Revision{0}, Revision{3}}) {
    kv::RangeRequest request{.key = "a", .end = "c"};
    request.at_revision = at;
    request.keys_only = true;
    ASSIGN_OR_RETURN(const auto response, Read(s, request));
    EXPECT_EQ(response.kvs.size(), 2U);
    EXPECT(response.kvs[0].value == nullptr);
    // The revisions come without the values, which suffices to see what changed.
    EXPECT_EQ(response.kvs[0].mod_revision, at == 0 ? 4 : 2);
  }
  return Status::Ok();
}

Status CountOnly(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "b", "c"}));
  RETURN_IF_ERROR(s.Delete("b").status());
  for (const auto& [at, count] : {std::pair{0, 2U}, std::pair{4, 3U}}) {
    kv::RangeRequest request{.key = "a", .end = "z"};
    request.at_revision = at;
    request.count_only = true;
    // A limit must not limit the count.
    request.limit = 1;
    ASSIGN_OR_RETURN(const auto response, Read(s, request));
    EXPECT(response.kvs.empty());
    EXPECT_EQ(response.count, count);
  }
  return Status::Ok();
}

Status PagesOfOneRevision(Subject& s) {
  RETURN_IF_ERROR(Fill(s, {"a", "b", "c", "d", "e"}));
  std::string all;
  std::string from = "a";
  for (int page = 0; page < 3; ++page) {
    kv::RangeRequest request{.key = from, .end = std::string(1, '\0'), .limit = 2};
    request.at_revision = 6;
    ASSIGN_OR_RETURN(const auto response, Read(s, request));
    EXPECT_EQ(response.more, page < 2);
    all += TextOf(response.kvs) + ";";
    // The immediate successor of the last key, as a continue token has it.
    from = response.kvs.back().key + '\0';
    RETURN_IF_ERROR(s.Create("b" + std::to_string(page), "new").status());
    if (page == 0) RETURN_IF_ERROR(s.Delete("d").status());
    if (page == 1) RETURN_IF_ERROR(s.Update("e", "new").status());
  }
  EXPECT_EQ(all, "a=v b=v;c=v d=v;e=v;");
  return Status::Ok();
}

Status RangeOfManyKeys(Subject& s) {
  for (int i = 0; i < 500; ++i) {
    RETURN_IF_ERROR(s.Create("/k/" + std::to_string(1000 + i), std::to_string(i)).status());
  }
  for (int i = 0; i < 500; i += 2) {
    RETURN_IF_ERROR(s.Delete("/k/" + std::to_string(1000 + i)).status());
  }
  ASSIGN_OR_RETURN(const auto now, s.List("/k/"));
  EXPECT_EQ(now.kvs.size(), 250U);
  for (int i = 0; i < 250; ++i) EXPECT_EQ(*now.kvs[i].value, std::to_string(2 * i + 1));
  ASSIGN_OR_RETURN(const auto then, s.List("/k/", 501));
  EXPECT_EQ(then.kvs.size(), 500U);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(*then.kvs[i].value, std::to_string(i));
  return Status::Ok();
}

}  // namespace

CaseTable RangeCases() {
  return {
      {"a single key is not its neighbours", SingleKey},
      {"a prefix ends where it ends", PrefixOnly},
      {"keys come in the order of their bytes", ByteOrder},
      {"an end of one zero byte means all keys from there on", ZeroEnd},
      {"a range excludes its end and may be empty", HalfOpen},
      {"a limit cuts the answer but not the count", Limit},
      {"a limit cuts the past likewise", LimitOfThePast},
      {"keys_only leaves the values out", KeysOnly},
      {"count_only leaves everything out", CountOnly},
      {"pages of one revision are not disturbed by writes", PagesOfOneRevision},
      {"hundreds of keys are read now and in the past", RangeOfManyKeys},
  };
}

}  // namespace apiserver::v0::testing::storage
