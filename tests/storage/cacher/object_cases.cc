#include "storage/backends.h"

// Create, get, update and delete over every form of storage: RunTest* of
// k8s.io/apiserver/pkg/storage/testing/store_tests.go.
using namespace apiserver;  // NOLINT: a test.

TEST_CASE("storage.Interface: create returns the object with its revision", "[storage]") {
  FOR_EVERY_FORM();
  const auto created = backend.Create("one");
  CHECK(created->name() == "one");
  CHECK(created->resource_version() == "2");
  CHECK((*backend.Get("one"))->root() == created->root());
}

TEST_CASE("storage.Interface: create stores Go's bytes under Go's key", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one", "ns", "red");
  storage::kv::RangeRequest request;
  request.key = "/registry/test.example.com/widgets/ns/one";
  const auto range = backend.engine->Range(backend.ctx, request);
  REQUIRE(range->kvs.size() == 1);
  CHECK(
      *range->kvs[0].value ==
      "{\"kind\":\"Widget\",\"apiVersion\":\"test.example.com/v1\",\"metadata\":{\"name\":\"one\","
      "\"namespace\":\"ns\",\"uid\":\"uid-one\",\"labels\":{"
      "\"color\":\"red\"}},\"spec\":{\"color\":\"red\"},\"status\":{}}\n");
}

TEST_CASE("storage.Interface: create refuses a key that is taken", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  const auto again =
      backend.storage->Create(backend.ctx, "/ns/one", *testing::NewWidget(backend.kind, "one"), {});
  CHECK(again.status().reason() == Reason::kAlreadyExists);
  CHECK(again.status().message() ==
        "StorageError: key exists, Code: 2, Key: /registry/test.example.com/widgets/ns/one, "
        "ResourceVersion: 0, AdditionalErrorMsg: <nil>");
}

TEST_CASE("storage.Interface: create refuses an object with a resourceVersion", "[storage]") {
  FOR_EVERY_FORM();
  const auto object = testing::NewWidget(backend.kind, "one");
  object->Edit("metadata", "resourceVersion") = "1";
  const auto created = backend.storage->Create(backend.ctx, "/ns/one", *object, {});
  CHECK(created.status().reason() == Reason::kInvalid);
  CHECK(created.status().message() == "resourceVersion should not be set on objects to be created");
}

TEST_CASE("storage.Interface: create with a TTL attaches a lease", "[storage]") {
  FOR_EVERY_FORM();
  REQUIRE(backend.storage
              ->Create(backend.ctx, "/ns/one", *testing::NewWidget(backend.kind, "one"),
                       std::chrono::seconds(100))
              .ok());
  REQUIRE(backend.storage
              ->Create(backend.ctx, "/ns/two", *testing::NewWidget(backend.kind, "two"),
                       std::chrono::seconds(100))
              .ok());
  storage::kv::RangeRequest request;
  request.key = "/";
  request.end = storage::kv::PrefixEnd("/");
  const auto range = backend.engine->Range(backend.ctx, request);
  REQUIRE(range->kvs.size() == 2);
  CHECK(range->kvs[0].lease != 0);
  // Objects that die at about the same time share one.
  CHECK(range->kvs[1].lease == range->kvs[0].lease);
}

TEST_CASE("storage.Interface: get of what is not there is not found", "[storage]") {
  FOR_EVERY_FORM();
  const auto got = backend.Get("one");
  CHECK(got.status().reason() == Reason::kNotFound);
  CHECK(got.status().message() ==
        "StorageError: key not found, Code: 1, Key: /registry/test.example.com/widgets/ns/one, "
        "ResourceVersion: 0, AdditionalErrorMsg: <nil>");
}

TEST_CASE("storage.Interface: get may return null instead of not found", "[storage]") {
  FOR_EVERY_FORM();
  storage::GetOptions options;
  options.ignore_not_found = true;
  const auto got = backend.storage->Get(backend.ctx, "/ns/one", options);
  REQUIRE(got.ok());
  CHECK(*got == nullptr);
}

TEST_CASE("storage.Interface: get waits for no revision that has been", "[storage]") {
  FOR_EVERY_FORM();
  const auto created = backend.Create("one");
  backend.Create("two");
  CHECK((*backend.Get("one", std::string(created->resource_version())))->resource_version() == "2");
  CHECK((*backend.Get("one", "3"))->resource_version() == "2");
  CHECK((*backend.Get("one", ""))->resource_version() == "2");
}

TEST_CASE("storage.Interface: get of a future revision is too large", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  const auto got = backend.Get("one", "1000");
  CHECK(got.status().reason() == Reason::kTimeout);
  CHECK(got.status().message() == "Timeout: Too large resource version: 1000, current: 2");
  REQUIRE(got.status().details() != nullptr);
  CHECK(got.status().details()->causes[0].reason == "ResourceVersionTooLarge");
}

TEST_CASE("storage.Interface: get refuses a resource version that is no number", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  CHECK(backend.Get("one", "abc").status().message() ==
        "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: "
        "parsing \"abc\": invalid syntax");
}

TEST_CASE("storage.Interface: keys with dots are refused", "[storage]") {
  FOR_EVERY_FORM();
  CHECK(backend.storage->Get(backend.ctx, "/ns/../one", {}).status().message() ==
        "invalid key: \"/ns/../one\"");
  CHECK(backend.storage->GetList(backend.ctx, "/../", {}).status().message() ==
        "invalid key: \"/../\"");
  CHECK(backend.storage->Watch(backend.ctx, "/./a", {}).status().message() ==
        "invalid key: \"/./a\"");
}

TEST_CASE("storage.Interface: delete returns the object with the delete's revision", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  const auto deleted = backend.Delete("one");
  REQUIRE(deleted.ok());
  CHECK((*deleted)->name() == "one");
  CHECK((*deleted)->resource_version() == "3");
  CHECK(backend.Get("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("storage.Interface: delete of what is not there is not found", "[storage]") {
  FOR_EVERY_FORM();
  CHECK(backend.Delete("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("storage.Interface: delete checks preconditions", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  storage::UpdateOptions options;
  options.preconditions.uid = "other";
  const auto refused = backend.storage->Delete(backend.ctx, "/ns/one", options, nullptr);
  CHECK(refused.status().reason() == Reason::kConflict);
  CHECK(refused.status().message().find(
            "UID in precondition: other, UID in object meta: uid-one") != std::string::npos);
  options.preconditions.uid = "uid-one";
  CHECK(backend.storage->Delete(backend.ctx, "/ns/one", options, nullptr).ok());
}

TEST_CASE("storage.Interface: whoever validates a deletion may refuse it", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  const auto refused = backend.storage->Delete(
      backend.ctx, "/ns/one", {}, [](const Context&, const runtime::Object& object) {
        return Status(Reason::kForbidden, "not " + std::string(object.name()));
      });
  CHECK(refused.status().message() == "not one");
  CHECK(backend.Get("one").ok());
}

TEST_CASE("storage.Interface: delete sees what another wrote in between", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  std::vector<std::string> seen;
  const auto deleted = backend.storage->Delete(backend.ctx, "/ns/one", {},
                                               [&](const Context&, const runtime::Object& object) {
                                                 seen.emplace_back(object.resource_version());
                                                 if (seen.size() == 1)
                                                   REQUIRE(backend.Resize("one", 3).ok());
                                                 return Status();
                                               });
  REQUIRE(deleted.ok());
  CHECK(seen == std::vector<std::string>{"2", "3"});
  CHECK((**deleted)["spec"]["size"].AsInt() == 3);
}

TEST_CASE("storage.Interface: delete with a stale suggestion reads again", "[storage]") {
  FOR_EVERY_FORM();
  const auto stale = backend.Create("one");
  REQUIRE(backend.Resize("one", 3).ok());
  storage::UpdateOptions options;
  options.suggestion = stale;
  options.preconditions.resource_version = "3";
  CHECK(backend.storage->Delete(backend.ctx, "/ns/one", options, nullptr).ok());
}

TEST_CASE("storage.Interface: delete with a suggestion of what has gone is not found",
          "[storage]") {
  FOR_EVERY_FORM();
  storage::UpdateOptions options;
  options.suggestion = backend.Create("one");
  REQUIRE(backend.Delete("one").ok());
  CHECK(backend.storage->Delete(backend.ctx, "/ns/one", options, nullptr).status().reason() ==
        Reason::kNotFound);
}

TEST_CASE("storage.Interface: update writes what it is given", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  const auto updated = backend.Resize("one", 3);
  REQUIRE(updated.ok());
  CHECK((*updated)->resource_version() == "3");
  CHECK((**updated)["spec"]["size"].AsInt() == 3);
  CHECK((*backend.Get("one"))->root() == (*updated)->root());
}

TEST_CASE("storage.Interface: update of what is not there is not found", "[storage]") {
  FOR_EVERY_FORM();
  CHECK(backend.Resize("one", 3).status().reason() == Reason::kNotFound);
}

TEST_CASE("storage.Interface: update may create", "[storage]") {
  FOR_EVERY_FORM();
  storage::UpdateOptions options;
  options.ignore_not_found = true;
  bool was_null = false;
  const auto created = backend.storage->GuaranteedUpdate(
      backend.ctx, "/ns/one", options, [&](const runtime::ObjectPtr& current) {
        was_null = current == nullptr;
        storage::Update update;
        update.object = testing::NewWidget(backend.kind, "one");
        return Result<storage::Update>(std::move(update));
      });
  REQUIRE(created.ok());
  CHECK(was_null);
  CHECK((*created)->resource_version() == "2");
}

TEST_CASE("storage.Interface: an update that changes no byte is no write", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  REQUIRE(backend.Resize("one", 3).ok());
  const auto again = backend.Resize("one", 3);
  REQUIRE(again.ok());
  CHECK((*again)->resource_version() == "3");
  CHECK(*backend.engine->CurrentRevision(backend.ctx) == 3);
}

TEST_CASE("storage.Interface: an update rewrites bytes that differ only in form", "[storage]") {
  FOR_EVERY_FORM();
  storage::kv::TxnRequest txn;
  txn.key = "/registry/test.example.com/widgets/ns/one";
  txn.value = std::make_shared<const std::string>(
      R"({"apiVersion":"test.example.com/v1","kind":"Widget","metadata":{"namespace":"ns",)"
      R"("name":"one"},"spec":{"size":3}})");
  REQUIRE(backend.engine->Txn(backend.ctx, txn)->succeeded);
  const auto updated = backend.Resize("one", 3);
  REQUIRE(updated.ok());
  CHECK((*updated)->resource_version() == "3");
}

TEST_CASE("storage.Interface: update checks preconditions", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  storage::UpdateOptions options;
  options.preconditions.resource_version = "1";
  const auto refused = backend.storage->GuaranteedUpdate(
      backend.ctx, "/ns/one", options, [](const runtime::ObjectPtr& current) {
        storage::Update update;
        update.object = current->Clone();
        return Result<storage::Update>(std::move(update));
      });
  CHECK(refused.status().reason() == Reason::kConflict);
  CHECK(refused.status().message().find("Precondition failed: ResourceVersion in precondition: 1, "
                                        "ResourceVersion in object meta: 2") != std::string::npos);
}

TEST_CASE("storage.Interface: the updater's error is returned as it is", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  const auto refused = backend.storage->GuaranteedUpdate(
      backend.ctx, "/ns/one", {}, [](const runtime::ObjectPtr&) -> Result<storage::Update> {
        return Status(Reason::kForbidden, "no");
      });
  CHECK(refused.status() == Status(Reason::kForbidden, "no"));
}

TEST_CASE("storage.Interface: update starts again when another writes in between", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  int calls = 0;
  const auto updated = backend.storage->GuaranteedUpdate(
      backend.ctx, "/ns/one", {}, [&](const runtime::ObjectPtr& current) {
        if (++calls == 1) REQUIRE(backend.Resize("one", 7, "red").ok());
        storage::Update update;
        update.object = current->Clone();
        update.object->Edit("status", "phase") = "done";
        return Result<storage::Update>(std::move(update));
      });
  REQUIRE(updated.ok());
  CHECK(calls == 2);
  CHECK((**updated)["spec"]["size"].AsInt() == 7);
  CHECK((**updated)["status"]["phase"].AsString() == "done");
}

TEST_CASE("storage.Interface: update refuses a stale suggestion only after reading", "[storage]") {
  FOR_EVERY_FORM();
  const auto stale = backend.Create("one");
  REQUIRE(backend.Resize("one", 3).ok());
  storage::UpdateOptions options;
  options.suggestion = stale;
  const auto updated = backend.storage->GuaranteedUpdate(
      backend.ctx, "/ns/one", options,
      [](const runtime::ObjectPtr& current) -> Result<storage::Update> {
        if ((*current)["spec"]["size"].AsInt() != 3) return Status(Reason::kInvalid, "stale");
        storage::Update update;
        update.object = current->Clone();
        update.object->Edit("spec", "size") = 4;
        return update;
      });
  REQUIRE(updated.ok());
  CHECK((**updated)["spec"]["size"].AsInt() == 4);
}

TEST_CASE("storage.Interface: a no-op on a stale suggestion is not believed", "[storage]") {
  FOR_EVERY_FORM();
  storage::UpdateOptions options;
  options.suggestion = backend.Create("one");
  REQUIRE(backend.Resize("one", 3).ok());
  const auto updated = backend.storage->GuaranteedUpdate(
      backend.ctx, "/ns/one", options, [](const runtime::ObjectPtr& current) {
        storage::Update update;
        update.object = current->Clone();
        update.object->Erase("spec", "size");
        return Result<storage::Update>(std::move(update));
      });
  REQUIRE(updated.ok());
  CHECK((*updated)->resource_version() == "4");
  CHECK((*backend.Get("one"))->root()["spec"]["size"].is_null());
}

TEST_CASE("storage.Interface: an update keeps the lease, sets it or takes it away", "[storage]") {
  FOR_EVERY_FORM();
  REQUIRE(backend.storage
              ->Create(backend.ctx, "/ns/one", *testing::NewWidget(backend.kind, "one"),
                       std::chrono::seconds(100))
              .ok());
  const auto lease = [&] {
    storage::kv::RangeRequest request;
    request.key = "/registry/test.example.com/widgets/ns/one";
    return backend.engine->Range(backend.ctx, request)->kvs.at(0).lease;
  };
  const auto first = lease();
  REQUIRE(backend.Resize("one", 3).ok());
  CHECK(lease() == first);
  const auto with_ttl = [&](int size, std::chrono::seconds ttl) {
    REQUIRE(backend.storage
                ->GuaranteedUpdate(backend.ctx, "/ns/one", {},
                                   [&](const runtime::ObjectPtr& current) {
                                     storage::Update update;
                                     update.object = current->Clone();
                                     update.object->Edit("spec", "size") = size;
                                     update.ttl = ttl;
                                     return Result<storage::Update>(std::move(update));
                                   })
                .ok());
  };
  with_ttl(4, std::chrono::seconds(0));
  CHECK(lease() == 0);
  with_ttl(5, std::chrono::seconds(5000));
  CHECK(lease() != 0);
  CHECK(lease() != first);
}

TEST_CASE("storage.Interface: count counts keys below a prefix", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  backend.Create("two", "ns");
  backend.Create("three", "other");
  CHECK(*backend.storage->Count(backend.ctx, "/") == 3);
  CHECK(*backend.storage->Count(backend.ctx, "/ns/") == 2);
}

TEST_CASE("storage.Interface: the current resource version is the last write's", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  REQUIRE(backend.Resize("one", 1).ok());
  CHECK(*backend.storage->CurrentResourceVersion(backend.ctx) == 3);
}

TEST_CASE("storage.Interface: a context that is done ends an update", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  const Context child = Context::Child(backend.ctx);
  child.Cancel(Status(Reason::kTimeout, "gone"));
  const auto updated = backend.storage->GuaranteedUpdate(
      child, "/ns/one", {}, [](const runtime::ObjectPtr& current) {
        storage::Update update;
        update.object = current->Clone();
        update.object->Edit("spec", "size") = 9;
        return Result<storage::Update>(std::move(update));
      });
  CHECK(updated.status().reason() == Reason::kTimeout);
}
