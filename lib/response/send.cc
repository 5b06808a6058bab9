#include "response/send.h"

#include <utility>

#include "apiserver/codec/cbor.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/meta/errors.h"
#include "apiserver/response/response.h"
#include "base/status_macros.h"
#include "response/gzip.h"
#include "response/size.h"

namespace apiserver::v0::response {

namespace {

http::Step SendGzipped(http::Exchange& exchange, http::ResponseHead head,
                       const http::Bytes& bytes) {
  std::string compressed = Gzip(bytes);
  if (compressed.empty()) return Status(Reason::kInternalError, "no memory to compress the answer");
  AddGzipHeaders(head);
  exchange.writer().Send(std::move(head), std::move(compressed));
  return http::Step::Done();
}

}  // namespace

http::Step SendAs(http::Exchange& exchange, int code, http::Bytes bytes, std::string content_type) {
  http::ResponseHead head{.code = code, .headers = {}};
  head.headers.Add("Content-Type", std::move(content_type));
  if (bytes.size() > kGzipThresholdBytes && WantsGzip(exchange, "APIResponseCompression")) {
    // Compressing takes time in proportion to the size, so a loop leaves it to the pool.
    if (exchange.ctx().may_block()) return SendGzipped(exchange, std::move(head), bytes);
    return http::Step::OnPool(
        [&exchange, head = std::move(head), bytes = std::move(bytes)]() mutable {
          return SendGzipped(exchange, std::move(head), bytes);
        });
  }
  exchange.writer().Send(std::move(head), std::move(bytes));
  return http::Step::Done();
}

Status NoRoomToAnswer() {
  return meta::NewTooManyRequests(
      "answers that were not sent yet take all memory there is for them, please try again", 1);
}

Status CheckRoomToAnswer(const http::Exchange& exchange) {
  const bool refused = exchange.request().method == "GET" && exchange.OutputOver();
  // Only reads are refused: a write has happened, and its client must learn so.
  return refused ? NoRoomToAnswer() : Status();
}

codec::EncodingShare EncodingShareOf(const http::Exchange& exchange) {
  return {exchange.memory(), &exchange.memory()->encodings};
}

trace::Span SerializeSpan(const http::Exchange& exchange, const Negotiated& negotiated) {
  trace::Span span = trace::StartSpan(exchange.ctx(), "SerializeObject");
  if (!span.recording()) return span;
  const http::Request& request = exchange.request();
  span.SetAttribute("method", request.method);
  span.SetAttribute("url", request.path);
  span.SetAttribute("protocol", request.http_major == 2 ? "HTTP/2.0" : "HTTP/1.1");
  span.SetAttribute("mediaType", std::string(codec::MediaTypeName(negotiated.type)));
  return span;
}

http::Step SendJsonAs(http::Exchange& exchange, int code, std::string json,
                      const Negotiated& negotiated) {
  // Protobuf has another form than JSON for these documents, or none.
  if (negotiated.type == codec::MediaType::kProtobuf) {
    return meta::NewNotAcceptable("application/json, application/yaml");
  }
  const bool as_it_is = negotiated.type == codec::MediaType::kJson && !negotiated.pretty;
  if (!as_it_is && !MayMakeHere(exchange, {.parsed_bytes = json.size()}).ok()) {
    return http::Step::OnPool([&exchange, code, json = std::move(json), negotiated]() mutable {
      return SendJsonAs(exchange, code, std::move(json), negotiated);
    });
  }
  // YAML and pretty JSON are made from the compact text, so that an object has one encoding to
  // keep.
  if (negotiated.type == codec::MediaType::kYaml) {
    runtime::Arena arena;
    ASSIGN_OR_RETURN(const runtime::Value value, codec::ParseJson(json, arena));
    std::string yaml;
    codec::AppendYaml(value, yaml);
    return SendAs(exchange, code, std::move(yaml), "application/yaml");
  }
  if (negotiated.type == codec::MediaType::kCbor) {
    return SendAs(exchange, code, std::string(codec::kSelfDescribedCbor) + codec::CborOfJson(json),
                  "application/cbor");
  }
  if (negotiated.pretty) {
    while (!json.empty() && json.back() == '\n') json.pop_back();
    json = codec::IndentJson(json);
  }
  return SendAs(exchange, code, std::move(json), "application/json");
}

// The members of metav1.ListMeta in Go's order; selfLink is never set.
std::string ListMetaJson(const std::string& resource_version, const std::string& continue_token,
                         const std::optional<std::int64_t>& remaining_item_count) {
  std::string json = "{";
  const auto add = [&json](std::string_view name, const std::string& value) {
    // Go omits empty members.
    if (value.empty()) return;
    if (json.size() > 1) json += ',';
    json.append("\"").append(name).append("\":");
    codec::AppendJsonString(value, json);
  };
  add("resourceVersion", resource_version);
  add("continue", continue_token);
  if (remaining_item_count) {
    if (json.size() > 1) json += ',';
    json += "\"remainingItemCount\":" + std::to_string(*remaining_item_count);
  }
  return json + "}";
}

// Used for documents that are made once and shared by requests, such as those of discovery.
http::Step WriteJson(http::Exchange& exchange, int code, std::shared_ptr<const std::string> json) {
  ASSIGN_OR_RETURN(const Negotiated negotiated,
                   Negotiate(exchange, /*target=*/nullptr, /*watch=*/false));
  if (negotiated.type == codec::MediaType::kJson && !negotiated.pretty) {
    const std::string_view text = *json;
    return SendAs(exchange, code, http::Bytes(std::move(json), text), "application/json");
  }
  // The legacy documents have protobuf messages of their own.
  if (negotiated.type == codec::MediaType::kProtobuf) {
    runtime::Arena arena;
    ASSIGN_OR_RETURN(const runtime::Value document, codec::ParseJson(*json, arena));
    ASSIGN_OR_RETURN(std::string bytes, codec::EncodeMetaProtobuf(document));
    return SendAs(exchange, code, std::move(bytes), "application/vnd.kubernetes.protobuf");
  }
  return SendJsonAs(exchange, code, *json, negotiated);
}

http::Step WriteText(http::Exchange& exchange, int code, std::string text) {
  return SendAs(exchange, code, std::move(text), "text/plain; charset=utf-8");
}

}  // namespace apiserver::v0::response
