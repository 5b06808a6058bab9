#include "proxy/remote_command_outcome.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::v0::proxy {

namespace {

using runtime::Arena;
using runtime::ListBuilder;
using runtime::MapBuilder;
using runtime::Value;

constexpr std::string_view kNonZeroExitCode = "NonZeroExitCode";
constexpr std::string_view kExitCode = "ExitCode";
constexpr std::string_view kProtocolError = "error stream protocol error: ";

std::string JsonOf(Value status) {
  std::string json;
  codec::AppendJson(status, json);
  return json;
}

// The head of each outcome.
MapBuilder Begun(std::string_view status, Arena& arena) {
  MapBuilder map(arena);
  map.Add("metadata", MapBuilder(arena).Build());
  map.Add("status", Value::String(status));
  return map;
}

Value DetailsOf(Value cause, Arena& arena) {
  ListBuilder causes(arena);
  causes.Add(cause);
  MapBuilder details(arena);
  details.Add("causes", causes.Build());
  return details.Build();
}

RemoteCommandOutcome ExitOutcome(unsigned exit_code) {
  Arena arena;
  const std::string text = std::to_string(exit_code);
  const std::string message =
      "command terminated with non-zero exit code: command terminated with exit code " + text;
  MapBuilder cause(arena);
  cause.Add("reason", Value::String(kExitCode));
  cause.Add("message", Value::String(text));
  MapBuilder status = Begun("Failure", arena);
  status.Add("message", Value::String(message));
  status.Add("reason", Value::String(kNonZeroExitCode));
  status.Add("details", DetailsOf(cause.Build(), arena));
  return {.json = JsonOf(status.Build()), .code = 200};
}

RemoteCommandOutcome ProtocolOutcome(std::string_view why) {
  return InternalOutcome(std::string(kProtocolError).append(why));
}

RemoteCommandOutcome ExitCodeOf(Value details) {
  if (!details.is_map()) return ProtocolOutcome("details must be set");
  for (const Value& cause : details["causes"].items()) {
    if (cause["reason"].AsString() != kExitCode) continue;
    const std::string_view text = cause["message"].AsString();
    std::uint8_t code = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), code);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
      std::string quoted;
      codec::AppendJsonString(text, quoted);
      return ProtocolOutcome("invalid exit code value " + quoted);
    }
    return ExitOutcome(code);
  }
  return ProtocolOutcome("no ExitCode cause given");
}

}  // namespace

RemoteCommandOutcome InternalOutcome(std::string_view why) {
  Arena arena;
  const std::string message = "Internal error occurred: " + std::string(why);
  MapBuilder cause(arena);
  cause.Add("message", Value::String(why));
  MapBuilder status = Begun("Failure", arena);
  status.Add("message", Value::String(message));
  status.Add("reason", Value::String("InternalError"));
  status.Add("details", DetailsOf(cause.Build(), arena));
  status.Add("code", Value::Int(500));
  return {.json = JsonOf(status.Build()), .code = 500};
}

RemoteCommandOutcome OutcomeOfText(std::string_view error_stream) {
  if (error_stream.empty()) return OutcomeOf(error_stream);
  return InternalOutcome("error executing remote command: " + std::string(error_stream));
}

RemoteCommandOutcome OutcomeOf(std::string_view error_stream) {
  Arena arena;
  if (error_stream.empty()) return {.json = JsonOf(Begun("Success", arena).Build()), .code = 200};
  const auto parsed = codec::ParseJson(error_stream, arena);
  if (!parsed.ok()) {
    std::string quoted;
    codec::AppendJsonString(error_stream, quoted);
    return ProtocolOutcome(std::string(parsed.status().message()) + " in " + quoted);
  }
  const std::string_view status = (*parsed)["status"].AsString();
  if (status == "Success") return {.json = JsonOf(Begun(status, arena).Build()), .code = 200};
  if (status != "Failure") return ProtocolOutcome("unknown error");
  if ((*parsed)["reason"].AsString() == kNonZeroExitCode) return ExitCodeOf((*parsed)["details"]);
  return InternalOutcome((*parsed)["message"].AsString());
}

}  // namespace apiserver::v0::proxy
