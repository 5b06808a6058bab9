#include "storage/etcd/pages.h"

#include <algorithm>
#include <random>

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
  std::sort(reader.keys.begin(), reader.keys.end());
  CHECK(reader.keys.front() == KeyOf(10));
  CHECK(reader.keys.back() == KeyOf(999));
  const auto asked = reader.rpc->asked();
  CHECK(asked.size() < 50);
  CHECK(asked[0].revision == 0);
  for (std::size_t i = 1; i < asked.size(); ++i) {
    CHECK(asked[i].revision == 7);
    CHECK(asked[i].bytes <= kSmall.bytes);
  }
  CHECK_FALSE(Must(reader.pages->Next()));
}

TEST_CASE("storage.etcd: at most three pages that nobody has taken are read", "[storage.etcd]") {
  Reader reader(1'000);
  reader.Open();
  CHECK(reader.rpc->asked().size() == 3);
  REQUIRE(Must(reader.pages->Next()));
  CHECK(reader.rpc->asked().size() == 4);
  REQUIRE(Must(reader.pages->Next()));
  CHECK(reader.rpc->asked().size() == 5);
}

// Sets of keys whose names are made in the ways that names are.
std::vector<std::string> NamesOf(int kind, std::size_t count, std::mt19937& random) {
  std::vector<std::string> names;
  const auto text = [&random](std::string_view of, std::size_t length) {
    std::string made;
    while (made.size() < length) made += of[random() % of.size()];
    return made;
  };
  for (std::size_t i = 0; i < count; ++i) {
    switch (kind) {
      case 0:  // Numbers.
        names.push_back(std::to_string(100'000 + i));
        break;
      case 1:  // Numbers without zeros in front.
        names.push_back("item-" + std::to_string(i));
        break;
      case 2:  // UUIDs.
        names.push_back(text("0123456789abcdef", 8) + "-" + text("0123456789abcdef", 4));
        break;
      case 3:  // Namespaces with pods of deployments.
        names.push_back("team-" + text("abc", 1) + "/web-" + text("bcdf", 2) + "-" +
                        text("bcdfghjklmnpqrstvwxz2456789", 9));
        break;
      case 4:  // Nearly all in one place.
        names.push_back(random() % 50 != 0 ? "default/x-" + text("0123456789", 6)
                                           : text("abcdefghijklmnopqrstuvwxyz", 5) + "/x");
        break;
      default:  // Any bytes.
        names.push_back(text(std::string_view("\x01\x7f\x80\xff/09AZaz", 11), 12));
    }
  }
  return names;
}

TEST_CASE("storage.etcd: pages have each key once, however the keys are made", "[storage.etcd]") {
  std::mt19937 random(7);
  const int kind = GENERATE(0, 1, 2, 3, 4, 5);
  const std::size_t count = GENERATE(1U, 9U, 10U, 11U, 150U, 5'000U);
  INFO("kind " << kind << ", " << count << " keys");
  Reader reader(0);
  for (const std::string& name : NamesOf(kind, count, random)) {
    reader.rpc->values["/p/" + name] = std::string(100, 'v');
  }
  reader.Open();
  REQUIRE(reader.ReadAll().ok());
  std::sort(reader.keys.begin(), reader.keys.end());
  std::vector<std::string> all;
  for (const auto& [key, value] : reader.rpc->values) all.push_back(key);
  CHECK(reader.keys == all);
  std::size_t counted = 0;
  for (const FakeRange::Asked& asked : reader.rpc->asked()) counted += asked.count;
  // Without parts, 59 pages of the 5,000 have on average half of them behind them.
  CHECK(counted < 100 + 2 * count + count * count / 300);
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
