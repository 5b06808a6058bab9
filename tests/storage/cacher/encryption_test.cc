#include "apiserver/codec/codec.h"
#include "storage/backends.h"
#include "storage/encrypted.h"

// Storage with values that are encrypted at rest: through the store alone and through the cacher.
namespace apiserver::inline v0 {
namespace {

using storage::value::FromStorage;
using testing::Backend;
using testing::Encrypted;
using testing::Form;
using testing::Keys;
using testing::NamesOf;
namespace value = storage::value;

#define FOR_EVERY_ENCRYPTED_FORM()                                                          \
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher); \
  INFO(testing::FormName(form));                                                            \
  Encrypted encrypted(form);                                                                \
  Backend& backend = encrypted.backend

TEST_CASE("storage.value: no byte of an object can be read at rest", "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();

  backend.Create("one", "ns", "red");

  const std::string stored = encrypted.Stored("one");
  CHECK(stored.starts_with("k8s:enc:aesgcm:v1:a:"));
  CHECK(stored.find("Widget") == std::string::npos);
  CHECK(stored.find("red") == std::string::npos);
}

TEST_CASE("storage.value: objects go in and out as without encryption", "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  auto watch = backend.WatchFrom("0");

  const auto created = backend.Create("one", "ns", "red");
  const auto resized = backend.Resize("one", 7);

  CHECK((*created)["spec"]["color"].AsString() == "red");
  REQUIRE(resized.ok());
  const auto got = backend.Get("one");
  REQUIRE(got.ok());
  CHECK((**got)["spec"]["size"].AsInt() == 7);
  CHECK((*got)->resource_version() == (*resized)->resource_version());
  CHECK(NamesOf(backend.List()) == "one");
  const auto deleted = backend.Delete("one");
  REQUIRE(deleted.ok());
  CHECK((**deleted)["spec"]["size"].AsInt() == 7);
  const auto added = watch.Next();
  CHECK((*added->object)["spec"]["color"].AsString() == "red");
  const auto modified = watch.Next();
  CHECK(modified->type == watch::EventType::kModified);
  CHECK((*modified->object)["spec"]["size"].AsInt() == 7);
  const auto gone = watch.Next();
  CHECK(gone->type == watch::EventType::kDeleted);
  CHECK((*gone->object)["spec"]["size"].AsInt() == 7);
}

TEST_CASE("storage.value: the answer to a create is made of the plain bytes", "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  const auto body = [&](const runtime::Object& object) {
    return (*codec::EncodingOf(Context::Background(), object, "v1", runtime::Format::kJson))
        ->ToString();
  };

  const auto object = testing::NewWidget(backend.kind, "one");
  object->Edit("spec", "color") = "red";
  runtime::ObjectPtr created;
  Notification told;
  backend.storage->CreateAsync(backend.ctx, Backend::KeyOf("one"), *object,
                               [&](Result<runtime::ObjectPtr> outcome) {
                                 if (outcome.ok()) created = *outcome;
                                 told.Notify();
                               });
  REQUIRE(told.WaitFor(std::chrono::seconds(60)));

  REQUIRE(created != nullptr);
  CHECK(body(*created) ==
        "\"metadata\":{\"name\":\"one\",\"namespace\":\"ns\",\"uid\":\"uid-one\","
        "\"resourceVersion\":\"" +
            std::string(created->resource_version()) +
            "\"},\"spec\":{\"color\":\"red\"},\"status\":{}}");
  CHECK(body(**backend.Get("one")) == body(*created));
}

TEST_CASE("storage.value: a no-op update writes nothing, unless the value is stale",
          "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  const auto created = backend.Create("one");
  const std::string before = encrypted.Stored("one");

  CHECK(encrypted.Touch("one") == created->resource_version());
  CHECK(encrypted.Stored("one") == before);

  encrypted.keys->Set(Keys({'b', 'a'}));
  const std::string rewritten = encrypted.Touch("one");

  CHECK(rewritten != created->resource_version());
  CHECK(encrypted.Stored("one").starts_with("k8s:enc:aesgcm:v1:b:"));
  CHECK(encrypted.Touch("one") == rewritten);
  CHECK((*backend.Get("one", rewritten))->name() == "one");
}

TEST_CASE("storage.value: what was stored plain is read and encrypted by the next update",
          "[storage.value]") {
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher);
  INFO(testing::FormName(form));
  Encrypted encrypted(form);
  encrypted.keys->Set(value::NewPrefixTransformers("none", {{"", value::NewIdentity()}}));
  encrypted.backend.Create("one");
  CHECK(encrypted.Stored("one").starts_with("{"));

  encrypted.keys->Set(value::NewPrefixTransformers(
      "none", {{"k8s:enc:secretbox:v1:k:", *value::NewSecretbox(std::string(32, 'k'))},
               {"", value::NewIdentity()}}));

  CHECK((*encrypted.backend.Get("one"))->name() == "one");
  encrypted.Touch("one");
  CHECK(encrypted.Stored("one").starts_with("k8s:enc:secretbox:v1:k:"));
}

TEST_CASE("storage.value: a delete of a stale value returns the object", "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  backend.Create("one", "ns", "red");
  encrypted.keys->Set(Keys({'b', 'a'}));

  const auto deleted = backend.Delete("one");

  REQUIRE(deleted.ok());
  CHECK((**deleted)["spec"]["color"].AsString() == "red");
}

TEST_CASE("storage.value: an object whose value does not decrypt cannot be read",
          "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  backend.Create("one");
  std::string bytes = encrypted.Stored("one");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const std::string revision = encrypted.Put("one", bytes);
  const std::string why =
      "data from the storage is not transformable revision=0: cipher: message authentication "
      "failed";

  const auto got = backend.Get("one", revision);

  REQUIRE_FALSE(got.ok());
  CHECK(got.status().reason() == Reason::kInternalError);
  CHECK(got.status().message() ==
        "StorageError: corrupt object, Code: 7, Key: " + Encrypted::FullKey("one") +
            ", ResourceVersion: 0, AdditionalErrorMsg: " + why);
  CHECK(backend.Resize("one", 1).status().message() == why);
  CHECK(backend.Delete("one").status().message() == why);
}

TEST_CASE("storage.value: a value that was copied to another key is not its object",
          "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  backend.Create("one");

  const std::string revision = encrypted.Put("two", encrypted.Stored("one"));

  CHECK(backend.Get("one", revision).ok());
  CHECK_FALSE(backend.Get("two", revision).ok());
}

TEST_CASE("storage.value: a list names every object that cannot be read", "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  backend.Create("one");
  encrypted.Put("two", "k8s:enc:other:");
  storage::ListOptions options;
  options.resource_version = encrypted.Put("three", "k8s:enc:other:");

  const Status status = backend.List(options).status();

  const std::string first =
      "StorageError: corrupt object, Code: 7, Key: " + Encrypted::FullKey("three") +
      ", ResourceVersion: 0, AdditionalErrorMsg: data from the storage is not transformable "
      "revision=0: no matching prefix found";
  CHECK(status.reason() == Reason::kStorageReadError);
  CHECK(status.code() == 500);
  CHECK(status.message() ==
        "failed to read one or more widgets.test.example.com from the storage: " + first +
            " (and 1 more)");
  REQUIRE(status.details() != nullptr);
  CHECK(status.details()->group == "test.example.com");
  CHECK(status.details()->kind == "widgets");
  CHECK(status.details()->name == "list");
  REQUIRE(status.details()->causes.size() == 2);
  CHECK(status.details()->causes[0].reason == "UnexpectedServerResponse");
  CHECK(status.details()->causes[0].message == first);
  CHECK(status.details()->causes[0].field == Encrypted::FullKey("three"));
  CHECK(status.details()->causes[1].field == Encrypted::FullKey("two"));
}

TEST_CASE("storage.value: a list stops telling after a hundred such objects", "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  std::string revision;
  for (int i = 0; i < 101; ++i) revision = encrypted.Put(std::to_string(1000 + i), "k8s:enc:x");
  storage::ListOptions options;
  options.resource_version = revision;

  const Status status = backend.List(options).status();

  REQUIRE(status.details() != nullptr);
  REQUIRE(status.details()->causes.size() == 101);
  CHECK(status.details()->causes[100].reason == "TooMany");
  CHECK(status.details()->causes[100].message == "too many errors, the list is truncated");
}

TEST_CASE("storage.value: a watch ends with an error when an object cannot be read",
          "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  const auto created = backend.Create("one");
  auto watch = backend.WatchFrom(created->resource_version());

  encrypted.Put("one", "k8s:enc:other:");

  const auto event = watch.Next();
  REQUIRE(event);
  CHECK(event->type == watch::EventType::kError);
  CHECK(event->error.reason() == Reason::kInternalError);
  CHECK(event->error.message() ==
        "Internal error occurred: data from the storage is not transformable revision=0: no "
        "matching prefix found");
  CHECK(watch.NextText() == "END");
}

TEST_CASE("storage.value: a watch is told that a deleted object could not be read",
          "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  const std::string revision = encrypted.Put("one", "k8s:enc:other:");
  auto watch = backend.WatchFrom(revision);

  storage::kv::TxnRequest txn;
  txn.key = Encrypted::FullKey("one");
  txn.expected_mod_revision = std::stoll(revision);
  REQUIRE(backend.engine->Txn(backend.ctx, txn).ok());

  const auto event = watch.Next();
  REQUIRE(event);
  CHECK(event->error.reason() == Reason::kStorageReadError);
  CHECK(event->error.message() ==
        "saw a DELETED event, but object data is corrupt - data from the storage is not "
        "transformable revision=0: no matching prefix found");
}

TEST_CASE("storage.value: a value that is mended is an object again", "[storage.value]") {
  FOR_EVERY_ENCRYPTED_FORM();
  backend.Create("one");
  const std::string good = encrypted.Stored("one");
  const std::string broken = encrypted.Put("one", "k8s:enc:other:");
  auto watch = backend.WatchFrom(broken);

  const std::string mended = encrypted.Put("one", good);

  CHECK(watch.NextText() == "MODIFIED one " + mended);
  CHECK((*backend.Get("one", mended))->name() == "one");
}

TEST_CASE("storage.value: without a transformer an encrypted value is not taken for an object",
          "[storage.value]") {
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher);
  Backend backend(form);
  storage::kv::TxnRequest txn;
  txn.key = Encrypted::FullKey("one");
  txn.value = std::make_shared<const std::string>("k8s:enc:aescbc:v1:a:xyz");
  const auto put = backend.engine->Txn(backend.ctx, txn);
  REQUIRE(put.ok());

  const Status status = backend.Get("one", std::to_string(put->revision)).status();

  CHECK(status.message().ends_with(
      "not transformable revision=0: identity transformer tried to read encrypted data"));
}

TEST_CASE("storage.value: a watch older than the cache reads encrypted events of the engine",
          "[storage.value]") {
  const auto form = GENERATE(Form::kObservingCacher, Form::kFollowingCacher);
  Encrypted encrypted(form, 1);
  Backend& backend = encrypted.backend;
  const auto first = backend.Create("one", "ns", "red");
  for (int i = 1; i <= 2000; ++i) REQUIRE(backend.Resize("one", i).ok());

  auto watch = backend.WatchFrom(first->resource_version());

  for (int i = 1; i <= 2000; ++i) {
    const auto event = watch.Next();
    REQUIRE(event);
    REQUIRE(event->type == watch::EventType::kModified);
    REQUIRE((*event->object)["spec"]["size"].AsInt() == i);
  }
}

TEST_CASE("storage.value: a provider that cannot write fails the write and stores nothing",
          "[storage.value]") {
  class Refuses final : public value::Transformer {
   public:
    Result<FromStorage> TransformFromStorage(std::string_view data,
                                             std::string_view) const override {
      return FromStorage{std::string(data), false};
    }
    Result<std::string> TransformToStorage(std::string_view, std::string_view) const override {
      return Status(Reason::kInternalError, "the key has expired");
    }
  };
  FOR_EVERY_ENCRYPTED_FORM();
  encrypted.keys->Set(std::make_shared<Refuses>());

  const auto created = backend.storage->Create(backend.ctx, Backend::KeyOf("one"),
                                               *testing::NewWidget(backend.kind, "one"), {});

  CHECK(created.status().message() == "the key has expired");
  CHECK(NamesOf(backend.List()).empty());
}

}  // namespace
}  // namespace apiserver::inline v0
