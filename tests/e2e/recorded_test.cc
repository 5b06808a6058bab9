#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/codec/codec.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/update.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/storage/value/transformer.h"
#include "text/base64.h"
#include "wardle/flunder.h"

// What a Go sample-apiserver left in its etcd: see tests/testdata/go-storage/README.md.
namespace apiserver::inline v0 {
namespace {

const std::string kPrefix = "/registry/wardle.example.com";
const std::string kFlunders = kPrefix + "/wardle.example.com/flunders/default/";

struct RecordedValue {
  std::string name;
  std::int64_t revision = 0;
  std::string bytes;
};
struct EncryptedValue {
  std::string provider;
  std::string name;
  std::string bytes;
};
struct Recorded {
  std::vector<RecordedValue> values;
  std::vector<EncryptedValue> encrypted;
  std::int64_t page_revision = 0;
  std::int64_t page_remaining = 0;
  std::string page_continue;  // After the first three.
};

std::string ReadName(std::istringstream& words) {
  std::string key;
  words >> key;
  REQUIRE(key.starts_with(kFlunders));
  return key.substr(kFlunders.size());
}

std::string ReadBytes(std::istringstream& words) {
  std::string base64;
  words >> base64;
  const auto bytes = text::DecodeBase64(base64);
  REQUIRE(bytes.has_value());
  return *bytes;
}

void ReadLine(const std::string& line, Recorded& recorded) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  if (what == "continue") {
    words >> recorded.page_revision >> recorded.page_remaining >> recorded.page_continue;
  } else if (what == "plain") {
    RecordedValue value;
    std::int64_t lease = 0;
    value.name = ReadName(words);
    words >> value.revision >> lease;
    REQUIRE(lease == 0);
    value.bytes = ReadBytes(words);
    recorded.values.push_back(std::move(value));
  } else {
    EncryptedValue value;
    value.provider = what;
    value.name = ReadName(words);
    value.bytes = ReadBytes(words);
    recorded.encrypted.push_back(std::move(value));
  }
}

Recorded Read() {
  const auto file =
      RealFileSystem().Read(std::string(APISERVER_TESTDATA) + "/go-storage/flunders.txt");
  REQUIRE(file.ok());
  Recorded recorded;
  std::istringstream lines(*file);
  for (std::string line; std::getline(lines, line);) ReadLine(line, recorded);
  REQUIRE(recorded.values.size() == 8);
  REQUIRE(recorded.encrypted.size() == 4);
  return recorded;
}

// Plain bytes of a recorded name.
std::string PlainOf(const Recorded& recorded, const std::string& name) {
  for (const auto& value : recorded.values) {
    if (value.name == name) return value.bytes;
  }
  return {};
}

// With the key that the recording server had: the bytes 1 to 32, named k1.
storage::value::TransformerPtr TransformerOf(const std::string& provider) {
  std::string key;
  while (key.size() < 32) key.push_back(static_cast<char>(key.size() + 1));
  auto made =
      provider == "aescbc" ? storage::value::NewAesCbc(key) : storage::value::NewAesGcm(key);
  REQUIRE(made.ok());
  return storage::value::NewPrefixTransformers("no match",
                                               {{"k8s:enc:" + provider + ":v1:k1:", *made}});
}

// The store of flunders over an engine that holds the recorded values.
struct Flunders {
  explicit Flunders(const Recorded& recorded,
                    const storage::value::TransformerPtr& transformer = nullptr) {
    if (transformer == nullptr) {
      for (const auto& value : recorded.values) Put(kFlunders + value.name, value.bytes);
      while (revision < recorded.page_revision) Put("/elsewhere", std::to_string(revision));
    }
    store = *registry::NewStore(
        {.engine = engine.get(),
         .executor = pool.get(),
         .prefix = kPrefix,
         .transformer_for = [transformer](const runtime::GroupResource&) { return transformer; }},
        {.kind = *wardle::NewFlunderKind(), .strategy = wardle::NewFlunderStrategy()});
    ctx.Set(rest::Namespace{"default"});
  }
  ~Flunders() {
    store.reset();
    pool->Stop();
  }

  void Put(const std::string& key, const std::string& bytes) {
    storage::kv::TxnRequest txn;
    txn.key = key;
    txn.expected_mod_revision = Stored(key).mod_revision;
    txn.value = std::make_shared<const std::string>(bytes);
    const auto response = engine->Txn(ctx, txn);
    REQUIRE((response.ok() && response->succeeded));
    revision = response->revision;
  }
  storage::kv::KeyValue Stored(const std::string& key) {
    storage::kv::RangeRequest request;
    request.key = key;
    const auto response = engine->Range(ctx, request);
    REQUIRE(response.ok());
    return response->kvs.empty() ? storage::kv::KeyValue() : response->kvs.front();
  }
  std::int64_t Now() {
    storage::kv::RangeRequest request;
    request.key = kFlunders;
    const auto response = engine->Range(ctx, request);
    REQUIRE(response.ok());
    return response->revision;
  }

  // Updates an object with what it is.
  Result<rest::UpdateResult> PutBack(const std::string& name, const runtime::ObjectPtr& read) {
    const auto same = rest::DefaultUpdatedObjectInfo(read);
    return store->Update(ctx, name, {*same, nullptr, nullptr, false, {}});
  }

  Context ctx = Context::Child(Context::Background());
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"recorded", 2});
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::int64_t revision = 0;
  std::shared_ptr<registry::Store> store;
};

}  // namespace

TEST_CASE("sample-apiserver: what a Go server stored is stored as the same bytes", "[interop]") {
  const Recorded recorded = Read();
  Flunders flunders(recorded);
  for (const auto& value : recorded.values) {
    INFO(value.bytes);
    const auto read = flunders.store->Get(flunders.ctx, value.name, {});
    REQUIRE(read.ok());
    auto encoded = codec::EncodeForStorage(Context::Background(), **read, {.content = true});
    REQUIRE(encoded.ok());
    CHECK(*encoded->bytes == value.bytes);
    // The next update begins with it.
    REQUIRE(encoded->content);
    const auto known = codec::ReadBack(std::move(encoded->content), (*read)->stored_version());
    CHECK(known->root() == (*read)->root());
  }
}

TEST_CASE("sample-apiserver: a no-op update of what a Go server stored writes nothing",
          "[interop]") {
  const Recorded recorded = Read();
  Flunders flunders(recorded);
  for (const auto& value : recorded.values) {
    INFO(value.bytes);
    const auto read = flunders.store->Get(flunders.ctx, value.name, {});
    REQUIRE(read.ok());
    const auto updated = flunders.PutBack(value.name, *read);
    REQUIRE(updated.ok());
    CHECK(updated->object->resource_version() == (*read)->resource_version());
    CHECK(*flunders.Stored(kFlunders + value.name).value == value.bytes);
  }
  CHECK(flunders.Now() == flunders.revision);
}

TEST_CASE("sample-apiserver: what a Go server encrypted is its plain value", "[interop]") {
  const Recorded recorded = Read();
  for (const auto& value : recorded.encrypted) {
    INFO(value.provider << " " << value.name);
    const auto plain =
        TransformerOf(value.provider)->TransformFromStorage(value.bytes, kFlunders + value.name);
    REQUIRE(plain.ok());
    CHECK_FALSE(plain->stale);
    CHECK(plain->bytes == PlainOf(recorded, value.name));
  }
}

TEST_CASE("sample-apiserver: a no-op update of what a Go server encrypted writes nothing",
          "[interop]") {
  const Recorded recorded = Read();
  for (const auto& value : recorded.encrypted) {
    INFO(value.provider << " " << value.name);
    Flunders flunders(recorded, TransformerOf(value.provider));
    flunders.Put(kFlunders + value.name, value.bytes);
    const auto read = flunders.store->Get(flunders.ctx, value.name, {});
    REQUIRE(read.ok());
    const auto updated = flunders.PutBack(value.name, *read);
    REQUIRE(updated.ok());
    CHECK(*flunders.Stored(kFlunders + value.name).value == value.bytes);
    CHECK(flunders.Now() == flunders.revision);
  }
}

TEST_CASE("sample-apiserver: a page begun on a Go server goes on", "[interop]") {
  const Recorded recorded = Read();
  Flunders flunders(recorded);
  // What came after the token's revision is not seen.
  flunders.Put(kFlunders + "later", recorded.values[0].bytes);
  meta::ListOptions options;
  options.limit = 100;
  options.continue_token = recorded.page_continue;
  const auto rest = flunders.store->List(flunders.ctx, options);
  REQUIRE(rest.ok());
  REQUIRE(rest->items.size() == 5);
  CHECK(rest->resource_version == std::to_string(recorded.page_revision));
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(rest->items[i]->name() == recorded.values[i + 3].name);
  }
}

TEST_CASE("sample-apiserver: a first page's token is a Go server's", "[interop]") {
  const Recorded recorded = Read();
  Flunders flunders(recorded);
  meta::ListOptions options;
  options.limit = 3;
  const auto page = flunders.store->List(flunders.ctx, options);
  REQUIRE(page.ok());
  CHECK(page->continue_token == recorded.page_continue);
  CHECK(page->remaining_item_count == recorded.page_remaining);
}

}  // namespace apiserver::inline v0
