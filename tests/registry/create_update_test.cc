#include <set>

#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Fixture;

TEST_CASE("registry: create fills what the server decides", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("one");
  CHECK(created->uid().size() == 36);
  CHECK(created->metadata()["creationTimestamp"].AsString().size() == 20);
  CHECK(created->resource_version() == "2");
  CHECK(created->generation() == 1);
  CHECK(fixture.warnings->Take() == std::vector<std::string>{"created"});
}

TEST_CASE("registry: create stores under the namespace of the request", "[registry]") {
  Fixture fixture;
  auto object = fixture.New("one");
  object->Erase("metadata", "namespace");
  CHECK((*fixture.TryCreate(std::move(object)))->namespace_() == "ns");
  auto foreign = fixture.New("two");
  foreign->Edit("metadata", "namespace") = "other";
  const auto refused = fixture.TryCreate(std::move(foreign));
  CHECK(refused.status() ==
        Status(Reason::kBadRequest,
               "the namespace of the provided object does not match the namespace sent on the "
               "request"));
}

TEST_CASE("registry: keys are <prefix>/<group>/<plural>/<namespace>/<name>", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  storage::kv::RangeRequest request;
  request.key = "/registry/test.example.com/widgets/ns/one";
  CHECK(fixture.engine->Range(fixture.ctx, request)->kvs.size() == 1);
}

TEST_CASE("registry: a server may have other keys for a resource", "[registry]") {
  Fixture fixture;
  fixture.config.resource_prefix = [](const runtime::GroupResource& resource) {
    return resource.resource == "widgets" ? "widgets/specs" : "";
  };
  fixture.Create("one");
  storage::kv::RangeRequest request;
  request.key = "/registry/widgets/specs/ns/one";
  CHECK(fixture.engine->Range(fixture.ctx, request)->kvs.size() == 1);
}

TEST_CASE("registry: cluster-scoped objects have no namespace", "[registry]") {
  Fixture fixture;
  fixture.strategy->namespaced = false;
  fixture.ctx.Set(rest::Namespace{""});
  const auto created = fixture.TryCreate(fixture.New("one"));
  REQUIRE(created.ok());
  CHECK((*created)->namespace_().empty());
  CHECK(fixture.Get("one").ok());
}

TEST_CASE("registry: create refuses a name that is taken", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const auto again = fixture.TryCreate(fixture.New("one"));
  CHECK(again.status().reason() == Reason::kAlreadyExists);
  CHECK(again.status().message() == "widgets.test.example.com \"one\" already exists");
  CHECK(again.status().details()->kind == "widgets");
}

TEST_CASE("registry: create says when the taken name is being deleted", "[registry]") {
  Fixture fixture;
  fixture.Create("one", {"example.com/hold"});
  REQUIRE(fixture.Delete("one").ok());
  const auto again = fixture.TryCreate(fixture.New("one"));
  CHECK(again.status().message() ==
        "object is being deleted: widgets.test.example.com \"one\" already exists");
  CHECK(again.status().reason() == Reason::kAlreadyExists);
}

TEST_CASE("registry: create refuses an invalid object with all that is wrong", "[registry]") {
  Fixture fixture;
  auto object = fixture.New("one");
  object->Edit("spec", "size") = -3;
  const auto refused = fixture.TryCreate(std::move(object));
  CHECK(refused.status().reason() == Reason::kInvalid);
  CHECK(refused.status().message() ==
        "Widget.test.example.com \"one\" is invalid: spec.size: Invalid value: -3: must not be "
        "negative");
  CHECK(refused.status().details()->kind == "Widget");
}

TEST_CASE("registry: a store leaves the schema alone if it is told to", "[registry]") {
  for (const bool validate : {true, false}) {
    Fixture fixture;
    runtime::SchemaParts small(*runtime::IntegerSchema(64));
    small.constraints.maximum = 3;
    const auto spec = runtime::StructBuilder("").Field("size", MakeSchema(small)).Build();
    const auto schema = runtime::StructBuilder("")
                            .Field("metadata", runtime::ObjectMetaSchema())
                            .Field("spec", spec)
                            .Build();
    fixture.kind = runtime::Kind::New({.group = "test.example.com",
                                       .kind = "Widget",
                                       .plural = "widgets",
                                       .versions = {{.version = "v1", .schema = schema}}})
                       .value();
    fixture.options.validate_schema = validate;
    fixture.Create("one");
    const auto grown = [](runtime::Object& object) { object.Edit("spec", "size") = 4; };
    auto four = fixture.New("two");
    grown(*four);
    const auto created = fixture.TryCreate(std::move(four));
    const auto updated = fixture.Edit("one", grown);
    CHECK(created.ok() != validate);
    CHECK(updated.ok() != validate);
    if (!validate) continue;
    CHECK(updated.status().message() ==
          R"(Widget.test.example.com "one" is invalid: spec.size: Invalid value: 4: spec.size in )"
          "body should be less than or equal to 3");
  }
}

TEST_CASE("registry: create refuses a name that no path can have", "[registry]") {
  Fixture fixture;
  const auto refused = fixture.TryCreate(fixture.New("a%b"));
  CHECK(refused.status().reason() == Reason::kInvalid);
  CHECK(refused.status().message().find("may not contain '%'") != std::string::npos);
}

TEST_CASE("registry: create refuses a resourceVersion with 500, as Go", "[registry]") {
  Fixture fixture;
  auto object = fixture.New("one");
  object->Edit("metadata", "resourceVersion") = "5";
  const auto refused = fixture.TryCreate(std::move(object));
  CHECK(refused.status() ==
        Status(Reason::kUnknown, "resourceVersion should not be set on objects to be created"));
  CHECK(refused.status().code() == 500);
}

TEST_CASE("registry: create asks admission with the finished object", "[registry]") {
  Fixture fixture;
  std::string seen;
  const auto refused =
      fixture.Store().Create(fixture.ctx, fixture.New("one"),
                             [&](const Context&, const runtime::Object& object) {
                               seen = object.uid();
                               return Status(Reason::kServiceUnavailable, "try later");
                             },
                             {});
  CHECK(seen.size() == 36);
  CHECK(refused.status() == Status(Reason::kServiceUnavailable, "try later"));
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
}

namespace {

// Create without a thread to wait on, as a handler uses it.
Result<runtime::ObjectPtr> CreateAsync(Fixture& fixture, std::unique_ptr<runtime::Object> object,
                                       meta::CreateOptions options = {}) {
  std::vector<rest::AsyncCreater::Outcome> outcomes;
  fixture.Store().CreateAsync(
      fixture.ctx, std::move(object), nullptr, options,
      [&outcomes](rest::AsyncCreater::Outcome outcome) { outcomes.push_back(std::move(outcome)); });
  REQUIRE(outcomes.size() == 1);
  if (outcomes[0].object) return outcomes[0].object;
  return outcomes[0].error(Context::Background());
}

}  // namespace

TEST_CASE("registry: an asynchronous create ends as one that waits does", "[registry]") {
  Fixture waits;
  Fixture async;
  for (Fixture* fixture : {&waits, &async}) {
    fixture->Create("taken");
    fixture->Create("going", {"example.com/hold"});
    REQUIRE(fixture->Delete("going").ok());
  }
  const auto same = [&](const std::string& name, const std::function<void(runtime::Object&)>& edit,
                        bool dry_run = false) {
    auto one = waits.New(name);
    auto other = async.New(name);
    edit(*one);
    edit(*other);
    const auto expected = waits.TryCreate(std::move(one), dry_run);
    meta::CreateOptions options;
    options.dry_run = dry_run;
    const auto got = CreateAsync(async, std::move(other), options);
    INFO(name);
    REQUIRE(expected.status() == got.status());
    if (!expected.ok()) return;
    CHECK((*expected)->resource_version() == (*got)->resource_version());
    CHECK((*expected)->name().size() == (*got)->name().size());
    CHECK((**expected)["spec"] == (**got)["spec"]);
    CHECK(waits.Get((*expected)->name()).ok() == async.Get((*got)->name()).ok());
  };
  const auto as_it_is = [](runtime::Object&) {};
  same("one", as_it_is);
  same("taken", as_it_is);
  same("going", as_it_is);
  same("a%b", as_it_is);
  same("two", as_it_is, /*dry_run=*/true);
  same("small", [](runtime::Object& object) { object.Edit("spec", "size") = -3; });
  same("old", [](runtime::Object& object) { object.Edit("metadata", "resourceVersion") = "5"; });
  same("", [](runtime::Object& object) { object.Edit("metadata", "generateName") = "x-"; });
}

TEST_CASE("registry: a hook runs after an asynchronous create, too", "[registry]") {
  Fixture fixture;
  std::string seen;
  fixture.options.after_create = [&](const runtime::Object& object) { seen = object.name(); };
  REQUIRE(CreateAsync(fixture, fixture.New("one")).ok());
  CHECK(seen == "one");
}

TEST_CASE("registry: a generated name has five letters behind at most 58", "[registry]") {
  Fixture fixture;
  auto object = fixture.New("");
  object->Erase("metadata", "name");
  object->Edit("metadata", "generateName") = std::string(60, 'a');
  const auto created = fixture.TryCreate(std::move(object));
  REQUIRE(created.ok());
  CHECK((*created)->name().size() == 63);
  CHECK((*created)->name().substr(0, 58) == std::string(58, 'a'));
  CHECK((*created)->name().substr(58).find_first_not_of("bcdfghjklmnpqrstvwxz2456789") ==
        std::string_view::npos);
}

namespace {

// Names come from bytes that repeat `same` times before they change.
class StubbornRandom final : public Random {
 public:
  explicit StubbornRandom(int same) : same_(same) {}
  void Fill(std::span<std::byte> out) override {
    // Eight bytes at a time are drawn for a letter, sixteen for a uid.
    if (out.size() == 8) {
      if (letters_++ / 5 >= same_) value_ = std::byte{0x66};
      for (auto& byte : out) byte = value_;
      return;
    }
    for (auto& byte : out) byte = std::byte{1};
  }

 private:
  int same_;
  int letters_ = 0;
  std::byte value_{0x55};
};

Result<runtime::ObjectPtr> GenerateWith(Fixture& fixture, int same) {
  StubbornRandom random(same);
  fixture.config.random = &random;
  const auto create = [&] {
    auto object = fixture.New("");
    object->Erase("metadata", "name");
    object->Edit("metadata", "generateName") = "x-";
    return fixture.TryCreate(std::move(object));
  };
  REQUIRE(create().ok());
  return create();
}

}  // namespace

TEST_CASE("registry: a generated name that is taken is drawn again", "[registry]") {
  Fixture fixture;
  const auto created = GenerateWith(fixture, 5);
  INFO(created.status().ToString());
  CHECK(created.ok());
  fixture.store.reset();
}

TEST_CASE("registry: after eight generated names that are taken it gives up", "[registry]") {
  Fixture fixture;
  const auto created = GenerateWith(fixture, 1000);
  CHECK(created.status().reason() == Reason::kAlreadyExists);
  CHECK(created.status().message().ends_with(
      "already exists, the server was not able to generate a unique name for the object"));
  CHECK(created.status().details()->retry_after_seconds == 1);
  fixture.store.reset();
}

TEST_CASE("registry: a dry run of a create stores nothing", "[registry]") {
  Fixture fixture;
  const auto rehearsed = fixture.TryCreate(fixture.New("one"), true);
  REQUIRE(rehearsed.ok());
  CHECK((*rehearsed)->uid().size() == 36);
  CHECK((*rehearsed)->resource_version().empty());
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
  fixture.Create("one");
  CHECK(fixture.TryCreate(fixture.New("one"), true).status().reason() == Reason::kAlreadyExists);
}

TEST_CASE("registry: get of what is not there is 404", "[registry]") {
  Fixture fixture;
  const auto got = fixture.Get("one");
  CHECK(got.status().message() == "widgets.test.example.com \"one\" not found");
  CHECK(got.status().details()->group == "test.example.com");
}

TEST_CASE("registry: names and namespaces are asked for", "[registry]") {
  Fixture fixture;
  CHECK(fixture.Get("").status().message() == "Name parameter required.");
  CHECK(fixture.Get("a/b").status().message() ==
        "Name parameter invalid: \"a/b\": may not contain '/'");
  fixture.ctx.Set(rest::Namespace{""});
  CHECK(fixture.Get("one").status().message() == "Namespace parameter required.");
}

TEST_CASE("registry: update replaces and counts generations", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const auto updated =
      fixture.Edit("one", [](runtime::Object& object) { object.Edit("spec", "size") = 3; });
  REQUIRE(updated.ok());
  CHECK(!updated->created);
  CHECK(updated->object->generation() == 2);
  CHECK(updated->object->resource_version() == "3");
  CHECK(fixture.warnings->Take() == std::vector<std::string>{"created", "updated"});
}

TEST_CASE("registry: an update cannot change what the server decided", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("one");
  auto put = fixture.New("one");
  put->Edit("metadata", "generation") = 77;
  put->Edit("metadata", "creationTimestamp") = "2001-01-01T00:00:00Z";
  put->Edit("spec", "size") = 1;
  const auto updated = fixture.Put(std::move(put));
  REQUIRE(updated.ok());
  CHECK(updated->object->generation() == 2);
  CHECK(updated->object->metadata()["creationTimestamp"].AsString() ==
        created->metadata()["creationTimestamp"].AsString());
  CHECK(updated->object->uid() == created->uid());
}

TEST_CASE("registry: an update that changes nothing writes nothing", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  int made = 0;
  const auto updated = fixture.Edit("one", [&made](runtime::Object&) { ++made; });
  REQUIRE(updated.ok());
  CHECK(updated->object->resource_version() == "2");
  // The stored bytes show that what changed nothing in memory changes nothing.
  CHECK(made == 1);
}

TEST_CASE("registry: an update of an old version is a conflict", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("one");
  REQUIRE(fixture.Edit("one", [](runtime::Object& o) { o.Edit("spec", "size") = 3; }).ok());
  auto stale = created->Clone();
  stale->Edit("spec", "size") = 4;
  const auto refused = fixture.Put(std::move(stale));
  CHECK(refused.status().reason() == Reason::kConflict);
  CHECK(refused.status().message() ==
        "Operation cannot be fulfilled on widgets.test.example.com \"one\": the object has been "
        "modified; please apply your changes to the latest version and try again");
}

TEST_CASE("registry: an update of another uid is a conflict", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("one");
  auto other = fixture.New("one");
  other->Edit("metadata", "uid") = "other";
  const auto refused = fixture.Put(std::move(other));
  CHECK(refused.status().reason() == Reason::kConflict);
  CHECK(
      refused.status().message() ==
      "Operation cannot be fulfilled on widgets.test.example.com \"one\": StorageError: invalid "
      "object, Code: 4, Key: /registry/test.example.com/widgets/ns/one, ResourceVersion: 0, "
      "AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: " +
          std::string(created->uid()));
}

TEST_CASE("registry: an update without version needs a strategy that allows it", "[registry]") {
  Fixture fixture;
  fixture.strategy->unconditional = false;
  fixture.Create("one");
  const auto refused = fixture.Put(fixture.New("one"));
  CHECK(refused.status().reason() == Reason::kInvalid);
  CHECK(refused.status().message() ==
        "widgets.test.example.com \"one\" is invalid: metadata.resourceVersion: Invalid value: "
        "0: must be specified for an update");
}

TEST_CASE("registry: an update of what is not there is 404", "[registry]") {
  Fixture fixture;
  CHECK(fixture.Put(fixture.New("one")).status().message() ==
        "widgets.test.example.com \"one\" not found");
}

TEST_CASE("registry: an update may create where the strategy allows it", "[registry]") {
  Fixture fixture;
  fixture.strategy->create_on_update = true;
  auto object = fixture.New("one");
  object->Edit("metadata", "deletionGracePeriodSeconds") = 5;
  const auto created = fixture.Put(std::move(object));
  REQUIRE(created.ok());
  CHECK(created->created);
  CHECK(created->object->uid().size() == 36);
  CHECK(created->object->metadata()["deletionGracePeriodSeconds"].is_null());
}

TEST_CASE("registry: create on update with a foreign uid is a conflict", "[registry]") {
  Fixture fixture;
  fixture.strategy->create_on_update = true;
  auto object = fixture.New("one");
  object->Edit("metadata", "uid") = "gone";
  const auto refused = fixture.Put(std::move(object));
  CHECK(refused.status().reason() == Reason::kConflict);
  CHECK(refused.status().message().ends_with("UID in object meta: "));
}

TEST_CASE("registry: an invalid update is refused and changes nothing", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const auto refused = fixture.Edit("one", [](runtime::Object& o) { o.Edit("spec", "size") = -1; });
  CHECK(refused.status().reason() == Reason::kInvalid);
  const auto renamed =
      fixture.Edit("one", [](runtime::Object& o) { o.Edit("metadata", "name") = "two"; });
  CHECK(renamed.status().message() ==
        "Widget.test.example.com \"two\" is invalid: metadata.name: Invalid value: \"two\": field "
        "is immutable");
  CHECK((*fixture.Get("one"))->resource_version() == "2");
}

TEST_CASE("registry: admission judges an update with both states", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const testing::Edited info([](runtime::Object& o) { o.Edit("spec", "size") = 3; });
  std::string seen;
  const rest::ValidateObjectUpdate judge = [&](const Context&, const runtime::Object& object,
                                               const runtime::Object& old) {
    seen = std::to_string(object["spec"]["size"].AsInt()) + "/" +
           std::to_string(old["spec"]["size"].AsInt());
    return Status(Reason::kServiceUnavailable, "webhook");
  };
  const rest::UpdateRequest request{info, nullptr, judge, false, {}};
  CHECK(fixture.Store().Update(fixture.ctx, "one", request).status() ==
        Status(Reason::kServiceUnavailable, "webhook"));
  CHECK(seen == "3/0");
}

TEST_CASE("registry: a dry run of an update stores nothing", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const auto rehearsed = fixture.Update(
      "one", testing::Edited([](runtime::Object& o) { o.Edit("spec", "size") = 3; }), true);
  REQUIRE(rehearsed.ok());
  CHECK((*rehearsed->object)["spec"]["size"].AsInt() == 3);
  CHECK(rehearsed->object->resource_version() == "2");
  CHECK((**fixture.Get("one"))["spec"]["size"].is_null());
}

TEST_CASE("registry: hooks are told of what was stored, not of rehearsals", "[registry]") {
  Fixture fixture;
  std::vector<std::string> told;
  const auto tell = [&told](std::string what) {
    return [&told, what](const runtime::Object& object) {
      told.push_back(what + std::string(object.name()));
    };
  };
  fixture.options.after_create = tell("+");
  fixture.options.after_update = tell("~");
  fixture.options.after_delete = tell("-");
  fixture.Create("one");
  REQUIRE(fixture.TryCreate(fixture.New("two"), true).ok());
  REQUIRE(fixture.Edit("one", [](runtime::Object& o) { o.Edit("spec", "size") = 3; }).ok());
  meta::DeleteOptions dry;
  dry.dry_run = true;
  REQUIRE(fixture.Delete("one", dry).ok());
  REQUIRE(fixture.Delete("one").ok());
  CHECK(told == std::vector<std::string>{"+one", "~one", "-one"});
}

TEST_CASE("registry: a hook after writes needs no parsed object", "[registry]") {
  Fixture fixture;
  int told = 0;
  fixture.options.after_write = [&told] { ++told; };
  const auto created = fixture.Create("one");
  CHECK(told == 1);
  CHECK_FALSE(created->loaded());
  REQUIRE(fixture.TryCreate(fixture.New("two"), true).ok());
  CHECK(told == 1);
  // An update reads a copy of the stored object, also one that changes nothing.
  const auto grown = fixture.Edit("one", [](runtime::Object& o) { o.Edit("spec", "size") = 3; });
  REQUIRE(grown.ok());
  CHECK(told == 2);
  CHECK_FALSE(created->loaded());
  CHECK_FALSE(grown->object->loaded());
  const auto same = fixture.Edit("one", [](runtime::Object& o) { o.Edit("spec", "size") = 3; });
  REQUIRE(same.ok());
  CHECK(same->object == grown->object);
  CHECK_FALSE(same->object->loaded());
  CHECK(told == 3);
  // The next update that writes nothing finds it parsed.
  REQUIRE(fixture.Edit("one", [](runtime::Object& o) { o.Edit("spec", "size") = 3; }).ok());
  CHECK(grown->object->loaded());
  REQUIRE(fixture.Delete("one").ok());
  CHECK(told == 5);
}

TEST_CASE("registry: a TTL makes a lease", "[registry]") {
  Fixture fixture;
  fixture.options.ttl = [](const runtime::Object&, bool) { return std::chrono::seconds(100); };
  fixture.Create("one");
  storage::kv::RangeRequest request;
  request.key = "/registry/test.example.com/widgets/ns/one";
  CHECK(fixture.engine->Range(fixture.ctx, request)->kvs.at(0).lease != 0);
}

TEST_CASE("registry: a status store changes the status alone", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const auto status = *registry::NewStatusStore((fixture.Store(), fixture.store),
                                                std::make_shared<testing::StatusStrategy>());
  const auto capabilities = rest::Capabilities::Of(*status);
  CHECK(capabilities.updater != nullptr);
  CHECK(capabilities.getter != nullptr);
  CHECK(capabilities.creater == nullptr);
  CHECK(capabilities.graceful_deleter == nullptr);
  const testing::Edited info([](runtime::Object& o) {
    o.Edit("spec", "size") = 3;
    o.Edit("status", "phase") = "ready";
  });
  const rest::UpdateRequest request{info, nullptr, nullptr, false, {}};
  const auto updated = capabilities.updater->Update(fixture.ctx, "one", request);
  REQUIRE(updated.ok());
  CHECK((*updated->object)["spec"]["size"].is_null());
  CHECK((*updated->object)["status"]["phase"].AsString() == "ready");
  CHECK(updated->object->generation() == 1);
}

TEST_CASE("registry: a store without what it needs is refused", "[registry]") {
  Fixture fixture;
  CHECK(registry::NewStore({}, {}).status().message() == "registry store: engine is required");
  CHECK(registry::NewStore(fixture.config, {}).status().message() ==
        "registry store: kind is required");
}

TEST_CASE("registry: a store can do what a resource can do", "[registry]") {
  Fixture fixture;
  const auto capabilities = rest::Capabilities::Of(fixture.Store());
  CHECK(capabilities.getter != nullptr);
  CHECK(capabilities.lister != nullptr);
  CHECK(capabilities.watcher != nullptr);
  CHECK(capabilities.creater != nullptr);
  CHECK(capabilities.updater != nullptr);
  CHECK(capabilities.graceful_deleter != nullptr);
  CHECK(capabilities.collection_deleter != nullptr);
  CHECK(capabilities.table_convertor != nullptr);
  CHECK(capabilities.connecter == nullptr);
  CHECK(capabilities.singular_name->GetSingularName() == "widget");
  CHECK(capabilities.short_names->ShortNames() == std::vector<std::string>{"wd"});
  CHECK(capabilities.inline_reader->AnswersInline());
  CHECK(capabilities.readiness->ReadinessCheck().ok());
}
