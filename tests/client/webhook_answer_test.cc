// What webhooks answer, as client-go's rest.Request and encoding/json read it.
#include "client/webhook_answer.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/codec/json.h"

using namespace apiserver;  // NOLINT: tests only.
using runtime::Value;

TEST_CASE("webhook answer: a connection's error has Go's words", "[client]") {
  const std::string url = "https://hook.test/convert?timeout=30s";
  const Status refused(Reason::kServiceUnavailable, "dial tcp 127.0.0.1:1: connection refused");
  const std::string text = "Post \"" + url + "\": dial tcp 127.0.0.1:1: connection refused";
  CHECK(client::TransportError(url, refused) == text);
  CHECK(client::TransportError(url, refused.WithMessage(text)) == text);
  CHECK(client::TransportError(url, Status(Reason::kTimeout, "late")) ==
        "Post \"" + url + "\": context deadline exceeded");
}

TEST_CASE("webhook answer: codes other than 2xx are errors, a Status in them is kept", "[client]") {
  CHECK(client::ErrorOfAnswer({.code = 200}).ok());
  CHECK(client::ErrorOfAnswer({.code = 206}).ok());
  const Status plain = client::ErrorOfAnswer(
      {.code = 422, .headers = {{"Content-Type", "text/plain"}}, .body = "Cannot handle v1\n"});
  CHECK(plain.code() == 422);
  CHECK(plain.message() == "the server rejected our request due to an error in our request");
  const Status sent = client::ErrorOfAnswer(
      {.code = 403,
       .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no",)"
               R"("reason":"Forbidden","code":403})"});
  CHECK(sent.message() == "no");
  CHECK(sent.reason() == Reason::kForbidden);
}

TEST_CASE("webhook answer: an empty or compressed body is not decoded", "[client]") {
  CHECK(client::CheckWebhookBody({.code = 200, .body = "{}"}).ok());
  CHECK(client::CheckWebhookBody(
            {.code = 200, .headers = {{"Content-Encoding", "identity"}}, .body = "{}"})
            .ok());
  CHECK(client::CheckWebhookBody({.code = 200, .headers = {{"Content-Type", "text/html"}}})
            .message() == "0-length response with status code: 200 and content type: text/html");
  CHECK(client::CheckWebhookBody(
            {.code = 200, .headers = {{"Content-Encoding", "gzip"}}, .body = "\x1f"})
            .message() == "the answer has Content-Encoding gzip");
}

TEST_CASE("webhook answer: a body is an object, and no Status of a failure", "[client]") {
  const auto error = [](std::string_view body) {
    runtime::Arena arena;
    return std::string(client::DecodeWebhookAnswer(body, arena).status().message());
  };
  CHECK(error("{}").empty());
  CHECK(error("x") ==
        "couldn't get version/kind; json parse error: invalid character 'x' looking "
        "for beginning of value");
  CHECK(error("[]") ==
        "couldn't get version/kind; json parse error: json: cannot unmarshal array "
        "into Go value of type struct");
  CHECK(error("null") ==
        "couldn't get version/kind; json parse error: json: cannot unmarshal null "
        "into Go value of type struct");
  CHECK(error(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"out"})") ==
        "out");
}

TEST_CASE("webhook answer: the first member of a wrong type is named", "[client]") {
  runtime::Arena arena;
  const Value map =
      codec::ParseJson(R"({"text":"a","yes":true,"map":{},"list":[1],"number":7,"nothing":null,)"
                       R"("large":3000000000})",
                       arena)
          .value();
  client::AnswerReader right;
  CHECK(right.Text(map, "text", "T.text") == "a");
  CHECK(right.Text(map, "nothing", "T.nothing").empty());
  CHECK(right.Bool(map, "yes", "T.yes"));
  CHECK_FALSE(right.Bool(map, "absent", "T.absent"));
  CHECK(right.Map(map, "map", "T.map", "v1.Map").is_map());
  CHECK(right.List(map, "list", "T.list", "[]int").size() == 1);
  CHECK(right.Int32(map, "number", "T.number") == 7);
  CHECK(right.error().ok());

  client::AnswerReader wrong;
  CHECK(wrong.Int32(map, "large", "T.large") == 0);
  CHECK(wrong.List(map, "map", "T.map", "[]int").is_null());
  CHECK(wrong.error().message() ==
        "json: cannot unmarshal number into Go struct field T.large of type int32");
  client::AnswerReader list;
  CHECK(list.Map(map, "list", "T.list", "v1.Map").is_null());
  CHECK(list.error().message() ==
        "json: cannot unmarshal array into Go struct field T.list of type v1.Map");
}
