#include "apiserver/audit/event.h"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/time.h"
#include "audit/event_json.h"
#include "runtime/time_text.h"
#include "text/json_sink.h"

namespace apiserver::v0::audit {

namespace {

constexpr std::array<std::string_view, kLevels> kLevelWords = {"None", "Metadata", "Request",
                                                               "RequestResponse"};
constexpr std::array<std::string_view, kStages> kStageWords = {"RequestReceived", "ResponseStarted",
                                                               "ResponseComplete", "Panic"};

using text::JsonSink;
using text::PutJsonString;

// Writes the members of one JSON object in the order of the calls. Names are literals without
// escapes; since their sizes are known, a name costs a few stores.
class Members {
 public:
  explicit Members(JsonSink& out) : out_(out) {}
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  ~Members() {
    if (before_ == '{') out_.Put('{');
    out_.Put('}');
  }

  template <std::size_t kSize>  // With the literal's end.
  JsonSink& Name(const char (&name)[kSize]) {
    char* const room = out_.Room(kSize + 3);
    room[0] = std::exchange(before_, ',');
    room[1] = '"';
    std::memcpy(room + 2, name, kSize - 1);
    room[kSize + 1] = '"';
    room[kSize + 2] = ':';
    out_.Advance(kSize + 3);
    return out_;
  }
  void Text(const auto& name, std::string_view value) { PutJsonString(value, Name(name)); }
  void TextUnlessEmpty(const auto& name, std::string_view value) {
    if (!value.empty()) Text(name, value);
  }
  // `value` needs no escapes.
  void Plain(const auto& name, std::string_view value) {
    Name(name).Put('"');
    out_.Put(value);
    out_.Put('"');
  }
  void NumberUnlessZero(const auto& name, int value) {
    if (value == 0) return;
    std::array<char, std::numeric_limits<int>::digits10 + 2> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    Name(name).Put({text.data(), end});
  }
  // Writes members that stand in `text`, with the comma before the first.
  void Written(std::string_view text) { out_.Put(text); }
  // Writes the object's beginning as it stands in `text`, with at least one member.
  void Begun(std::string_view text) {
    out_.Put(text);
    before_ = ',';
  }
  JsonSink& out() { return out_; }
  // Empty: a time that was never set; null as in Go.
  void Time(const auto& name, std::string_view time) {
    if (time.empty()) {
      Name(name).Put("null");
    } else {
      Plain(name, time);
    }
  }

 private:
  JsonSink& out_;
  char before_ = '{';  // Separates the next member.
};

// Writes the elements of a list by `put`.
template <class List, class Put>
void PutList(const List& list, JsonSink& out, const Put& put) {
  out.Put('[');
  bool any = false;
  for (const auto& each : list) {
    if (std::exchange(any, true)) out.Put(',');
    put(each);
  }
  out.Put(']');
}

void PutStrings(const std::vector<std::string>& values, JsonSink& out) {
  PutList(values, out, [&out](const std::string& value) { PutJsonString(value, out); });
}

// Writes a map, whose keys may need escapes.
template <class Map, class Put>
void PutMap(const Map& map, JsonSink& out, const Put& put) {
  out.Put('{');
  bool any = false;
  for (const auto& [key, value] : map) {
    if (std::exchange(any, true)) out.Put(',');
    PutJsonString(key, out);
    out.Put(':');
    put(value);
  }
  out.Put('}');
}

void PutUser(const auth::UserInfo& user, JsonSink& out) {
  Members members(out);
  members.TextUnlessEmpty("username", user.name);
  members.TextUnlessEmpty("uid", user.uid);
  if (!user.groups.empty()) PutStrings(user.groups, members.Name("groups"));
  if (user.extra.empty()) return;
  PutMap(user.extra, members.Name("extra"),
         [&out](const auto& values) { PutStrings(values, out); });
}

void PutObjectReference(const ObjectReference& ref, JsonSink& out) {
  Members members(out);
  members.TextUnlessEmpty("resource", ref.resource);
  members.TextUnlessEmpty("namespace", ref.namespace_);
  members.TextUnlessEmpty("name", ref.name);
  members.TextUnlessEmpty("uid", ref.uid);
  members.TextUnlessEmpty("apiGroup", ref.api_group);
  members.TextUnlessEmpty("apiVersion", ref.api_version);
  members.TextUnlessEmpty("resourceVersion", ref.resource_version);
  members.TextUnlessEmpty("subresource", ref.subresource);
}

void PutDetails(const StatusDetails& details, JsonSink& out) {
  Members members(out);
  members.TextUnlessEmpty("name", details.name);
  members.TextUnlessEmpty("group", details.group);
  members.TextUnlessEmpty("kind", details.kind);
  members.TextUnlessEmpty("uid", details.uid);
  if (!details.causes.empty()) {
    PutList(details.causes, members.Name("causes"), [&out](const StatusCause& each) {
      Members cause(out);
      cause.TextUnlessEmpty("reason", each.reason);
      cause.TextUnlessEmpty("message", each.message);
      cause.TextUnlessEmpty("field", each.field);
    });
  }
  members.NumberUnlessZero("retryAfterSeconds", details.retry_after_seconds);
}

void PutResponseStatus(const ResponseStatus& status, JsonSink& out) {
  Members members(out);
  members.Name("metadata").Put("{}");
  members.TextUnlessEmpty("status", status.status);
  members.TextUnlessEmpty("message", status.message);
  members.TextUnlessEmpty("reason", status.reason);
  if (status.details) PutDetails(*status.details, members.Name("details"));
  members.NumberUnlessZero("code", status.code);
}

// A zero time is one that was not set; Wall()'s epoch is never the time of a request.
std::string_view MicroTimeUnlessZero(Clock::Wall time, runtime::TimeText& text) {
  if (time == Clock::Wall()) return "";
  return runtime::PutMicroTime(runtime::UnixTime::From(time), text);
}

// Returns the time of the stage; `text` has the time at which the request was received. Both are
// equal in the first stage, and usually of one second later.
std::string_view StageTime(const Event& event, std::string_view received, runtime::TimeText& text) {
  if (event.stage_timestamp == event.request_received) return received;
  const auto time = runtime::UnixTime::From(event.stage_timestamp);
  const bool usual = received.size() == std::string_view("2006-01-02T15:04:05.000000Z").size();
  if (!usual || time.seconds != runtime::UnixTime::From(event.request_received).seconds) {
    return MicroTimeUnlessZero(event.stage_timestamp, text);
  }
  runtime::PutFraction(time, text);
  return received;
}

// Writes the fields that tell who has sent the request, and from where.
void PutClient(const Event& event, Members& members) {
  // audit.k8s.io/v1 requires `user`, so an unknown one is written as an empty object.
  static const auth::UserInfo nobody;
  PutUser(event.user ? *event.user : nobody, members.Name("user"));
  if (event.impersonated_user) PutUser(*event.impersonated_user, members.Name("impersonatedUser"));
  if (!event.impersonation_constraint.empty()) {
    Members metadata(members.Name("authenticationMetadata"));
    metadata.Text("impersonationConstraint", event.impersonation_constraint);
  }
  if (!event.source_ips.empty()) PutStrings(event.source_ips, members.Name("sourceIPs"));
  members.TextUnlessEmpty("userAgent", event.user_agent);
}

// Writes the fields that the events of a request share. `clients`: may be null.
void PutRequestFields(const Event& event, ClientTexts* clients, Members& members) {
  members.Text("requestURI", event.request_uri);
  members.Text("verb", event.verb);
  if (clients) {
    clients->PutMembers(event, members.out(), [&] { PutClient(event, members); });
  } else {
    PutClient(event, members);
  }
  if (event.object_ref) PutObjectReference(*event.object_ref, members.Name("objectRef"));
}

// Writes the fields before the stage.
void PutIdentity(const Event& event, Members& members) {
  members.Plain("level", LevelWord(event.level));
  members.Text("auditID", event.audit_id);
}

// Writes what was answered, and what was sent.
void PutAnswer(const Event& event, Members& members) {
  if (event.response_status) {
    PutResponseStatus(*event.response_status, members.Name("responseStatus"));
  }
  if (event.request_object) members.Name("requestObject").Put(*event.request_object);
  if (event.response_object) members.Name("responseObject").Put(*event.response_object);
}

// Writes the fields behind the answer. `text` has `received`, the time at which the request was
// received.
void PutTimes(const Event& event, std::string_view received, runtime::TimeText& text,
              Members& members) {
  members.Time("requestReceivedTimestamp", received);
  members.Time("stageTimestamp", StageTime(event, received, text));
  if (event.annotations.empty()) return;
  JsonSink& out = members.Name("annotations");
  PutMap(event.annotations, out, [&out](const std::string& value) { PutJsonString(value, out); });
}

// Writes the fields of an event without kind and apiVersion.
void PutEventFields(const Event& event, Members& members) {
  PutIdentity(event, members);
  members.Plain("stage", StageWord(event.stage));
  PutRequestFields(event, nullptr, members);
  PutAnswer(event, members);
  runtime::TimeText text;
  PutTimes(event, MicroTimeUnlessZero(event.request_received, text), text, members);
}

void PutType(Members& members) {
  members.Plain("kind", "Event");
  members.Plain("apiVersion", "audit.k8s.io/v1");
}

void PutWhole(const Event& event, JsonSink& sink) {
  Members members(sink);
  PutType(members);
  PutEventFields(event, members);
}

// Writes the event to its answer, and keeps that and the time at which the request was received.
void PutAndKeep(const Event& event, const KeptJson& kept, Members& members) {
  RequestJson& json = kept.request;
  const std::size_t begin = members.out().Place();
  PutType(members);
  PutIdentity(event, members);
  json.stage = members.out().Place() - begin;
  members.Plain("stage", StageWord(event.stage));
  json.uri = members.out().Place() - begin;
  PutRequestFields(event, &kept.clients, members);
  const std::string_view written = members.out().TextSince(begin);
  json.received = written.size();
  runtime::TimeText text;
  const std::string_view received = MicroTimeUnlessZero(event.request_received, text);
  json.text.reserve(written.size() + received.size());
  json.text.append(written).append(received);
}

// Writes an event of a request of which `kept` may have the text.
void PutKept(const Event& event, const KeptJson& kept, JsonSink& sink) {
  Members members(sink);
  const RequestJson& json = kept.request;
  if (json.text.empty()) {
    PutAndKeep(event, kept, members);
  } else {
    const std::string_view text = json.text;
    members.Begun(text.substr(0, json.stage));
    members.Plain("stage", StageWord(event.stage));
    members.Written(text.substr(json.uri, json.received - json.uri));
  }
  PutAnswer(event, members);
  runtime::TimeText text;
  const std::size_t size = json.text.copy(text.data(), text.size(), json.received);
  PutTimes(event, {text.data(), size}, text, members);
}

std::string QuotedList(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    if (!list.empty()) list += ',';
    list += field::Quote(value);
  }
  return list;
}

// Formats Go's time.RFC3339Nano, without zeros at the fraction's end. Microseconds are enough: an
// event keeps no more.
std::string Rfc3339Nano(Clock::Wall time) {
  if (time == Clock::Wall()) return "0001-01-01T00:00:00Z";
  std::string text = runtime::FormatMicroTime(runtime::UnixTime::From(time));
  text.pop_back();
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + "Z";
}

}  // namespace

std::string_view LevelWord(Level level) { return kLevelWords[static_cast<std::size_t>(level)]; }

std::string_view StageWord(Stage stage) { return kStageWords[static_cast<std::size_t>(stage)]; }

std::optional<Level> LevelFromWord(std::string_view word) {
  for (std::size_t i = 0; i < kLevelWords.size(); ++i) {
    if (kLevelWords[i] == word) return static_cast<Level>(i);
  }
  return std::nullopt;
}

std::optional<Stage> StageFromWord(std::string_view word) {
  for (std::size_t i = 0; i < kStageWords.size(); ++i) {
    if (kStageWords[i] == word) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

ResponseStatus ResponseStatus::Of(const Status& status) {
  ResponseStatus of{.status = status.ok() ? "Success" : "Failure",
                    .message = std::string(status.message()),
                    .reason = std::string(ReasonWord(status.reason())),
                    .code = status.code()};
  if (status.details()) of.details = *status.details();
  return of;
}

void AppendEventJson(const Event& event, std::string& out) {
  JsonSink sink(out);
  PutWhole(event, sink);
  sink.Flush();
}

void PutEventJson(const Event& event, const KeptJson& kept, JsonSink& sink) {
  PutKept(event, kept, sink);
}

std::string EventListJson(const Events& events) {
  std::string out;
  JsonSink sink(out);
  {
    Members members(sink);
    members.Plain("kind", "EventList");
    members.Plain("apiVersion", "audit.k8s.io/v1");
    members.Name("metadata").Put("{}");
    PutList(events, members.Name("items"), [&sink](const EventPtr& event) {
      Members item(sink);
      PutEventFields(*event, item);
    });
  }
  sink.Flush();
  return out;
}

std::string EventString(const Event& event) {
  const bool known = event.user && !event.user->name.empty();
  const std::string groups =
      known && !event.user->groups.empty() ? QuotedList(event.user->groups) : "<none>";
  const auth::UserInfo* const as = event.impersonated_user.get();
  const bool has_namespace = event.object_ref && !event.object_ref->namespace_.empty();
  const auto pair = [](std::string_view name, std::string_view value) {
    return " " + std::string(name) + "=" + field::Quote(value);
  };
  return Rfc3339Nano(event.request_received) + " AUDIT:" + pair("id", event.audit_id) +
         pair("stage", StageWord(event.stage)) +
         pair("ip", event.source_ips.empty() ? "<unknown>" : event.source_ips.front()) +
         pair("method", event.verb) + pair("user", known ? event.user->name : "<none>") +
         pair("groups", groups) + pair("as", as ? as->name : "<self>") +
         pair("asgroups", as && !as->groups.empty() ? QuotedList(as->groups) : "<lookup>") +
         pair("user-agent", event.user_agent) +
         pair("namespace", has_namespace ? event.object_ref->namespace_ : "<none>") +
         pair("uri", event.request_uri) + " response=\"" +
         (event.response_status ? std::to_string(event.response_status->code) : "<deferred>") +
         "\"";
}

}  // namespace apiserver::v0::audit
