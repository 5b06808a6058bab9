#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases about conditional writes, their results and their revisions.
namespace apiserver::v0::testing::storage {
namespace {

Status WriteToEmptyStore(Subject& s) {
  ASSIGN_OR_RETURN(const Revision revision, s.Current());
  EXPECT_EQ(revision, 1);
  ASSIGN_OR_RETURN(const auto list, s.List(""));
  EXPECT_EQ(list.count, 0U);
  EXPECT_EQ(list.revision, 1);
  EXPECT_EQ(s.engine().CompactedRevision(), 0);
  EXPECT(s.engine().Ready().ok());
  return Status::Ok();
}

Status CreateIsReadable(Subject& s) {
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 0, "1"));
  EXPECT(response.succeeded);
  EXPECT_EQ(response.revision, 2);
  // The response has the state before the write: the key was absent.
  EXPECT_EQ(response.kv.mod_revision, 0);
  EXPECT(response.kv.value == nullptr);
  ASSIGN_OR_RETURN(const auto kv, s.Get("a"));
  EXPECT_EQ(kv.key, "a");
  EXPECT_EQ(*kv.value, "1");
  EXPECT_EQ(kv.create_revision, 2);
  EXPECT_EQ(kv.mod_revision, 2);
  EXPECT_EQ(kv.lease, 0);
  return Status::Ok();
}

Status CreateOfTakenKey(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Tick().status());
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 0, "2"));
  EXPECT(!response.succeeded);
  EXPECT_EQ(response.revision, 3);
  EXPECT_EQ(response.kv.key, "a");
  EXPECT_EQ(*response.kv.value, "1");
  EXPECT_EQ(response.kv.mod_revision, 2);
  return Status::Ok();
}

Status UpdateReplaces(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 2, "2"));
  EXPECT(response.succeeded);
  EXPECT_EQ(response.revision, 3);
  EXPECT_EQ(*response.kv.value, "1");
  EXPECT_EQ(response.kv.mod_revision, 2);
  ASSIGN_OR_RETURN(const auto kv, s.Get("a"));
  EXPECT_EQ(*kv.value, "2");
  EXPECT_EQ(kv.create_revision, 2);
  EXPECT_EQ(kv.mod_revision, 3);
  return Status::Ok();
}

Status UpdateOfStale(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Update("a", "2").status());
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 2, "3"));
  EXPECT(!response.succeeded);
  EXPECT_EQ(*response.kv.value, "2");
  EXPECT_EQ(response.kv.mod_revision, 3);
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "a=2");
  return Status::Ok();
}

Status UpdateOfMissing(Subject& s) {
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 7, "1"));
  EXPECT(!response.succeeded);
  EXPECT_EQ(response.kv.mod_revision, 0);
  EXPECT(response.kv.value == nullptr);
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "");
  return Status::Ok();
}

Status DeleteReturnsWhatWas(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 2, std::nullopt));
  EXPECT(response.succeeded);
  EXPECT_EQ(response.revision, 3);
  EXPECT_EQ(*response.kv.value, "1");
  EXPECT_EQ(response.kv.mod_revision, 2);
  ASSIGN_OR_RETURN(const auto kv, s.Get("a"));
  EXPECT_EQ(kv.mod_revision, 0);
  return Status::Ok();
}

Status DeleteOfStale(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Update("a", "2").status());
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 2, std::nullopt));
  EXPECT(!response.succeeded);
  EXPECT_EQ(*response.kv.value, "2");
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "a=2");
  return Status::Ok();
}

Status DeleteOfMissing(Subject& s) {
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 2, std::nullopt));
  EXPECT(!response.succeeded);
  EXPECT_EQ(response.kv.mod_revision, 0);
  return Status::Ok();
}

Status RecreatedKey(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Delete("a").status());
  ASSIGN_OR_RETURN(const auto response, s.Txn("a", 0, "2"));
  EXPECT(response.succeeded);
  EXPECT(response.kv.value == nullptr);
  ASSIGN_OR_RETURN(const auto kv, s.Get("a"));
  EXPECT_EQ(kv.create_revision, 4);
  EXPECT_EQ(kv.mod_revision, 4);
  return Status::Ok();
}

Status UnconditionalDelete(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  // Zero expects the key to be absent, so that the deletion could never have an effect.
  EXPECT_REASON(s.Txn("a", 0, std::nullopt), Reason::kInvalid);
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "a=1");
  return Status::Ok();
}

Status EmptyKey(Subject& s) {
  EXPECT_REASON(s.Txn("", 0, "1"), Reason::kInvalid);
  return Status::Ok();
}

Status RevisionsCountWrites(Subject& s) {
  for (int i = 0; i < 20; ++i) {
    ASSIGN_OR_RETURN(const Revision revision, s.Create("k" + std::to_string(i), "v"));
    // An empty store is at revision 1.
    EXPECT_EQ(revision, i + 2);
  }
  ASSIGN_OR_RETURN(const Revision deleted, s.Delete("k3"));
  // A deletion has a revision of its own.
  EXPECT_EQ(deleted, 22);
  return Status::Ok();
}

Status FailureMakesNoRevision(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Txn("a", 0, "2").status());
  // As in etcd, where a transaction without a write keeps the revision.
  RETURN_IF_ERROR(s.Txn("b", 9, "2").status());
  RETURN_IF_ERROR(s.Txn("a", 9, std::nullopt).status());
  ASSIGN_OR_RETURN(const Revision revision, s.Current());
  EXPECT_EQ(revision, 2);
  return Status::Ok();
}

Status SameValueIsAWrite(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  // An engine does not compare values: that is for the storage above it.
  ASSIGN_OR_RETURN(const Revision revision, s.Update("a", "1"));
  EXPECT_EQ(revision, 3);
  return Status::Ok();
}

Status EmptyValue(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "").status());
  ASSIGN_OR_RETURN(const auto kv, s.Get("a"));
  // Null means an absent key, and must differ from an empty value.
  EXPECT(kv.value != nullptr);
  EXPECT_EQ(*kv.value, "");
  RETURN_IF_ERROR(s.Update("a", "1").status());
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 1));
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(3));
  EXPECT_EQ(TextOf(events), "create a=@2, put a=1@3 was @2");
  return Status::Ok();
}

Status BinaryBytes(Subject& s) {
  // Zero bytes end strings in C, and 0xff has no successor in the byte order.
  const std::string key("\x01\0\xff\0k", 5);
  const std::string value("\0\xff\0", 3);
  RETURN_IF_ERROR(s.Create(key, value).status());
  // The immediate successor of the key, which a read of the key must not include.
  RETURN_IF_ERROR(s.Create(key + '\0', "longer").status());
  ASSIGN_OR_RETURN(const auto kv, s.Get(key));
  EXPECT(kv.key == key);
  EXPECT(*kv.value == value);
  RETURN_IF_ERROR(s.Update(key, "2").status());
  ASSIGN_OR_RETURN(const auto old, s.Get(key, 2));
  EXPECT(*old.value == value);
  ASSIGN_OR_RETURN(const auto longer, s.Get(key + '\0'));
  EXPECT_EQ(*longer.value, "longer");
  return Status::Ok();
}

Status LongKeys(Subject& s) {
  // Longer than any key of Kubernetes, whose names have 253 characters at most.
  const std::string key = "/registry/" + std::string(4000, 'k');
  RETURN_IF_ERROR(s.Create(key, "1").status());
  ASSIGN_OR_RETURN(const auto kv, s.Get(key));
  EXPECT_EQ(*kv.value, "1");
  return Status::Ok();
}

Status CancelledContext(Subject& s) {
  const Context ctx = Context::Child(Context::Background());
  // Cancelled before the call, so that there must be no write at all.
  ctx.Cancel(Status(Reason::kTimeout, "gone"));
  kv::TxnRequest request;
  request.key = "a";
  request.value = std::make_shared<const std::string>("1");
  EXPECT_REASON(s.engine().Txn(ctx, request), Reason::kTimeout);
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "");
  return Status::Ok();
}

Status AsyncOutcome(Subject& s) {
  Notification done;
  Status outcome;
  kv::TxnResponse answer;
  kv::TxnRequest request;
  request.key = "a";
  request.value = std::make_shared<const std::string>("1");
  s.engine().TxnAsync(Context::Background(), request, [&](Result<kv::TxnResponse> response) {
    outcome = response.status();
    if (response.ok()) answer = *response;
    done.Notify();
  });
  EXPECT(done.WaitFor(std::chrono::seconds(10)));
  RETURN_IF_ERROR(outcome);
  EXPECT(answer.succeeded);
  EXPECT_EQ(answer.revision, 2);
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "a=1");
  return Status::Ok();
}

Status AsyncRevision(Subject& s) {
  ASSIGN_OR_RETURN(const Revision written, s.Create("a", "1"));
  Notification done;
  Result<Revision> told = Status(Reason::kTimeout, "nothing came");
  s.engine().CurrentRevisionAsync(Context::Background(), [&](Result<Revision> revision) {
    told = std::move(revision);
    done.Notify();
  });
  EXPECT(done.WaitFor(std::chrono::seconds(10)));
  RETURN_IF_ERROR(told.status());
  EXPECT_EQ(*told, written);
  return Status::Ok();
}

Status NoBlocking(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  const Context loop = Context::Background().WithMayBlock(false);
  kv::RangeRequest range;
  range.key = "a";
  // An engine in memory can answer without blocking; a remote one returns kWouldBlock.
  auto read = s.engine().Range(loop, range);
  if (read.ok()) {
    EXPECT_EQ(TextOf(read->kvs), "a=1");
  } else {
    EXPECT_REASON(read, Reason::kWouldBlock);
  }
  kv::TxnRequest request;
  request.key = "b";
  request.value = std::make_shared<const std::string>("2");
  auto written = s.engine().Txn(loop, request);
  ASSIGN_OR_RETURN(const std::string text, s.Text("b"));
  if (written.ok()) {
    EXPECT_EQ(text, "b=2");
  } else {
    EXPECT_REASON(written, Reason::kWouldBlock);
    EXPECT_EQ(text, "");
  }
  return Status::Ok();
}

}  // namespace

CaseTable WriteCases() {
  return {
      {"a new store is at revision 1 and holds nothing", WriteToEmptyStore},
      {"a create has the next revision and is readable", CreateIsReadable},
      {"a create of a taken key fails and tells what holds it", CreateOfTakenKey},
      {"an update keeps the create revision and returns what was there", UpdateReplaces},
      {"an update of a stale revision fails and tells what is there", UpdateOfStale},
      {"an update of a missing key fails with nothing", UpdateOfMissing},
      {"a delete removes the key and returns what was there", DeleteReturnsWhatWas},
      {"a delete of a stale revision changes nothing", DeleteOfStale},
      {"a delete of a missing key fails", DeleteOfMissing},
      {"a key that is created again starts over", RecreatedKey},
      {"a delete without an expected revision is invalid", UnconditionalDelete},
      {"an empty key is invalid", EmptyKey},
      {"every write of any key has the next revision", RevisionsCountWrites},
      {"a failed comparison makes no revision", FailureMakesNoRevision},
      {"writing the same value again is a write", SameValueIsAWrite},
      {"an empty value is a value", EmptyValue},
      {"keys and values are any bytes", BinaryBytes},
      {"a key of 4000 bytes is stored", LongKeys},
      {"a cancelled context writes nothing", CancelledContext},
      {"an asynchronous write hands its outcome over", AsyncOutcome},
      {"the revision is told to who has no thread to wait on", AsyncRevision},
      {"who may not wait is answered or told so, with nothing changed", NoBlocking},
  };
}

}  // namespace apiserver::v0::testing::storage
