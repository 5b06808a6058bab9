#include "storage/etcd/pages.h"

#include "storage/etcd/fake_range.h"
#include "storage/etcd/fixture.h"

// A prefix that is read in pages: how large they are, and how many are in memory.
namespace apiserver::inline v0::storage::etcd {
namespace {

constexpr PageSize::Limits kSmall{.bytes = 10'000, .bytes_max = 40'000, .first = 10, .last = 20};

struct Reader {
  explicit Reader(int keys, std::size_t bytes = 100) { Add(0, keys, bytes); }
  ~Reader() {
    client->Stop();
    client->Drain();
  }
  void Add(int from, int to, std::size_t bytes) {
    for (int i = from; i < to; ++i) rpc->values[KeyOf(i)] = std::string(bytes, 'v');
  }
  void Open(std::string_view prefix = "/p/") {
    pages =
        NewPages(client, ctx,
                 {.prefix = prefix, .timeout = std::chrono::seconds(60), .size = PageSize(kSmall)});
  }
  // Reads on to the end, or to the failure, which is returned.
  Status ReadAll() {
    for (;;) {
      auto page = pages->Next();
      if (!page.ok()) return page.status();
      if (!*page) return {};
      for (const kv::KeyValue& kv : (*page)->kvs) keys.push_back(kv.key);
      largest = std::max(largest, (*page)->kvs.size());
    }
  }

  Context ctx = Context::Child(Context::Background());
  std::shared_ptr<FakeRange> rpc = std::make_shared<FakeRange>();
  Timers timers;
  std::shared_ptr<Client> client = std::make_shared<Client>(rpc, timers, "fake");
  std::unique_ptr<kv::Pages> pages;
  std::vector<std::string> keys;
  std::size_t largest = 0;
};

TEST_CASE("storage.etcd: all keys of a prefix come in few pages of one revision",
          "[storage.etcd]") {
  Reader reader(1'000);
  reader.rpc->values["/o"] = reader.rpc->values["/q"] = "not of the prefix";
  reader.Open();
  const auto first = Must(reader.pages->Next());
  REQUIRE(first);
  CHECK(first->kvs.size() == 10);
  CHECK(first->count == 1'000);
  CHECK(first->more);
  CHECK(first->revision == 7);
  CHECK(*first->kvs[0].value == std::string(100, 'v'));
  CHECK(first->kvs[0].create_revision == 2);
  CHECK(first->kvs[0].mod_revision == 3);
  REQUIRE(reader.ReadAll().ok());
  CHECK(reader.keys.size() == 990);
  CHECK(reader.keys.front() == KeyOf(10));
  CHECK(reader.keys.back() == KeyOf(999));
  CHECK(std::is_sorted(reader.keys.begin(), reader.keys.end()));
  const auto asked = reader.rpc->asked();
  CHECK(asked.size() == 15);
  CHECK(asked[0].revision == 0);
  for (std::size_t i = 1; i < asked.size(); ++i) {
    CHECK(asked[i].revision == 7);
    CHECK(asked[i].bytes <= kSmall.bytes);
  }
  CHECK(asked.back().limit == kSmall.last);
  CHECK_FALSE(Must(reader.pages->Next()));
}

TEST_CASE("storage.etcd: at most two pages that nobody has taken are read", "[storage.etcd]") {
  Reader reader(1'000);
  reader.Open();
  CHECK(reader.rpc->asked().size() == 2);
  REQUIRE(Must(reader.pages->Next()));
  CHECK(reader.rpc->asked().size() == 3);
  REQUIRE(Must(reader.pages->Next()));
  CHECK(reader.rpc->asked().size() == 4);
}

TEST_CASE("storage.etcd: objects larger than those before are read in smaller pages",
          "[storage.etcd]") {
  Reader reader(500);
  reader.Add(500, 600, 4'000);
  reader.Open();
  REQUIRE(reader.ReadAll().ok());
  CHECK(reader.keys.size() == 600);
  CHECK(reader.keys.back() == KeyOf(599));
  bool refused = false;
  for (const FakeRange::Asked& asked : reader.rpc->asked()) {
    CHECK(asked.bytes <= kSmall.bytes_max);
    if (asked.bytes == 0) refused = true;
  }
  CHECK(refused);
}

TEST_CASE("storage.etcd: one object that is too long ends the pages", "[storage.etcd]") {
  Reader reader(30);
  reader.Add(30, 31, 50'000);
  reader.Open();
  CHECK(reader.ReadAll().message() == "etcd (fake): the message is too long");
  CHECK(reader.keys.size() == 30);
  CHECK_FALSE(reader.pages->Next().ok());
}

TEST_CASE("storage.etcd: pages whose revision is compacted meanwhile end as expired",
          "[storage.etcd]") {
  Reader reader(1'000);
  reader.rpc->fail_at = 3;
  reader.rpc->fail_with = {RpcCode::kOutOfRange,
                           "etcdserver: mvcc: required revision has been compacted"};
  reader.Open();
  CHECK(reader.ReadAll().reason() == Reason::kExpired);
  CHECK(reader.keys.size() > 10);
  CHECK(reader.rpc->asked().size() == 3);
}

TEST_CASE("storage.etcd: an answer that is no page ends the pages", "[storage.etcd]") {
  // A key-value that announces more bytes than there are; one that is no message; a wrong type.
  for (const char* bytes : {"\x12\x7f", "\x12\x01\xff", "\x0a\x02\xff\xff", "\x07", "\x12\xff"}) {
    Reader reader(1);
    reader.rpc->answer_instead = bytes;
    reader.Open();
    CHECK(reader.pages->Next().status().message() == "etcd (fake): the answer cannot be read");
  }
}

TEST_CASE("storage.etcd: pages of nothing, and of everything", "[storage.etcd]") {
  Reader none(0);
  none.Open();
  const auto page = Must(none.pages->Next());
  REQUIRE(page);
  CHECK(page->kvs.empty());
  CHECK(page->count == 0);
  CHECK_FALSE(Must(none.pages->Next()));

  Reader all(3);
  all.Open("");
  CHECK(all.ReadAll().ok());
  CHECK(all.keys.size() == 3);
  CHECK(all.rpc->asked()[0].key == std::string(1, '\0'));
}

TEST_CASE("storage.etcd: pages that are waited for end with their context", "[storage.etcd]") {
  Reader reader(1);
  reader.rpc->silent = true;
  reader.Open();
  const Status why(Reason::kServiceUnavailable, "stopped");
  const Thread canceller("canceller", [&] { reader.ctx.Cancel(why); });
  CHECK(reader.pages->Next().status() == why);
}

TEST_CASE("storage.etcd: pages are not waited for where nobody may", "[storage.etcd]") {
  Reader reader(1);
  reader.ctx = reader.ctx.WithMayBlock(false);
  reader.Open();
  CHECK(reader.pages->Next().status().reason() == Reason::kWouldBlock);
}

TEST_CASE("storage.etcd: pages are read from an etcd", "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  for (int i = 0; i < 5; ++i) Must(s->Create(KeyOf(i), std::string(1 << 20, 'v')));
  const auto pages = s->engine().ReadPages(Context::Background(), "/p/");
  REQUIRE(pages != nullptr);
  const auto page = Must(pages->Next());
  REQUIRE(page);
  CHECK(page->kvs.size() == 5);
  CHECK(page->kvs.back().key == KeyOf(4));
  CHECK(page->kvs.back().value->size() == 1 << 20);
  CHECK(page->revision == 6);
  CHECK_FALSE(Must(pages->Next()));

  const auto late = s->engine().ReadPages(Context::Background(), "/p/");
  s->engine().Stop();
  (void)late->Next();  // The page that had been asked for, or a failure; it does not hang.
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
