#include <string>
#include <utility>

#include "apiserver/audit/request.h"
#include "apiserver/codec/cbor.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/meta/status.h"
#include "response/audit.h"
#include "response/negotiate.h"
#include "response/no_sniff.h"
#include "response/send.h"

namespace apiserver::v0::response {

namespace {

// An error is written in any form that is possible: a client that asked for an impossible one still
// learns the reason.
Negotiated NegotiateForError(const http::Exchange& exchange) {
  auto negotiated = Negotiate(exchange, /*target=*/nullptr, /*watch=*/false);
  return negotiated.ok() ? *negotiated : Negotiated();
}

// A metav1.Status of success with the details, as a delete answers.
std::string SuccessJson(const StatusDetails& details, int code) {
  runtime::Arena arena;
  std::string json;
  codec::AppendJson(meta::SuccessToValue(&details, code, arena), json);
  return json;
}

}  // namespace

// Never fails: it is the answer to every failure.
void WriteStatus(http::Exchange& exchange, const Status& whole) {
  // The last limit of an error's size, since its texts may quote the request.
  const Status status = meta::Bounded(whole);
  if (audit::LevelOf(exchange.ctx()) != audit::Level::kNone) {
    audit::LogResponseStatus(exchange.ctx(), audit::ResponseStatus::Of(status));
    if (IsAudited(exchange)) LogAnswer(exchange, codec::StatusToJson(status));
  }
  http::ResponseHead head{.code = status.code(), .headers = {}};
  if (status.details() && status.details()->retry_after_seconds > 0) {
    head.headers.Add("Retry-After", std::to_string(status.details()->retry_after_seconds));
  }
  if (exchange.Find<NoSniff>()) head.headers.Add("X-Content-Type-Options", "nosniff");
  const Negotiated negotiated = NegotiateForError(exchange);
  if (negotiated.type == codec::MediaType::kProtobuf) {
    head.headers.Add("Content-Type", "application/vnd.kubernetes.protobuf");
    exchange.writer().Send(std::move(head), codec::EncodeStatusProtobuf(status));
    return;
  }
  if (negotiated.type == codec::MediaType::kCbor) {
    head.headers.Add("Content-Type", "application/cbor");
    exchange.writer().Send(std::move(head), std::string(codec::kSelfDescribedCbor) +
                                                codec::CborOfJson(codec::StatusToJson(status)));
    return;
  }
  std::string json = codec::StatusToJson(status, negotiated.pretty);
  if (negotiated.type == codec::MediaType::kYaml) {
    runtime::Arena arena;
    const auto value = codec::ParseJson(json, arena);  // Cannot fail: it was just written.
    std::string yaml;
    if (value.ok()) codec::AppendYaml(*value, yaml);
    head.headers.Add("Content-Type", "application/yaml");
    exchange.writer().Send(std::move(head), std::move(yaml));
    return;
  }
  head.headers.Add("Content-Type", "application/json");
  exchange.writer().Send(std::move(head), std::move(json));
}

// `print_code`: Go prints the code of some statuses only.
http::Step WriteSuccess(http::Exchange& exchange, int code, const StatusDetails& details,
                        bool print_code) {
  Result<Negotiated> negotiated = Negotiate(exchange, /*target=*/nullptr, /*watch=*/false);
  Negotiated form = negotiated.ok() ? *negotiated : Negotiated();
  audit::LogResponseStatus(exchange.ctx(), {.status = "Success", .details = details, .code = code});
  if (IsAudited(exchange)) LogAnswer(exchange, SuccessJson(details, print_code ? code : 0));
  if (form.type == codec::MediaType::kProtobuf) {
    return SendAs(exchange, code, codec::EncodeSuccessProtobuf(details, print_code ? code : 0),
                  "application/vnd.kubernetes.protobuf");
  }
  return SendJsonAs(exchange, code, SuccessJson(details, print_code ? code : 0) + "\n", form);
}

}  // namespace apiserver::v0::response
