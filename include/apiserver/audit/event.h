#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"

// The audit events of requests: audit.k8s.io/v1, k8s.io/apiserver/pkg/apis/audit/v1/types.go.
namespace apiserver::inline v0::audit {

// The amount that is recorded; each level includes those before it.
enum class Level : std::uint8_t { kNone, kMetadata, kRequest, kRequestResponse };
inline constexpr int kLevels = 4;
// The moment of a request at which an event is made.
enum class Stage : std::uint8_t {
  kRequestReceived,
  kResponseStarted,  // Only for requests that may stay open for long.
  kResponseComplete,
  kPanic,  // An exception was caught.
};
inline constexpr int kStages = 4;

// Returns the word of the API: "RequestResponse".
std::string_view LevelWord(Level level);
// Returns the word of the API: "ResponseStarted".
std::string_view StageWord(Stage stage);
// The inverse. nullopt: no such word.
std::optional<Level> LevelFromWord(std::string_view word);
// The same for stages.
std::optional<Stage> StageFromWord(std::string_view word);

// The object that a request is about.
struct ObjectReference {
  std::string resource;
  std::string namespace_ = {};
  std::string name = {};
  std::string uid = {};
  std::string api_group = {};
  std::string api_version = {};
  std::string resource_version = {};
  std::string subresource = {};

  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

// The parts of metav1.Status whose size is bounded.
struct ResponseStatus {
  std::string status = {};  // "Success", "Failure"; empty: not known.
  std::string message = {};
  std::string reason = {};
  std::optional<StatusDetails> details = {};
  int code = 0;

  // Copies those parts of `status`.
  static ResponseStatus Of(const Status& status);
  friend bool operator==(const ResponseStatus&, const ResponseStatus&) = default;
};

// JSON text, shared because events of later stages carry it too.
using JsonPtr = std::shared_ptr<const std::string>;

// One event. Immutable once it is handed to a Backend.
struct Event {
  Level level = Level::kNone;
  std::string audit_id = {};
  Stage stage = Stage::kRequestReceived;
  std::string request_uri = {};
  std::string verb = {};
  auth::UserInfoPtr user = {};               // Null: not authenticated.
  auth::UserInfoPtr impersonated_user = {};  // Null: no impersonation.
  // authenticationMetadata.impersonationConstraint.
  std::string impersonation_constraint = {};
  std::vector<std::string> source_ips = {};
  std::string user_agent = {};
  std::optional<ObjectReference> object_ref = {};
  std::optional<ResponseStatus> response_status = {};
  JsonPtr request_object = {};
  JsonPtr response_object = {};
  Clock::Wall request_received = {};
  Clock::Wall stage_timestamp = {};
  std::map<std::string, std::string> annotations = {};
};
// The JSON that the events of one request share. A backend that writes JSON keeps it here between
// two stages; who changes a field of the event before responseStatus clears `text`.
struct RequestJson {
  // The first event from its beginning to objectRef, and then the time at which the request was
  // received. Empty: no event was written yet.
  std::string text;
  // Offsets in `text`: of the stage, of requestURI with the comma before it, and of that time.
  std::size_t stage = 0;
  std::size_t uri = 0;
  std::size_t received = 0;
};
using EventPtr = std::shared_ptr<const Event>;
using Events = std::vector<EventPtr>;

// Appends the event as JSON with kind and apiVersion, fields in Go's order, without newline.
void AppendEventJson(const Event& event, std::string& out);
// Returns an EventList of them, without newline.
std::string EventListJson(const Events& events);
// Returns one line of the legacy text format, without newline: audit.EventString.
std::string EventString(const Event& event);

}  // namespace apiserver::inline v0::audit
