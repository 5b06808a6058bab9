#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases about leases, which delete their keys when they expire.
namespace apiserver::v0::testing::storage {
namespace {

using std::chrono::seconds;

Result<kv::LeaseId> Grant(Subject& s, int ttl) {
  return s.engine().GrantLease(Context::Background(), seconds(ttl));
}

bool Gone(Subject& s, const std::string& key) {
  auto kv = s.Get(key);
  return kv.ok() && kv->value == nullptr;
}

Status EndsItsKeys(Subject& s) {
  ASSIGN_OR_RETURN(const kv::LeaseId lease, Grant(s, 2));
  EXPECT(lease != 0);
  RETURN_IF_ERROR(s.Create("a", "1", lease).status());
  RETURN_IF_ERROR(s.Create("b", "1").status());
  ASSIGN_OR_RETURN(const auto kv, s.Get("a"));
  EXPECT_EQ(kv.lease, lease);
  s.clock().Advance(seconds(1));
  EXPECT(!Gone(s, "a"));
  s.clock().Advance(seconds(2));
  EXPECT(Eventually([&s] { return Gone(s, "a"); }));
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "b=1");
  // The end of a lease is a write: the state before it stays readable.
  ASSIGN_OR_RETURN(const std::string then, s.Text("", 3));
  EXPECT_EQ(then, "a=1 b=1");
  return Status::Ok();
}

Status EndIsAnEvent(Subject& s) {
  ASSIGN_OR_RETURN(const kv::LeaseId lease, Grant(s, 1));
  RETURN_IF_ERROR(s.Create("a", "1", lease).status());
  RETURN_IF_ERROR(s.Create("b", "2", lease).status());
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 0));
  s.clock().Advance(seconds(2));
  // No call reaches the engine: it must delete the keys on its own.
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(5));
  EXPECT_EQ(TextOf(events), "delete a@4 was 1@2, delete b@5 was 2@3");
  EXPECT_EQ(events[0].previous.lease, lease);
  EXPECT_EQ(events[0].kv.lease, 0);
  return Status::Ok();
}

Status LeftKeysStay(Subject& s) {
  ASSIGN_OR_RETURN(const kv::LeaseId shorter, Grant(s, 1));
  ASSIGN_OR_RETURN(const kv::LeaseId longer, Grant(s, 3600));
  for (const char* key : {"detached", "ended", "moved"}) {
    RETURN_IF_ERROR(s.Create(key, "1", shorter).status());
  }
  // An update without a lease detaches the key, as in etcd.
  RETURN_IF_ERROR(s.Update("detached", "2").status());
  RETURN_IF_ERROR(s.Update("moved", "2", longer).status());
  s.clock().Advance(seconds(5));
  EXPECT(Eventually([&s] { return Gone(s, "ended"); }));
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "detached=2 moved=2");
  ASSIGN_OR_RETURN(const auto moved, s.Get("moved"));
  EXPECT_EQ(moved.lease, longer);
  return Status::Ok();
}

Status DeletedKeysAreLeft(Subject& s) {
  ASSIGN_OR_RETURN(const kv::LeaseId lease, Grant(s, 1));
  RETURN_IF_ERROR(s.Create("a", "1", lease).status());
  RETURN_IF_ERROR(s.Create("b", "1", lease).status());
  RETURN_IF_ERROR(s.Delete("a").status());
  // Another key of the same name, without a lease.
  RETURN_IF_ERROR(s.Create("a", "mine").status());
  s.clock().Advance(seconds(5));
  EXPECT(Eventually([&s] { return Gone(s, "b"); }));
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "a=mine");
  return Status::Ok();
}

Status UnknownLease(Subject& s) {
  EXPECT_REASON(s.Create("a", "1", 4711), Reason::kNotFound);
  EXPECT(Gone(s, "a"));
  return Status::Ok();
}

Status EndedLease(Subject& s) {
  ASSIGN_OR_RETURN(const kv::LeaseId lease, Grant(s, 1));
  RETURN_IF_ERROR(s.Create("a", "1", lease).status());
  s.clock().Advance(seconds(5));
  EXPECT(Eventually([&s] { return Gone(s, "a"); }));
  EXPECT(
      // An engine may delete the keys first and forget the lease a little later.
      Eventually([&] { return s.Create("b", "1", lease).status().reason() == Reason::kNotFound; }));
  return Status::Ok();
}

Status BadTtl(Subject& s) {
  EXPECT_REASON(Grant(s, 0), Reason::kInvalid);
  EXPECT_REASON(Grant(s, -1), Reason::kInvalid);
  return Status::Ok();
}

Status NoRevision(Subject& s) {
  ASSIGN_OR_RETURN(const kv::LeaseId one, Grant(s, 1));
  ASSIGN_OR_RETURN(const kv::LeaseId two, Grant(s, 1));
  EXPECT(one != two);
  s.clock().Advance(seconds(5));
  ASSIGN_OR_RETURN(const Revision revision, s.Current());
  EXPECT_EQ(revision, 1);
  return Status::Ok();
}

}  // namespace

CaseTable LeaseCases() {
  return {
      {"a lease ends its keys when its time is over", EndsItsKeys},
      {"the end of a lease is a deletion of every key by itself", EndIsAnEvent, true},
      {"keys that left a lease outlive it", LeftKeysStay},
      {"a key that was deleted has left its lease", DeletedKeysAreLeft},
      {"an unknown lease is not found", UnknownLease},
      {"an ended lease is not found", EndedLease},
      {"a lease needs a positive time to live", BadTtl},
      {"a lease without keys makes no revision", NoRevision},
  };
}

}  // namespace apiserver::v0::testing::storage
