#include <algorithm>
#include <thread>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/partial_object_metadata.h"
#include "apiserver/meta/status.h"
#include "apiserver/runtime/settle.h"

#include "base/status_macros.h"
#include "codec/encode.h"
#include "codec/protobuf_message.h"
#include "codec/protobuf_wire.h"
#include "codec/type_meta.h"
#include "text/utf8.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Object;
using runtime::Value;
using wire::Token;

constexpr std::string_view kMetaV1 = "v1";
constexpr int kMetadataNumber = 1;
constexpr int kItemsNumber = 2;
// The most bytes of an envelope besides its texts and the message.
constexpr std::size_t kEnvelopeBytes = 64;
// The items of a list that take about half a millisecond.
constexpr std::size_t kItemsAtAStretch = 256;

Status BadEnvelope(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }

Status NotMarshalable(const runtime::Kind& kind, std::string_view version) {
  return Status(Reason::kNotAcceptable, NoProtobufMessage(kind, version));
}

// ListMeta as gogo writes it: texts always, the count only when it is known.
void AppendListMeta(const runtime::List& list, int number, std::string& out) {
  wire::Nested meta(number, out);
  wire::PutBytes(1, "", out);
  wire::PutBytes(2, list.resource_version, out);
  wire::PutBytes(3, list.continue_token, out);
  if (list.remaining_item_count) wire::PutInt(4, *list.remaining_item_count, out);
  meta.Close();
}

// Returns the bytes before a message of this size, in a string with room for it.
std::string EnvelopeHead(std::string_view api_version, std::string_view kind, std::size_t size) {
  std::string out(kProtobufPrefix);
  out.reserve(size + api_version.size() + kind.size() + kEnvelopeBytes);
  wire::Nested type_meta(1, out);
  wire::PutBytes(1, api_version, out);
  wire::PutBytes(2, kind, out);
  type_meta.Close();
  wire::PutTag(2, wire::Type::kLength, out);
  wire::PutVarint(size, out);
  return out;
}

// Appends the content encoding and type, which are empty.
void EndEnvelope(std::string& out) {
  wire::PutBytes(3, "", out);
  wire::PutBytes(4, "", out);
}

std::string StatusEnvelope(const Value& status) {
  std::string message;
  // Cannot fail: the value is made here and fits.
  (void)AppendMessage(status, *MetaMessageSchema("Status"), message);
  return Envelope(kMetaV1, "Status", message);
}

// Returns whether every string of `value`, a Status and so three levels deep, is UTF-8.
bool HasOnlyUtf8(const Value& value) {
  return text::ValidUtf8(value.AsString()) && std::ranges::all_of(value.items(), HasOnlyUtf8) &&
         std::ranges::all_of(value.members(),
                             [](const runtime::Member& m) { return HasOnlyUtf8(m.value); });
}

// Encodes PartialObjectMetadata: ObjectMeta as field 1. `revision` replaces the object's own unless
// it is empty.
Result<std::string> PartialMessage(const Object& object, const std::string& revision = "") {
  const runtime::KindPtr& kind = meta::PartialObjectMetadataKind();
  Object partial(kind, "v1", runtime::Arena(), Value());
  partial.SetRoot(runtime::With(Value::Map({}), "metadata", object.metadata(), partial.arena()));
  if (!revision.empty()) partial.Edit("metadata", "resourceVersion") = revision;
  RETURN_IF_ERROR(runtime::Settle(partial, {.defaults = false}));
  std::string message;
  wire::Nested metadata(kMetadataNumber, message);
  RETURN_IF_ERROR(AppendMessage(partial.metadata(), *runtime::ObjectMetaSchema(), message));
  metadata.Close();
  return message;
}

// Returns the object of a DELETED event: the last state with the revision of the delete.
std::string WithRevision(const runtime::Encoding& encoding, const std::string& revision,
                         const Object& object) {
  if (revision.empty() || revision == object.resource_version()) return encoding.ToString();
  const runtime::BodyMarks& marks = encoding.marks();
  // Lengths precede the text they count, up to two levels above, so the message is rebuilt.
  std::string metadata;
  encoding.AppendTo(metadata, marks.metadata_begin, marks.metadata_end);
  std::string text;
  wire::PutVarint(revision.size(), text);
  text += revision;
  std::string old_length;
  const std::uint32_t old_size = marks.rv_end - marks.rv_begin;
  wire::PutVarint(old_size, old_length);
  metadata.replace(marks.rv_begin - marks.metadata_begin - old_length.size(),
                   old_length.size() + old_size, text);
  std::string body;
  wire::PutBytes(kMetadataNumber, metadata, body);
  encoding.AppendTo(body, marks.metadata_end, static_cast<std::uint32_t>(encoding.size()));
  return body;
}

// Returns the enveloped object of an event.
Result<std::string> EventObject(const Context& ctx, const watch::Event& event,
                                const WatchForm& form) {
  const auto& [kind, version, meta_version, share, made] = form;
  if (event.type == watch::EventType::kError) return EncodeStatusProtobuf(event.error);
  runtime::ObjectPtr object = event.object;
  if (event.type == watch::EventType::kBookmark || object == nullptr) {
    auto bookmark = std::make_shared<Object>(meta_version.empty() && object != nullptr
                                                 ? object->kind_ptr()
                                                 : meta::PartialObjectMetadataKind(),
                                             "v1");
    bookmark->Edit("metadata", "resourceVersion") = event.resource_version;
    if (event.initial_events_end) {
      bookmark->Edit("metadata", "annotations", "k8s.io/initial-events-end") = "true";
    }
    ASSIGN_OR_RETURN(std::string message, PartialMessage(*bookmark));
    if (!meta_version.empty()) {
      return Envelope("meta.k8s.io/" + std::string(meta_version), "PartialObjectMetadata", message);
    }
    // Returns an empty object of the kind. Absent fields read as zero, which a Go server would
    // write.
    return Envelope(kind.gvk(version).group_version().ToString(), kind.kind(), message);
  }
  const std::string revision =
      event.type == watch::EventType::kDeleted ? event.resource_version : "";
  if (!meta_version.empty()) {
    ASSIGN_OR_RETURN(std::string message, PartialMessage(*object, revision));
    return Envelope("meta.k8s.io/" + std::string(meta_version), "PartialObjectMetadata", message);
  }
  runtime::EncodingPtr encoding = made;
  if (encoding == nullptr) {
    ASSIGN_OR_RETURN(encoding,
                     EncodingOf(ctx, *object, version, runtime::Format::kProtobuf, share));
  }
  return Envelope(kind.gvk(version).group_version().ToString(), kind.kind(),
                  WithRevision(*encoding, revision, *object));
}

Status ReadTypeMeta(std::string_view bytes, ProtobufEnvelope& envelope) {
  for (wire::Reader reader(bytes, "TypeMeta"); !reader.done();) {
    ASSIGN_OR_RETURN(const Token token, reader.Next());
    if (token.number != 1 && token.number != 2) continue;
    const bool version = token.number == 1;
    RETURN_IF_ERROR(wire::Expect(token, wire::Type::kLength, version ? "APIVersion" : "Kind"));
    (version ? envelope.api_version : envelope.kind) = token.bytes;
  }
  return {};
}

}  // namespace

bool HasProtobuf(const runtime::Kind& kind, std::string_view version) {
  const runtime::KindVersion* found = kind.FindVersion(version);
  if (found == nullptr || kind.semantics() != runtime::Semantics::kGoType) return false;
  const runtime::Schema& schema = *found->schema;
  if (schema.type != runtime::SchemaType::kStruct) return false;
  const bool other_metadata = !schema.fields().empty() && schema.fields()[0].name() == "metadata" &&
                              schema.fields()[0].proto_number != kMetadataNumber;
  return !other_metadata && !schema.lacks_protobuf;
}

std::string Envelope(std::string_view api_version, std::string_view kind,
                     std::string_view message) {
  std::string out = EnvelopeHead(api_version, kind, message.size());
  out += message;
  EndEnvelope(out);
  return out;
}

Result<ProtobufEnvelope> OpenProtobufEnvelope(std::string_view body) {
  if (body.empty()) return BadEnvelope("empty data");
  if (!body.starts_with(kProtobufPrefix)) {
    return BadEnvelope(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  if (body.size() == kProtobufPrefix.size()) return BadEnvelope("empty body");
  constexpr std::string_view kNames[] = {"TypeMeta", "Raw", "ContentEncoding", "ContentType"};
  ProtobufEnvelope envelope;
  for (wire::Reader reader(body.substr(kProtobufPrefix.size()), "Unknown"); !reader.done();) {
    ASSIGN_OR_RETURN(const Token token, reader.Next());
    if (token.number < 1 || token.number > 4) continue;
    RETURN_IF_ERROR(wire::Expect(token, wire::Type::kLength, kNames[token.number - 1]));
    if (token.number == 1) RETURN_IF_ERROR(ReadTypeMeta(token.bytes, envelope));
    if (token.number == 2) envelope.raw = token.bytes;
  }
  return envelope;
}

Result<DecodedBody> DecodeDeleteOptionsProtobuf(std::shared_ptr<const std::string> body) {
  if (body == nullptr) body = std::make_shared<const std::string>();
  ASSIGN_OR_RETURN(const ProtobufEnvelope envelope, OpenProtobufEnvelope(*body));
  // Clients may leave the kind out, as the path has said what the body is.
  if (!envelope.kind.empty() && envelope.kind != "DeleteOptions") {
    return BadEnvelope("no kind " + field::Quote(envelope.kind) + " is registered for version " +
                       field::Quote(envelope.api_version.empty() ? "v1" : envelope.api_version));
  }
  DecodedBody decoded;
  decoded.arena.Pin(body);
  decoded.api_version = envelope.api_version;
  decoded.kind = envelope.kind;
  ASSIGN_OR_RETURN(decoded.root,
                   DecodeMessage(envelope.raw, *MetaMessageSchema("DeleteOptions"), decoded.arena));
  return decoded;
}

Result<runtime::EncodedBody> EncodeProtobufBody(const Object& object) {
  const runtime::Schema& schema = *object.kind().FindVersion(object.version())->schema;
  runtime::EncodedBody encoding;
  RETURN_IF_ERROR(AppendMessage(object.root(), schema, encoding.text));
  // metadata is field 1 of every kind, and so comes first.
  const std::string_view body = encoding.text;
  wire::Reader reader(body);
  if (reader.done()) return encoding;
  ASSIGN_OR_RETURN(const Token metadata, reader.Next());
  if (metadata.number != kMetadataNumber) return encoding;
  const auto offset = [&](std::string_view part) {
    return static_cast<std::uint32_t>(part.data() - body.data());
  };
  encoding.metadata_begin = offset(metadata.bytes);
  encoding.metadata_end =
      encoding.metadata_begin + static_cast<std::uint32_t>(metadata.bytes.size());
  constexpr int kResourceVersionNumber = 6;
  for (wire::Reader fields(metadata.bytes); !fields.done();) {
    ASSIGN_OR_RETURN(const Token token, fields.Next());
    if (token.number != kResourceVersionNumber) continue;
    encoding.rv_begin = offset(token.bytes);
    encoding.rv_end = encoding.rv_begin + static_cast<std::uint32_t>(token.bytes.size());
  }
  return encoding;
}

Result<std::string> EncodeProtobuf(const Context& ctx, const Object& object,
                                   std::string_view version, const EncodingShare& share) {
  ASSIGN_OR_RETURN(const runtime::EncodingPtr encoding,
                   EncodingOf(ctx, object, version, runtime::Format::kProtobuf, share));
  return Envelope(object.kind().gvk(version).group_version().ToString(), object.kind().kind(),
                  encoding->ToString());
}

Result<std::string> EncodeListProtobuf(const Context& ctx, const runtime::List& list,
                                       const runtime::Kind& kind, std::string_view version,
                                       const EncodingShare& share) {
  if (!HasProtobuf(kind, version)) return NotMarshalable(kind, version);
  std::vector<runtime::EncodingPtr> encodings(list.items.size());
  const EncodingForm form{version, runtime::Format::kProtobuf, share};
  RETURN_IF_ERROR(FillEncodings(ctx, list.items, form, encodings));
  return JoinListProtobuf(list, kind, version, encodings);
}

std::string JoinListProtobuf(const runtime::List& list, const runtime::Kind& kind,
                             std::string_view version,
                             std::span<const runtime::EncodingPtr> encodings) {
  std::string metadata;
  AppendListMeta(list, kMetadataNumber, metadata);
  // A length stands in front of its message, so that all sizes are summed up before anything is
  // written.
  std::size_t size = metadata.size();
  for (const runtime::EncodingPtr& encoding : encodings) {
    size += wire::FieldBytes(kItemsNumber, encoding->size());
  }
  std::string out =
      EnvelopeHead(kind.gvk(version).group_version().ToString(), kind.list_kind(), size);
  out += metadata;
  for (const runtime::EncodingPtr& encoding : encodings) {
    wire::PutTag(kItemsNumber, wire::Type::kLength, out);
    wire::PutVarint(encoding->size(), out);
    encoding->AppendTo(out);
  }
  EndEnvelope(out);
  return out;
}

Result<std::string> EncodePartialObjectMetadataProtobuf(const Object& object,
                                                        std::string_view meta_version) {
  ASSIGN_OR_RETURN(std::string message, PartialMessage(object));
  return Envelope("meta.k8s.io/" + std::string(meta_version), "PartialObjectMetadata", message);
}

Result<std::string> EncodePartialObjectMetadataListProtobuf(const runtime::List& list,
                                                            std::string_view meta_version) {
  // In v1beta1 the two have each other's numbers, and fields are written by number.
  const bool swapped = meta_version == "v1beta1";
  std::string items;
  std::size_t made = 0;
  for (const runtime::ObjectPtr& item : list.items) {
    // The length of all stands in front, so a long list is made at a stretch. The thread of a loop
    // that shares the CPU gets its turn meanwhile.
    if (++made % kItemsAtAStretch == 0) std::this_thread::yield();
    ASSIGN_OR_RETURN(const std::string message, PartialMessage(*item));
    wire::PutBytes(swapped ? kMetadataNumber : kItemsNumber, message, items);
  }
  std::string metadata;
  AppendListMeta(list, swapped ? kItemsNumber : kMetadataNumber, metadata);
  return Envelope("meta.k8s.io/" + std::string(meta_version), "PartialObjectMetadataList",
                  swapped ? items + metadata : metadata + items);
}

std::string EncodeStatusProtobuf(const Status& status) {
  runtime::Arena arena;
  const Value value = meta::StatusToValue(status, arena);
  if (HasOnlyUtf8(value)) return StatusEnvelope(value);
  // Messages quote bodies and paths. Go sends their bytes unchanged, which strict readers refuse;
  // the JSON writer replaces invalid UTF-8 by U+FFFD.
  const std::string json = StatusToJson(status);
  return StatusEnvelope(ParseJson(json, arena).value());
}

std::string EncodeSuccessProtobuf(const StatusDetails& details, int code) {
  runtime::Arena arena;
  return StatusEnvelope(meta::SuccessToValue(&details, code, arena));
}

Result<std::string> EncodeMetaProtobuf(const Value& document) {
  const std::string_view kind = document["kind"].AsString();
  const runtime::SchemaPtr schema = MetaMessageSchema(kind);
  if (schema == nullptr) {
    return Status(Reason::kNotAcceptable, "object *v1." + std::string(kind) +
                                              " does not implement the protobuf marshalling "
                                              "interface and cannot be encoded to a protobuf "
                                              "message");
  }
  std::string message;
  RETURN_IF_ERROR(AppendMessage(document, *schema, message));
  return Envelope(document["apiVersion"].AsString(), kind, message);
}

Status AppendWatchEventProtobuf(const Context& ctx, const watch::Event& event,
                                const WatchForm& form, std::string& out) {
  ASSIGN_OR_RETURN(const std::string object, EventObject(ctx, event, form));
  std::string message;
  wire::PutBytes(1, watch::EventTypeWord(event.type), message);
  wire::Nested raw(2, message);
  wire::PutBytes(1, object, message);
  raw.Close();
  // The length prefix of a frame: apimachinery's util/framer.
  const auto size = static_cast<std::uint32_t>(message.size());
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(size >> shift & 0xFFU);
  out += message;
  return {};
}

}  // namespace apiserver::v0::codec
