#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/dialer.h"
#include "apiserver/runtime/value.h"

// The answers of webhooks that send a review back, read as client-go reads them and with its words.
// None of them is trusted.
namespace apiserver::inline v0::client {

// Returns the error of a call without an answer in Go's words: `Post "https://…": why`.
std::string TransportError(const std::string& url, const Status& error);

// Returns the error of an answer with a code other than 2xx: the Status in its body, or one made of
// code and text. OK: the code is 200 to 206.
Status ErrorOfAnswer(const http::ClientResponse& response);

// Checks that there is a body and that it is not compressed. kBadRequest: there is none to decode.
Status CheckWebhookBody(const http::ClientResponse& response);

// Parses a JSON object; it borrows from `body`. kBadRequest: it is something else. A failure that
// was sent as a Status is returned as that error.
Result<runtime::Value> DecodeWebhookAnswer(std::string_view body, runtime::Arena& arena);

// Returns the JSON type of a value in the words of Go's encoding/json: "array".
std::string_view JsonTypeName(const runtime::Value& value);

// Reads members of the right type and keeps the first error, which has the words of Go's
// encoding/json. An absent or null member reads as zero, as in Go. `path` is the name of the field
// in Go's message, `type` its type.
class AnswerReader {
 public:
  std::string Text(const runtime::Value& map, std::string_view key, std::string_view path);
  bool Bool(const runtime::Value& map, std::string_view key, std::string_view path);
  runtime::Value Map(const runtime::Value& map, std::string_view key, std::string_view path,
                     std::string_view type);
  runtime::Value List(const runtime::Value& map, std::string_view key, std::string_view path,
                      std::string_view type);
  int Int32(const runtime::Value& map, std::string_view key, std::string_view path);

  // Keeps `why` unless there is an error already.
  void Fail(std::string why);
  const Status& error() const { return error_; }

 private:
  void Misfit(const runtime::Value& value, std::string_view path, std::string_view type);
  Status error_;
};

}  // namespace apiserver::inline v0::client
