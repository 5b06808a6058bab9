#include "apiserver/audit/event.h"

#include <array>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/time.h"

namespace apiserver::inline v0::audit {

namespace {

constexpr std::array<std::string_view, 4> kLevelWords = {"None", "Metadata", "Request",
                                                         "RequestResponse"};
constexpr std::array<std::string_view, kStages> kStageWords = {"RequestReceived", "ResponseStarted",
                                                               "ResponseComplete", "Panic"};

// Writes the members of one JSON object in the order of the calls.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  ~Members() { out_ += '}'; }

  std::string& Name(std::string_view name) {
    return out_.append(out_.back() == '{' ? "\"" : ",\"").append(name).append("\":");
  }
  void Text(std::string_view name, std::string_view value) {
    codec::AppendJsonString(value, Name(name));
  }
  void TextUnlessEmpty(std::string_view name, std::string_view value) {
    if (!value.empty()) Text(name, value);
  }
  void NumberUnlessZero(std::string_view name, int value) {
    if (value != 0) Name(name) += std::to_string(value);
  }
  // As Go, a time that was never set is null.
  void Time(std::string_view name, Clock::Wall time) {
    if (time == Clock::Wall()) {
      Name(name) += "null";
    } else {
      Text(name, runtime::FormatMicroTime(runtime::UnixTime::From(time)));
    }
  }

 private:
  std::string& out_;
};

void AppendStrings(const std::vector<std::string>& values, std::string& out) {
  out += '[';
  for (const std::string& value : values) {
    if (out.back() != '[') out += ',';
    codec::AppendJsonString(value, out);
  }
  out += ']';
}

void AppendUser(const auth::UserInfo& user, std::string& out) {
  Members members(out);
  members.TextUnlessEmpty("username", user.name);
  members.TextUnlessEmpty("uid", user.uid);
  if (!user.groups.empty()) AppendStrings(user.groups, members.Name("groups"));
  if (user.extra.empty()) return;
  Members extra(members.Name("extra"));
  for (const auto& [key, values] : user.extra) {
    out += out.back() == '{' ? "" : ",";
    codec::AppendJsonString(key, out);
    out += ':';
    AppendStrings(values, out);
  }
}

void AppendObjectReference(const ObjectReference& ref, std::string& out) {
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

void AppendDetails(const StatusDetails& details, std::string& out) {
  Members members(out);
  members.TextUnlessEmpty("name", details.name);
  members.TextUnlessEmpty("group", details.group);
  members.TextUnlessEmpty("kind", details.kind);
  members.TextUnlessEmpty("uid", details.uid);
  if (!details.causes.empty()) {
    members.Name("causes") += '[';
    for (const StatusCause& each : details.causes) {
      if (out.back() != '[') out += ',';
      Members cause(out);
      cause.TextUnlessEmpty("reason", each.reason);
      cause.TextUnlessEmpty("message", each.message);
      cause.TextUnlessEmpty("field", each.field);
    }
    out += ']';
  }
  members.NumberUnlessZero("retryAfterSeconds", details.retry_after_seconds);
}

void AppendResponseStatus(const ResponseStatus& status, std::string& out) {
  Members members(out);
  members.Name("metadata") += "{}";
  members.TextUnlessEmpty("status", status.status);
  members.TextUnlessEmpty("message", status.message);
  members.TextUnlessEmpty("reason", status.reason);
  if (status.details) AppendDetails(*status.details, members.Name("details"));
  members.NumberUnlessZero("code", status.code);
}

// The fields of an event but for its kind and apiVersion.
void AppendEventFields(const Event& event, Members& members) {
  members.Text("level", LevelWord(event.level));
  members.Text("auditID", event.audit_id);
  members.Text("stage", StageWord(event.stage));
  members.Text("requestURI", event.request_uri);
  members.Text("verb", event.verb);
  static const auth::UserInfo nobody;
  AppendUser(event.user ? *event.user : nobody, members.Name("user"));
  if (event.impersonated_user) {
    AppendUser(*event.impersonated_user, members.Name("impersonatedUser"));
  }
  if (!event.impersonation_constraint.empty()) {
    Members metadata(members.Name("authenticationMetadata"));
    metadata.Text("impersonationConstraint", event.impersonation_constraint);
  }
  if (!event.source_ips.empty()) AppendStrings(event.source_ips, members.Name("sourceIPs"));
  members.TextUnlessEmpty("userAgent", event.user_agent);
  if (event.object_ref) AppendObjectReference(*event.object_ref, members.Name("objectRef"));
  if (event.response_status) {
    AppendResponseStatus(*event.response_status, members.Name("responseStatus"));
  }
  if (event.request_object) members.Name("requestObject") += *event.request_object;
  if (event.response_object) members.Name("responseObject") += *event.response_object;
  members.Time("requestReceivedTimestamp", event.request_received);
  members.Time("stageTimestamp", event.stage_timestamp);
  if (event.annotations.empty()) return;
  std::string& out = members.Name("annotations");
  Members annotations(out);
  for (const auto& [key, value] : event.annotations) {
    out += out.back() == '{' ? "" : ",";
    codec::AppendJsonString(key, out);
    out += ':';
    codec::AppendJsonString(value, out);
  }
}

std::string QuotedList(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    if (!list.empty()) list += ',';
    list += field::Quote(value);
  }
  return list;
}

// Go's time.RFC3339Nano: no zeros at the fraction's end.
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
  Members members(out);
  members.Text("kind", "Event");
  members.Text("apiVersion", "audit.k8s.io/v1");
  AppendEventFields(event, members);
}

std::string EventListJson(const Events& events) {
  std::string out;
  {
    Members members(out);
    members.Text("kind", "EventList");
    members.Text("apiVersion", "audit.k8s.io/v1");
    members.Name("metadata") += "{}";
    members.Name("items") += '[';
    for (const EventPtr& event : events) {
      if (out.back() != '[') out += ',';
      Members item(out);
      AppendEventFields(*event, item);
    }
    out += ']';
  }
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

}  // namespace apiserver::inline v0::audit
