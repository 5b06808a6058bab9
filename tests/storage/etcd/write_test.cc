#include "storage/etcd/client.h"
#include "storage/etcd/fixture.h"

// Writes whose answer or request is lost.
namespace apiserver::inline v0::storage::etcd {
namespace {

using Loss = LossyRpc::Loss;

TEST_CASE("storage.etcd: a create whose answer was lost is found", "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  lossy.rpc->LoseNext(kTxnMethod, Loss::kAnswer);
  CHECK(Must(lossy.subject->Create("a", "1")) == 2);
  CHECK(lossy.rpc->Calls(kTxnMethod) == 1);
  CHECK(Must(lossy.subject->Current()) == 2);
}

TEST_CASE("storage.etcd: an update whose answer was lost is found with what was before",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  Must(lossy.subject->Create("a", "1"));
  lossy.rpc->LoseNext(kTxnMethod, Loss::kAnswer);
  const auto response = Must(lossy.subject->Txn("a", 2, "2"));
  CHECK(response.succeeded);
  CHECK(response.revision == 3);
  CHECK(response.kv.mod_revision == 2);
  CHECK(*response.kv.value == "1");
  CHECK(lossy.rpc->Calls(kTxnMethod) == 2);
}

TEST_CASE("storage.etcd: a write that did not arrive is sent again", "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  lossy.rpc->LoseNext(kTxnMethod, Loss::kRequest);
  CHECK(Must(lossy.subject->Create("a", "1")) == 2);
  CHECK(lossy.rpc->Calls(kTxnMethod) == 2);
  lossy.rpc->LoseNext(kTxnMethod, Loss::kRequest);
  CHECK(Must(lossy.subject->Delete("a")) == 3);
  CHECK(Must(lossy.subject->Text("")) == "");
}

TEST_CASE("storage.etcd: a lost write that somebody else has overtaken has no known outcome",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  const auto other = OpenSubject(OptionsFor(server->urls()));
  Must(lossy.subject->Create("a", "1"));
  lossy.rpc->LoseNext(kTxnMethod, Loss::kAnswer);
  lossy.rpc->Meanwhile([&other] { (void)other->Update("a", "theirs"); });
  const Status status = lossy.subject->Txn("a", 2, "ours").status();
  CHECK(status.reason() == Reason::kTimeout);
  CHECK(status.message() ==
        "the outcome of the write is unknown: it may have happened or may yet: Socket closed");
  CHECK(Must(lossy.subject->Text("")) == "a=theirs");
}

TEST_CASE("storage.etcd: the same bytes written by somebody else later are not taken for ours",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  const auto other = OpenSubject(OptionsFor(server->urls()));
  Must(lossy.subject->Create("a", "1"));
  lossy.rpc->LoseNext(kTxnMethod, Loss::kRequest);
  lossy.rpc->Meanwhile([&other] {
    (void)other->Update("a", "2");
    (void)other->Update("a", "ours");
  });
  CHECK(lossy.subject->Txn("a", 2, "ours").status().reason() == Reason::kTimeout);
}

TEST_CASE("storage.etcd: a deletion whose answer was lost has no known outcome", "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  Must(lossy.subject->Create("a", "1"));
  lossy.rpc->LoseNext(kTxnMethod, Loss::kAnswer);
  CHECK(lossy.subject->Txn("a", 2, std::nullopt).status().reason() == Reason::kTimeout);
  CHECK(lossy.rpc->Calls(kTxnMethod) == 2);
}

TEST_CASE("storage.etcd: a read whose answer was lost is repeated", "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  Must(lossy.subject->Create("a", "1"));
  lossy.rpc->LoseNext(kRangeMethod, Loss::kAnswer);
  CHECK(Must(lossy.subject->Text("")) == "a=1");
}

TEST_CASE("storage.etcd: one read of the revision serves all who asked before it was sent",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server);
  const int before = lossy.rpc->Calls(kRangeMethod);
  lossy.rpc->Hold(kRangeMethod);
  std::atomic<int> right = 0;
  std::atomic<int> begun = 0;
  std::vector<Thread> callers;
  for (int i = 0; i < 64; ++i) {
    callers.emplace_back("caller", [&] {
      ++begun;
      const auto revision = lossy.subject->Current();
      if (revision.ok() && *revision == 1) ++right;
    });
  }
  // One has been sent; the others wait for the next, whoever comes when.
  REQUIRE(Eventually([&] { return begun == 64 && lossy.rpc->Calls(kRangeMethod) > before; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  lossy.rpc->Release();
  for (Thread& caller : callers) caller.Join();
  CHECK(right == 64);
  // Besides, health is looked at once a second, of however many there are on a busy machine; each
  // for itself it would be 64.
  CHECK(lossy.rpc->Calls(kRangeMethod) - before <= 48);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
