#include "storage/etcd/range.h"

#include "storage/etcd/fake_range.h"
#include "storage/etcd/fixture.h"

// A list that is read in pages: how large they are, and what ends it.
namespace apiserver::inline v0::storage::etcd {
namespace {

struct Lister {
  ~Lister() {
    client->Stop();
    client->Drain();
  }
  void Add(int from, int to, std::size_t bytes) {
    for (int i = from; i < to; ++i) rpc->values[KeyOf(i)] = std::string(bytes, 'v');
  }
  Result<kv::RangeResponse> List(bool keys_only = false) {
    std::optional<Result<kv::RangeResponse>> list;
    (void)StartRange(client, {.key = "/p/", .end = "/p0", .keys_only = keys_only},
                     Clock::Monotonic::max(),
                     [&](Result<kv::RangeResponse> result) { list = std::move(result); });
    return std::move(list).value();
  }

  std::shared_ptr<FakeRange> rpc = std::make_shared<FakeRange>();
  Timers timers;
  std::shared_ptr<Client> client = std::make_shared<Client>(rpc, timers, "fake");
};

TEST_CASE("storage.etcd: the pages of a list of small objects have many keys", "[storage.etcd]") {
  Lister lister;
  lister.Add(0, 20'000, 100);
  const auto list = Must(lister.List());
  REQUIRE(list.kvs.size() == 20'000);
  CHECK(list.count == 20'000);
  CHECK_FALSE(list.more);
  CHECK(list.revision == 7);
  CHECK(list.kvs[12'345].key == KeyOf(12'345));
  CHECK(*list.kvs.back().value == std::string(100, 'v'));
  const auto asked = lister.rpc->asked();
  CHECK(asked.size() < 10);
  CHECK(asked.front().revision == 0);
  for (std::size_t i = 1; i < asked.size(); ++i) CHECK(asked[i].revision == 7);
}

TEST_CASE("storage.etcd: the pages of a list of large objects have few keys", "[storage.etcd]") {
  Lister lister;
  lister.Add(0, 700, 100'000);
  CHECK(Must(lister.List()).kvs.size() == 700);
  const auto asked = lister.rpc->asked();
  REQUIRE(asked.size() > 2);
  CHECK(asked[1].bytes < 5'000'000);
}

TEST_CASE("storage.etcd: a page of a list that is too long is asked for with fewer keys",
          "[storage.etcd]") {
  Lister lister;
  lister.Add(0, 400, 400'000);
  CHECK(Must(lister.List()).kvs.size() == 400);
  const auto asked = lister.rpc->asked();
  CHECK(asked[0].bytes == 0);
  CHECK(asked[1].limit == asked[0].limit / 8);
}

TEST_CASE("storage.etcd: a list of keys alone has no values", "[storage.etcd]") {
  Lister lister;
  lister.Add(0, 3, 10);
  for (const kv::KeyValue& kv : Must(lister.List(true)).kvs) CHECK(kv.value == nullptr);
}

TEST_CASE("storage.etcd: a list whose page cannot be read fails", "[storage.etcd]") {
  Lister lister;
  lister.rpc->answer_instead = "\x12\x7f";
  CHECK(lister.List().status().message() == "etcd (fake): the answer cannot be read");
}

TEST_CASE("storage.etcd: a list takes no memory for keys that are only announced",
          "[storage.etcd]") {
  wire::RangeResponse page;
  page.mutable_header()->set_revision(7);
  page.add_kvs()->set_key("/p/1");
  page.set_more(true);
  page.set_count(std::int64_t{1} << 62);
  Lister lister;
  lister.rpc->answer_instead = page.SerializeAsString();
  lister.rpc->fail_at = 2;
  lister.rpc->fail_with = {RpcCode::kPermissionDenied, "etcdserver: permission denied"};
  CHECK_FALSE(lister.List().ok());
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
