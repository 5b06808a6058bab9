#include "storage/backends.h"
#include "version_converter.h"

// Objects that are stored in another version than field selectors look at: through the store alone
// and through the cacher.
namespace apiserver::inline v0 {
namespace {

using testing::Backend;
using testing::Form;
using testing::NamesOf;
using testing::RemoteConverter;

Status Rename(runtime::Object& widget, const char* from, const char* to) {
  const runtime::Value value = widget["spec"][from];
  widget.Erase("spec", from);
  if (!value.is_null()) widget.Edit("spec", to) = value;
  return {};
}

// v1, the hub, says `color`; v2, which is stored, says `hue`.
runtime::KindPtr KindWith(std::shared_ptr<const runtime::VersionConverter> converter) {
  const auto version = [](const char* name, const char* field) {
    const auto spec = runtime::StructBuilder(std::string("test.Spec.") + name)
                          .Field(field, runtime::StringSchema())
                          .Field("size", runtime::IntegerSchema(64))
                          .Build();
    return runtime::KindVersion{.version = name,
                                .schema = runtime::StructBuilder(std::string("test.Widget.") + name)
                                              .Field("metadata", runtime::ObjectMetaSchema())
                                              .Field("spec", spec)
                                              .Build()};
  };
  runtime::KindOptions options{.group = "test.example.com",
                               .kind = "Widget",
                               .plural = "widgets",
                               .versions = {version("v1", "color"), version("v2", "hue")},
                               .storage_version = "v2",
                               .converter = std::move(converter)};
  options.versions[1].to_hub = [](auto& widget) { return Rename(widget, "hue", "color"); };
  options.versions[1].from_hub = [](auto& widget) { return Rename(widget, "color", "hue"); };
  return runtime::Kind::New(std::move(options)).value();
}

// Red and blue ones in turn, a to f.
struct Stored {
  explicit Stored(Form form, bool remote = true)
      : backend(form, 100'000, nullptr, KindWith(remote ? converter : nullptr)) {
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
      last = std::string(backend.Create(name, "ns", (name[0] - 'a') % 2 == 0 ? "red" : "blue")
                             ->resource_version());
    }
    Forget();
  }
  void Forget() {
    converter->TakeCalls();
    converter->TakeObjects();
  }
  // Returns once a cache that follows its engine has seen the last write, all of them at once then.
  void CatchUp() {
    storage::ListOptions options;
    options.resource_version = last;
    options.match = meta::ResourceVersionMatch::kNotOlderThan;
    REQUIRE(backend.List(options).ok());
  }
  storage::ListOptions Red(std::string_view selector = "spec.color=red") const {
    storage::ListOptions options;
    options.resource_version = last;
    options.match = meta::ResourceVersionMatch::kNotOlderThan;
    options.predicate.field = meta::FieldSelector::Parse(selector).value();
    options.predicate.field_value = [](const runtime::Object& widget, std::string_view field) {
      // A host's function looks at the version that it knows.
      return std::string(field == "metadata.name" ? widget.name()
                                                  : widget["spec"]["color"].AsString());
    };
    options.predicate.version = "v1";
    return options;
  }

  // Watches the red ones, which come first as they are.
  auto WatchRed() {
    storage::ListOptions options = Red();
    options.resource_version = "0";
    options.match = meta::ResourceVersionMatch::kUnset;
    return backend.Watch(options);
  }

  std::shared_ptr<RemoteConverter> converter = std::make_shared<RemoteConverter>();
  Backend backend;
  std::string last;  // The revision of the last write.
};

const std::vector<Form> kForms = {Form::kStore, Form::kObservingCacher, Form::kFollowingCacher};

TEST_CASE("storage: objects are handed out as they are stored, and written from any version",
          "[storage.cacher]") {
  const Form form = GENERATE(from_range(kForms));
  INFO(testing::FormName(form));
  Stored stored(form);
  const runtime::ObjectPtr a = stored.backend.Get("a").value();
  CHECK(a->version() == "v2");
  CHECK((*a)["spec"]["hue"].AsString() == "red");
  CHECK(stored.backend.List().value().items[1]->version() == "v2");
  CHECK(stored.converter->TakeCalls() == 0);

  // From what was read nothing need be converted to be written.
  const runtime::ObjectPtr resized = stored.backend.Resize("a", 3).value();
  CHECK(stored.converter->TakeCalls() == 0);
  CHECK((*resized)["spec"]["size"].AsInt() == 3);
  const auto replace = [&](const runtime::ObjectPtr& now) -> Result<storage::Update> {
    storage::Update update;
    update.object = runtime::Converted(stored.backend.ctx, now, "v1").value()->Clone();
    update.object->Edit("spec", "color") = "green";
    return update;
  };
  const auto& key = Backend::KeyOf("a");
  const auto& ctx = stored.backend.ctx;
  const auto green = stored.backend.storage->GuaranteedUpdate(ctx, key, {}, replace).value();
  CHECK(green->version() == "v2");
  CHECK((*green)["spec"]["hue"].AsString() == "green");
  CHECK((*stored.backend.Delete("a").value())["spec"]["hue"].AsString() == "green");
}

TEST_CASE("storage: a list by a field converts what it looks into in one call",
          "[storage.cacher]") {
  const Form form = GENERATE(from_range(kForms));
  INFO(testing::FormName(form));
  Stored stored(form);
  CHECK(NamesOf(stored.backend.List(stored.Red("spec.color!=blue"))) == "a c e");
  CHECK(stored.converter->TakeCalls() == 1);
  CHECK(stored.converter->TakeObjects() == 6);

  CHECK(NamesOf(stored.backend.List(stored.Red("metadata.name=d"))) == "d");
  CHECK(stored.converter->TakeCalls() == 0);
}

TEST_CASE("storage: pages by a field are filled, and end, where objects are converted for it",
          "[storage.cacher]") {
  const Form form = GENERATE(from_range(kForms));
  INFO(testing::FormName(form));
  Stored stored(form);
  for (const char* selector : {"spec.color=red", "spec.color!=blue"}) {
    storage::ListOptions options = stored.Red(selector);
    options.limit = 2;
    const auto first = stored.backend.List(options);
    CHECK(NamesOf(first) == "a c");
    REQUIRE(first.ok());
    options.continue_token = first->continue_token;
    options.resource_version.clear();
    options.match = meta::ResourceVersionMatch::kUnset;
    const auto second = stored.backend.List(options);
    CHECK(NamesOf(second) == "e");
    CHECK(second->continue_token.empty());
  }
}

TEST_CASE("storage: a list whose selector needs a converter that fails says so",
          "[storage.cacher]") {
  const Form form = GENERATE(from_range(kForms));
  INFO(testing::FormName(form));
  Stored stored(form);
  const char* selector = GENERATE("spec.color=red", "spec.color!=blue");
  stored.converter->fails = true;
  const auto failed = stored.backend.List(stored.Red(selector));
  CHECK(failed.status().message() == "conversion webhook failed: nobody answers");
  CHECK(NamesOf(stored.backend.List()) == "a b c d e f");
  stored.converter->fails = false;
  CHECK(NamesOf(stored.backend.List(stored.Red(selector))) == "a c e");
}

TEST_CASE("storage: a watch by a field converts what one turn sends in one call",
          "[storage.cacher]") {
  const Form form = GENERATE(from_range(kForms));
  INFO(testing::FormName(form));
  Stored stored(form);
  stored.CatchUp();
  auto watch = stored.WatchRed();
  CHECK(watch.NextText().starts_with("ADDED a"));
  CHECK(watch.NextText().starts_with("ADDED c"));
  CHECK(watch.NextText().starts_with("ADDED e"));
  CHECK(stored.converter->TakeCalls() == 1);
  CHECK(stored.converter->TakeObjects() == 6);

  // An object that ceases to match is deleted for the watcher; one that begins to is added.
  const auto recolor = [&](const char* name, const char* color) {
    const auto update = [color](const runtime::ObjectPtr& now) -> Result<storage::Update> {
      storage::Update made;
      made.object = now->Clone();
      made.object->Edit("spec", "hue") = color;
      return made;
    };
    const auto key = Backend::KeyOf(name);
    REQUIRE(stored.backend.storage->GuaranteedUpdate(stored.backend.ctx, key, {}, update).ok());
  };
  recolor("a", "blue");
  recolor("b", "red");
  CHECK(watch.NextText().starts_with("DELETED a"));
  CHECK(watch.NextText().starts_with("ADDED b"));
}

TEST_CASE("storage: a watch that cannot be selected for ends with the converter's error",
          "[storage.cacher]") {
  const Form form = GENERATE(from_range(kForms));
  INFO(testing::FormName(form));
  Stored stored(form);
  stored.converter->fails = true;
  auto watch = stored.WatchRed();
  const auto event = watch.Next();
  REQUIRE(event);
  CHECK(event->type == watch::EventType::kError);
  CHECK(event->error.message() == "conversion webhook failed: nobody answers");
  CHECK(watch.NextText() == "END");
}

TEST_CASE("storage: functions convert object by object for selectors", "[storage.cacher]") {
  const Form form = GENERATE(from_range(kForms));
  INFO(testing::FormName(form));
  Stored stored(form, /*remote=*/false);
  CHECK(NamesOf(stored.backend.List(stored.Red())) == "a c e");
  CHECK(NamesOf(stored.backend.List(stored.Red("spec.color!=blue"))) == "a c e");
  auto watch = stored.WatchRed();
  CHECK(watch.NextText().starts_with("ADDED a"));
  CHECK(watch.NextText().starts_with("ADDED c"));
  CHECK(watch.NextText().starts_with("ADDED e"));
}

}  // namespace
}  // namespace apiserver::inline v0
