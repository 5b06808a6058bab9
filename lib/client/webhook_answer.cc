#include "client/webhook_answer.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/status.h"

namespace apiserver::v0::client {

namespace {

using runtime::Value;

// The limit of an error response's body in the message, in bytes.
constexpr std::size_t kErrorTextMax = 2048;

Status Undecodable(std::string why) { return {Reason::kBadRequest, std::move(why)}; }

}  // namespace

std::string TransportError(const std::string& url, const Status& error) {
  const std::string head = "Post \"" + url + "\": ";
  if (error.reason() == Reason::kTimeout) return head + "context deadline exceeded";
  const std::string why(error.message());
  return why.starts_with(head) ? why : head + why;
}

// Follows transformResponse of client-go's rest.Request; rest.Result accepts 200 to 206.
Status ErrorOfAnswer(const http::ClientResponse& response) {
  if (response.code >= 200 && response.code <= 206) return {};
  runtime::Arena arena;
  if (const auto parsed = codec::ParseJson(response.body, arena); parsed.ok()) {
    if (std::optional<Status> status = meta::StatusFromValue(*parsed)) return *status;
  }
  std::string_view text(response.body);
  text = text.substr(0, kErrorTextMax);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const bool is_text = response.headers.Get("Content-Type").starts_with("text/");
  int retry_after = 0;
  const std::string_view header = response.headers.Get("Retry-After");
  std::from_chars(header.data(), header.data() + header.size(), retry_after);
  return meta::NewGenericServerResponse(meta::ServerResponse{.code = response.code,
                                                             .verb = "POST",
                                                             .message = is_text ? text : "unknown",
                                                             .retry_after_seconds = retry_after,
                                                             .unexpected = true});
}

// The request asked for no coding, and the size of the unpacked text is not known.
Status CheckWebhookBody(const http::ClientResponse& response) {
  if (const auto coding = response.headers.Get("Content-Encoding");
      !coding.empty() && coding != "identity") {
    return Undecodable("the answer has Content-Encoding " + std::string(coding));
  }
  if (!response.body.empty()) return {};
  return Undecodable("0-length response with status code: " + std::to_string(response.code) +
                     " and content type: " + std::string(response.headers.Get("Content-Type")));
}

Result<Value> DecodeWebhookAnswer(std::string_view body, runtime::Arena& arena) {
  const Result<Value> parsed = codec::ParseJson(body, arena);
  if (!parsed.ok()) {
    return parsed.status().WithMessage("couldn't get version/kind; json parse error: " +
                                       std::string(parsed.status().message()));
  }
  if (!parsed->is_map()) {
    return Undecodable("couldn't get version/kind; json parse error: json: cannot unmarshal " +
                       std::string(JsonTypeName(*parsed)) + " into Go value of type struct");
  }
  // A webhook server that cannot answer may send the error of its own API machinery.
  if (std::optional<Status> failure = meta::StatusFromValue(*parsed)) return *failure;
  return *parsed;
}

std::string_view JsonTypeName(const Value& value) {
  if (value.is_null()) return "null";
  if (value.is_list()) return "array";
  if (value.is_map()) return "object";
  if (value.is_number()) return "number";
  return value.is_string() ? "string" : "bool";
}

std::string AnswerReader::Text(const Value& map, std::string_view key, std::string_view path) {
  const Value value = map[key];
  if (!value.is_null() && !value.is_string()) Misfit(value, path, "string");
  return std::string(value.AsString());
}

bool AnswerReader::Bool(const Value& map, std::string_view key, std::string_view path) {
  const Value value = map[key];
  if (!value.is_null() && value.type() != Value::Type::kBool) Misfit(value, path, "bool");
  return value.AsBool();
}

Value AnswerReader::Map(const Value& map, std::string_view key, std::string_view path,
                        std::string_view type) {
  const Value value = map[key];
  if (value.is_null() || value.is_map()) return value;
  Misfit(value, path, type);
  return {};
}

Value AnswerReader::List(const Value& map, std::string_view key, std::string_view path,
                         std::string_view type) {
  const Value value = map[key];
  if (value.is_null() || value.is_list()) return value;
  Misfit(value, path, type);
  return {};
}

int AnswerReader::Int32(const Value& map, std::string_view key, std::string_view path) {
  const Value value = map[key];
  const bool fits =
      value.type() == Value::Type::kInt && value.AsInt() >= INT32_MIN && value.AsInt() <= INT32_MAX;
  if (!value.is_null() && !fits) Misfit(value, path, "int32");
  return fits ? static_cast<int>(value.AsInt()) : 0;
}

void AnswerReader::Fail(std::string why) {
  if (error_.ok()) error_ = Undecodable(std::move(why));
}

void AnswerReader::Misfit(const Value& value, std::string_view path, std::string_view type) {
  Fail("json: cannot unmarshal " + std::string(JsonTypeName(value)) + " into Go struct field " +
       std::string(path) + " of type " + std::string(type));
}

}  // namespace apiserver::v0::client
