#include "groups/core/event_strategy.h"

#include <cstdint>

#include "apiserver/meta/validation.h"
#include "groups/columns.h"
#include "groups/core/checks.h"
#include "groups/core/field_text.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr std::size_t kWordBytesMax = 128;
constexpr std::size_t kMessageBytesMax = 1024;

void CheckLength(ErrorList& errors, const char* name, std::string_view text, std::size_t most) {
  if (text.size() <= most) return;
  errors.Invalid(Path(name), "", "can have at most " + std::to_string(most) + " characters");
}

void CheckWordOf(const Object& event, const char* name, ErrorList& errors) {
  const std::string_view word = event[name].AsString();
  if (word.empty()) errors.Required(Path(name));
  CheckLength(errors, name, word, kWordBytesMax);
}

void WrongNamespace(const Object& event, ErrorList& errors) {
  errors.Invalid(Path("involvedObject.namespace"), event["involvedObject"]["namespace"].AsString(),
                 "does not match event.namespace");
}

// Events of clients from before eventTime.
void CheckOldEvent(const Object& event, ErrorList& errors) {
  const std::string_view involved = event["involvedObject"]["namespace"].AsString();
  const std::string_view expected = involved.empty() ? "default" : involved;
  if (event.namespace_() != expected) WrongNamespace(event, errors);
}

void CheckNewEvent(const Object& event, ErrorList& errors) {
  if (event["involvedObject"]["namespace"].size() == 0 &&
      !IsOneOf(event.namespace_(), {"default", "kube-system"})) {
    WrongNamespace(event, errors);
  }
  const Path reporter("reportingComponent");
  const std::string_view controller = event["reportingComponent"].AsString();
  if (controller.empty()) errors.Required(reporter);
  CheckQualifiedName(errors, reporter, controller);
  for (const char* const name : {"reportingInstance", "action", "reason"}) {
    CheckWordOf(event, name, errors);
  }
  CheckLength(errors, "message", event["message"].AsString(), kMessageBytesMax);
}

// Follows pkg/registry/core/event/strategy.go and legacyValidateEvent. Metadata is not validated
// beyond what every object's is.
class EventStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  ErrorList Validate(const Context& /*ctx*/, const Object& event) const override {
    ErrorList errors;
    if (event["eventTime"].is_null()) {
      CheckOldEvent(event, errors);
    } else {
      CheckNewEvent(event, errors);
    }
    AddComplaints(errors, Path("namespace"), event.namespace_(),
                  meta::IsDNS1123Subdomain(event.namespace_()));
    return errors;
  }
  rest::GarbageCollectionPolicy DefaultGarbageCollectionPolicy(
      const Context& /*ctx*/) const override {
    return rest::GarbageCollectionPolicy::kUnsupported;
  }
};

std::string_view FirstText(Value first, Value second) {
  return first.size() != 0 ? first.AsString() : second.AsString();
}

std::string ObjectText(Value involved) {
  std::string text = LowerCase(involved["kind"].AsString());
  if (involved["name"].size() != 0) text.append("/").append(involved["name"].AsString());
  return text;
}

std::string SourceText(const Object& event) {
  std::string text(FirstText(event["source"]["component"], event["reportingComponent"]));
  const std::string_view host = FirstText(event["source"]["host"], event["reportingInstance"]);
  if (!host.empty()) text.append(", ").append(host);
  return text;
}

void PrintEvent(const Object& event, Cells& cells) {
  const Value series = event["series"];
  const bool has_first = !event["firstTimestamp"].is_null();
  const std::string first = cells.Since(event[has_first ? "firstTimestamp" : "eventTime"]);
  std::string last = first;
  if (!event["lastTimestamp"].is_null()) last = cells.Since(event["lastTimestamp"]);
  std::int64_t count = event["count"].AsInt() == 0 ? 1 : event["count"].AsInt();
  if (!series.is_null()) {
    last = cells.Since(series["lastObservedTime"]);
    count = series["count"].AsInt();
  }
  cells.Text(last)
      .Text(event["type"].AsString())
      .Text(event["reason"].AsString())
      .Text(ObjectText(event["involvedObject"]))
      .Text(event["involvedObject"]["fieldPath"].AsString())
      .Text(SourceText(event))
      .Text(TrimSpace(event["message"].AsString()))
      .Text(first)
      .Number(count)
      .Text(event.name());
}

}  // namespace

std::shared_ptr<const rest::Strategy> NewEventStrategy() {
  return std::make_shared<EventStrategy>();
}

std::shared_ptr<const rest::TableConvertor> NewEventColumns(const Clock& clock) {
  meta::TableColumnDefinition name = NameColumn();
  name.priority = 1;
  return NewColumns(
      {TextColumn("Last Seen", "When it happened last."), TextColumn("Type", "Normal or Warning."),
       TextColumn("Reason", "Why it happened."), TextColumn("Object", "What it is about."),
       TextColumn("Subobject", "The part of the object that it is about.", 1),
       TextColumn("Source", "Who reports it.", 1), TextColumn("Message", "What happened."),
       TextColumn("First Seen", "When it happened first.", 1),
       TextColumn("Count", "How often it happened.", 1), std::move(name)},
      &PrintEvent, clock);
}

std::string EventField(const Object& event, std::string_view field) {
  if (field != "source") return FieldText(event, field);
  return std::string(FirstText(event["source"]["component"], event["reportingComponent"]));
}

}  // namespace apiserver::v0::groups::core
