#include "client/otlp_json.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <type_traits>
#include <variant>

#include "apiserver/codec/json.h"

namespace apiserver::v0::client {

namespace {

using codec::AppendJsonString;

// Writes an object; its members are separated as they are added.
class JsonObject final {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;
  ~JsonObject() { out_ += '}'; }

  std::string& Member(std::string_view key) {
    if (out_.back() != '{') out_ += ',';
    AppendJsonString(key, out_);
    out_ += ':';
    return out_;
  }
  void Text(std::string_view key, std::string_view value) { AppendJsonString(value, Member(key)); }
  void Number(std::string_view key, std::size_t value) { Member(key) += std::to_string(value); }

 private:
  std::string& out_;
};

template <class Items, class Append>
void AppendList(const Items& items, std::string& out, Append append) {
  out += '[';
  for (const auto& item : items) {
    if (out.back() != '[') out += ',';
    append(item);
  }
  out += ']';
}

void AppendDouble(double value, std::string& out) {
  // JSON has no such numbers; protobuf's JSON form writes them as text.
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    out.append(text.data(), end);
  }
}

void AppendValue(const trace::AttributeValue& value, std::string& out) {
  JsonObject object(out);
  std::visit(
      [&object](const auto& held) {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          object.Member("boolValue") += held ? "true" : "false";
        } else if constexpr (std::is_same_v<Held, std::int64_t>) {
          // Protobuf's JSON form writes integers of 64 bits as text.
          object.Text("intValue", std::to_string(held));
        } else if constexpr (std::is_same_v<Held, double>) {
          AppendDouble(held, object.Member("doubleValue"));
        } else {
          object.Text("stringValue", held);
        }
      },
      value);
}

void AppendAttributes(std::span<const trace::Attribute> attributes, std::string& out) {
  AppendList(attributes, out, [&out](const trace::Attribute& each) {
    JsonObject object(out);
    object.Text("key", each.key);
    AppendValue(each.value, object.Member("value"));
  });
}

std::string UnixNano(Clock::Wall time) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
  return std::to_string(since.count());
}

void AppendIds(const trace::SpanContext& context, JsonObject& object) {
  object.Text("traceId", context.TraceIdHex());
  object.Text("spanId", context.SpanIdHex());
  if (!context.state.empty()) object.Text("traceState", context.state);
  object.Number("flags", context.sampled ? 1 : 0);
}

void AppendEvents(const trace::SpanData& span, JsonObject& object) {
  std::string& out = object.Member("events");
  AppendList(span.events, out, [&out](const trace::Event& event) {
    JsonObject item(out);
    item.Text("timeUnixNano", UnixNano(event.time));
    item.Text("name", event.name);
    if (!event.attributes.empty()) AppendAttributes(event.attributes, item.Member("attributes"));
  });
}

void AppendStatus(const trace::SpanData& span, JsonObject& object) {
  std::string& out = object.Member("status");
  JsonObject status(out);
  if (span.status != trace::SpanStatus::kUnset) {
    status.Number("code", static_cast<std::size_t>(span.status));
  }
  if (!span.status_message.empty()) status.Text("message", span.status_message);
}

void AppendSpan(const trace::SpanData& span, std::string& out) {
  JsonObject object(out);
  AppendIds(span.context, object);
  if (span.parent_id != trace::SpanId{}) {
    object.Text("parentSpanId", trace::SpanContext{.span_id = span.parent_id}.SpanIdHex());
  }
  object.Text("name", span.name);
  object.Number("kind", static_cast<std::size_t>(span.kind));
  object.Text("startTimeUnixNano", UnixNano(span.start));
  object.Text("endTimeUnixNano", UnixNano(span.end));
  AppendAttributes(span.attributes, object.Member("attributes"));
  if (span.dropped_attributes > 0) {
    object.Number("droppedAttributesCount", span.dropped_attributes);
  }
  if (!span.events.empty()) AppendEvents(span, object);
  if (span.dropped_events > 0) object.Number("droppedEventsCount", span.dropped_events);
  if (!span.links.empty()) {
    std::string& links = object.Member("links");
    AppendList(span.links, links, [&links](const trace::SpanContext& link) {
      JsonObject item(links);
      AppendIds(link, item);
    });
  }
  AppendStatus(span, object);
}

std::size_t BytesOfAttributes(std::span<const trace::Attribute> attributes) {
  std::size_t bytes = 0;
  for (const trace::Attribute& each : attributes) {
    bytes += sizeof(each) + each.key.size();
    if (const auto* text = std::get_if<std::string>(&each.value)) bytes += text->size();
  }
  return bytes;
}

}  // namespace

std::string OtlpJson(std::span<const trace::Attribute> resource,
                     std::span<const trace::SpanData> spans) {
  std::string out = R"({"resourceSpans":[{"resource":{"attributes":)";
  AppendAttributes(resource, out);
  out += R"(},"scopeSpans":[{"scope":{"name":"libapiserver"},"spans":)";
  AppendList(spans, out, [&out](const trace::SpanData& span) { AppendSpan(span, out); });
  out += "}]}]}";
  return out;
}

std::size_t BytesOf(const trace::SpanData& span) {
  std::size_t bytes = sizeof(span) + span.name.size() + span.context.state.size() +
                      span.status_message.size() + BytesOfAttributes(span.attributes);
  for (const trace::Event& event : span.events) {
    bytes += sizeof(event) + event.name.size() + BytesOfAttributes(event.attributes);
  }
  for (const trace::SpanContext& link : span.links) bytes += sizeof(link) + link.state.size();
  return bytes;
}

OtlpAnswer ReadOtlpAnswer(std::string_view body) {
  OtlpAnswer answer;
  runtime::Arena arena;
  const auto root = codec::ParseJson(body, arena);
  if (!root.ok()) return answer;
  const runtime::Value partial = (*root)["partialSuccess"];
  // Protobuf's JSON form writes a number of 64 bits as text.
  const runtime::Value rejected = partial["rejectedSpans"];
  std::int64_t count = rejected.AsInt();
  const std::string_view text = rejected.AsString();
  std::from_chars(text.data(), text.data() + text.size(), count);
  if (count > 0) answer.rejected_spans = static_cast<std::size_t>(count);
  answer.message = std::string(partial["errorMessage"].AsString());
  return answer;
}

}  // namespace apiserver::v0::client
