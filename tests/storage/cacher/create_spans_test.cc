#include "apiserver/base/trace.h"
#include "base/kept_spans.h"
#include "storage/backends.h"

// What the spans of creations say of their outcomes.
namespace apiserver::inline v0 {
namespace {

using testing::AttributeOf;
using testing::Backend;
using testing::Form;
using testing::KeptSpans;

// The refusal that the span "Create store" of a creation tells; empty: none.
std::string RefusalOf(bool async, const std::string& name, const std::string& resource_version) {
  Backend backend(Form::kStore);
  backend.Create("taken");
  const auto kept = std::make_shared<KeptSpans>();
  const auto tracer = KeptSpans::Tracer(kept);
  backend.ctx.Set(tracer->StartRoot("root"));
  const auto object = testing::NewWidget(backend.kind, name);
  if (!resource_version.empty()) object->Edit("metadata", "resourceVersion") = resource_version;

  Status outcome;
  if (async) {
    Notification told;
    backend.storage->CreateAsync(backend.ctx, Backend::KeyOf(name), *object,
                                 [&](const Result<runtime::ObjectPtr>& created) {
                                   outcome = created.status();
                                   told.Notify();
                                 });
    REQUIRE(told.WaitFor(std::chrono::seconds(60)));
  } else {
    outcome = backend.storage->Create(backend.ctx, Backend::KeyOf(name), *object, {}).status();
  }

  const auto spans = kept->all();
  const trace::SpanData& span = testing::SpanNamed(spans, "Create store");
  CHECK(span.status == trace::SpanStatus::kUnset);
  CHECK(AttributeOf(span, "key") == Backend::KeyOf(name));
  if (outcome.ok()) {
    CHECK(span.events.empty());
    return "";
  }
  REQUIRE(span.events.size() == 1);
  CHECK(span.events[0].name == "refused");
  const auto message = std::get<std::string>(span.events[0].attributes.at(0).value);
  CHECK(message == outcome.message());
  return message;
}

TEST_CASE("storage.cacher: the span of a creation tells why it failed", "[storage.cacher]") {
  for (const bool async : {false, true}) {
    CAPTURE(async);
    CHECK(RefusalOf(async, "new", "").empty());
    CHECK(RefusalOf(async, "new", "5") ==
          "resourceVersion should not be set on objects to be created");
    CHECK(RefusalOf(async, "taken", "").find("taken") != std::string::npos);
  }
}

}  // namespace
}  // namespace apiserver::inline v0
