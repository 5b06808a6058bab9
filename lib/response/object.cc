#include <utility>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "response/audit.h"
#include "response/metadata.h"
#include "response/negotiate.h"
#include "response/send.h"
#include "response/table.h"

namespace apiserver::v0::response {

namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

// The hot path: the response shares existing bytes with their cache.
http::Step SendBody(http::Exchange& exchange, int code, const runtime::Object& object,
                    const std::string& version, const runtime::EncodingPtr& encoding) {
  http::Bytes bytes(object.kind_ptr(), object.kind().JsonPrefix(version));
  for (const std::string_view piece : encoding->pieces()) bytes.Append(encoding, piece);
  bytes.Append(nullptr, "\n");
  return SendAs(exchange, code, std::move(bytes), "application/json");
}

// Audits the object as JSON, in whatever format it is sent.
void LogWhole(const http::Exchange& exchange, const runtime::Object& object, const Target& target) {
  if (!IsAudited(exchange)) return;
  const auto encoding = codec::EncodingOf(exchange.ctx(), object, target.version,
                                          runtime::Format::kJson, EncodingShareOf(exchange));
  if (!encoding.ok()) return;
  std::string json(object.kind().JsonPrefix(target.version));
  (*encoding)->AppendTo(json);
  LogAnswer(exchange, json);
}

// Plain JSON shares the kept encoding with other requests. The other forms are made for each
// request.
http::Step WriteWhole(http::Exchange& exchange, int code, const runtime::Object& object,
                      const Target& target, const Negotiated& negotiated) {
  LogWhole(exchange, object, target);
  if (negotiated.type == codec::MediaType::kProtobuf) {
    RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
    ASSIGN_OR_RETURN(
        std::string bytes,
        codec::EncodeProtobuf(exchange.ctx(), object, target.version, EncodingShareOf(exchange)));
    return SendAs(exchange, code, std::move(bytes), std::string(kProtobuf));
  }
  ASSIGN_OR_RETURN(const runtime::EncodingPtr encoding,
                   codec::EncodingOf(exchange.ctx(), object, target.version, runtime::Format::kJson,
                                     EncodingShareOf(exchange)));
  if (negotiated.type == codec::MediaType::kJson && !negotiated.pretty) {
    return SendBody(exchange, code, object, target.version, encoding);
  }
  // Indenting and transcoding work on a copy of the whole object, which needs memory.
  RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
  std::string json(object.kind().JsonPrefix(target.version));
  encoding->AppendTo(json);
  return SendJsonAs(exchange, code, json + "\n", negotiated);
}

// Metadata is a range of the stored JSON, so nothing is encoded again.
http::Step WritePartial(http::Exchange& exchange, int code, const runtime::Object& object,
                        const Target& target, const Negotiated& negotiated) {
  RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
  const bool protobuf = negotiated.type == codec::MediaType::kProtobuf;
  std::string json;
  // An audit event has JSON, so that it is made for an audited response in protobuf as well.
  if (!protobuf || IsAudited(exchange)) {
    ASSIGN_OR_RETURN(const runtime::EncodingPtr encoding,
                     codec::EncodingOf(exchange.ctx(), object, target.version,
                                       runtime::Format::kJson, EncodingShareOf(exchange)));
    AppendPartialObjectMetadata(*encoding, negotiated.meta_version, json);
    LogAnswer(exchange, json);
  }
  if (protobuf) {
    ASSIGN_OR_RETURN(std::string bytes,
                     codec::EncodePartialObjectMetadataProtobuf(object, negotiated.meta_version));
    return SendAs(exchange, code, std::move(bytes), std::string(kProtobuf));
  }
  return SendJsonAs(exchange, code, json + "\n", negotiated);
}

http::Step WriteTable(http::Exchange& exchange, int code, const runtime::ObjectPtr& object,
                      const Target& target, const Negotiated& negotiated) {
  RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
  ASSIGN_OR_RETURN(const meta::TableOptions options, TableOptionsOf(exchange));
  const std::string list_meta =
      ListMetaJson(std::string(object->resource_version()), "", std::nullopt);
  ASSIGN_OR_RETURN(const auto document, NewTableDocument(exchange.ctx(), {object}, list_meta,
                                                         {.target = target,
                                                          .options = options,
                                                          .meta_version = negotiated.meta_version,
                                                          .encodings = EncodingShareOf(exchange)}));
  std::string json = WholeOf(*document);
  LogAnswer(exchange, std::string_view(json).substr(0, json.size() - 1));
  return SendJsonAs(exchange, code, std::move(json), negotiated);
}

}  // namespace

// True: WriteObject() only hands bytes over, so it may run on a loop.
bool IsEncoded(const http::Exchange& exchange, const runtime::Object& object,
               const Target& target) {
  const auto negotiated = Negotiate(exchange, &target, /*watch=*/false);
  // An audited response also copies its JSON for the event.
  return !IsAudited(exchange) && negotiated.ok() && negotiated->shape == Shape::kObject &&
         !negotiated->pretty && negotiated->type == codec::MediaType::kJson &&
         object.FindEncoding(target.version, runtime::Format::kJson);
}

http::Step WriteObject(http::Exchange& exchange, int code, const runtime::ObjectPtr& object,
                       const Target& target) {
  ASSIGN_OR_RETURN(const Negotiated negotiated, Negotiate(exchange, &target, /*watch=*/false));
  return WriteNegotiated(exchange, code, object, target, negotiated);
}

http::Step WriteNegotiated(http::Exchange& exchange, int code, const runtime::ObjectPtr& object,
                           const Target& target, const Negotiated& negotiated) {
  RETURN_IF_ERROR(MayAuditHere(exchange));
  const trace::Span span = SerializeSpan(exchange, negotiated);
  switch (negotiated.shape) {
    case Shape::kObject:
      return WriteWhole(exchange, code, *object, target, negotiated);
    case Shape::kPartialObjectMetadata:
      return WritePartial(exchange, code, *object, target, negotiated);
    case Shape::kTable:
      return WriteTable(exchange, code, object, target, negotiated);
    case Shape::kPartialObjectMetadataList:
      break;
  }
  return Status(
      Reason::kNotAcceptable,
      "you requested PartialObjectMetadataList, but the requested object is not a list (" +
          object->kind().kind() + ")");
}

}  // namespace apiserver::v0::response
