#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/audit/request.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "response/audit.h"
#include "response/document.h"
#include "response/gzip.h"
#include "response/metadata.h"
#include "response/negotiate.h"
#include "response/send.h"
#include "response/size.h"
#include "response/table.h"
#include "response/yaml_list.h"

namespace apiserver::v0::response {

namespace {

// Lists up to this many items are written in one piece, with a Content-Length.
constexpr std::size_t kItemsInOnePiece = 32;
constexpr std::string_view kTail = "]}\n";

std::string ApiVersion(const Target& target) {
  return target.kind->gvk(target.version).group_version().ToString();
}

// The texts around the items of a list.
struct ListFrame {
  std::string head;
  std::string tail;
};

// Returns the metadata of a list of custom resources, which is a map to Go: it is sorted, and has
// `continue` even if there is nothing to go on with.
std::string UntypedListMetaJson(const runtime::List& list) {
  std::string json = "{\"continue\":";
  codec::AppendJsonString(list.continue_token, json);
  if (list.remaining_item_count) {
    json.append(",\"remainingItemCount\":").append(std::to_string(*list.remaining_item_count));
  }
  json += ",\"resourceVersion\":";
  codec::AppendJsonString(list.resource_version, json);
  return json + "}";
}

ListFrame FrameOf(const runtime::List& list, const Target& target) {
  const std::string& kind = target.kind->list_kind();
  const std::string version = "\"apiVersion\":\"" + ApiVersion(target) + "\"";
  if (target.kind->semantics() == runtime::Semantics::kCustomResource) {
    return {"{" + version + ",\"items\":[",
            "],\"kind\":\"" + kind + "\",\"metadata\":" + UntypedListMetaJson(list) + "}\n"};
  }
  return {"{\"kind\":\"" + kind + "\"," + version + ",\"metadata\":" +
              ListMetaJson(list.resource_version, list.continue_token, list.remaining_item_count) +
              ",\"items\":[",
          std::string(kTail)};
}

std::size_t SizeOf(const std::vector<runtime::EncodingPtr>& encodings) {
  std::size_t size = 0;
  for (const runtime::EncodingPtr& encoding : encodings) {
    if (encoding != nullptr) size += encoding->size();
  }
  return size;
}

// Returns the encoding of every item, so that the rest only copies: made here, unless `streamed`.
Result<std::vector<runtime::EncodingPtr>> EncodingsOf(
    const http::Exchange& exchange, const runtime::List& list, const Target& target,
    bool streamed = false, runtime::Format format = runtime::Format::kJson) {
  auto encodings = runtime::Object::FindEncodings(list.items, target.version, format);
  const auto cold =
      static_cast<std::size_t>(std::count(encodings.begin(), encodings.end(), nullptr));
  RETURN_IF_ERROR(
      MayMakeHere(exchange, {.copied_bytes = streamed ? 0 : SizeOf(encodings), .objects = cold}));
  if (cold == 0) return encodings;
  RETURN_IF_ERROR(codec::FillEncodings(
      exchange.ctx(), list.items, {target.version, format, EncodingShareOf(exchange)}, encodings));
  return encodings;
}

// Items of a typed list carry neither kind nor apiVersion; those of a schemaless or custom one do.
std::string_view ItemPrefix(const Target& target) {
  if (target.kind->semantics() != runtime::Semantics::kCustomResource) return "{";
  return target.kind->JsonPrefix(target.version);
}

void AppendItem(const Target& target, const runtime::Encoding& encoding, std::string& json) {
  json += ItemPrefix(target);
  encoding.AppendTo(json);
}

// A list as compact JSON: holds references, not bytes.
class ListDocument final : public Document {
 public:
  ListDocument(const runtime::List& list, Target target,
               std::vector<runtime::EncodingPtr> encodings)
      : target_(std::move(target)),
        encodings_(std::move(encodings)),
        frame_(FrameOf(list, target_)),
        head_(std::move(frame_.head)) {}

  // Returns whether the whole list is longer than `bytes`.
  // Stops counting as soon as the answer is known.
  bool LongerThan(std::size_t bytes) const {
    std::size_t size = head_.size() + frame_.tail.size() + encodings_.size() - 1;
    const std::string_view item = ItemPrefix(target_);
    for (std::size_t i = 0; i < encodings_.size() && size <= bytes; ++i) {
      size += item.size();
      for (const std::string_view piece : encodings_[i]->pieces()) size += piece.size();
    }
    return size > bytes;
  }

  // Appends at least one item, even if it is longer than what is wanted: an item is never split.
  bool AppendTo(std::string& text, std::size_t wanted) override {
    text += std::exchange(head_, {});
    while (next_ < encodings_.size() && text.size() < wanted) {
      PrefetchAfter(next_);
      if (next_ > 0) text += ',';
      AppendItem(target_, *encodings_[next_++], text);
    }
    if (next_ < encodings_.size()) return true;
    text += frame_.tail;
    return false;
  }

 private:
  // The items of a long list are in no cache: while one is copied, the memory of those after it is
  // on its way.
  void PrefetchAfter(std::size_t item) const {
    constexpr std::size_t kStep = 8;
    if (item + 2 * kStep < encodings_.size()) {
      const auto* encoding = reinterpret_cast<const char*>(encodings_[item + 2 * kStep].get());
      __builtin_prefetch(encoding);
      __builtin_prefetch(encoding + sizeof(runtime::Encoding) - 1);
    }
    if (item + kStep >= encodings_.size()) return;
    constexpr std::size_t kLine = 64;
    const std::string_view text = *encodings_[item + kStep]->pieces().begin();
    for (std::size_t at = 0; at < text.size() && at < 4 * kLine; at += kLine) {
      __builtin_prefetch(text.data() + at);
    }
  }

  Target target_;
  std::vector<runtime::EncodingPtr> encodings_;
  std::size_t next_ = 0;
  ListFrame frame_;
  std::string head_;  // Of the frame, until it is written.
};

http::Step StreamList(http::Exchange& exchange, std::unique_ptr<ListDocument> list) {
  // Compression is worth its time only for a long list.
  const bool gzip =
      WantsGzip(exchange, "APIResponseCompression") && list->LongerThan(kGzipThresholdBytes);
  return StreamDocument(exchange, "", std::move(list), gzip);
}

// Audits the list as JSON, in whatever format it is sent. A list over the limit is not built.
void LogWholeList(const http::Exchange& exchange, const runtime::List& list, const Target& target) {
  if (!IsAudited(exchange)) return;
  auto encodings = EncodingsOf(exchange, list, target);
  if (!encodings.ok()) return;
  ListDocument document(list, target, *std::move(encodings));
  if (document.LongerThan(audit::kObjectBytesMax)) return audit::LogObjectTooLarge(exchange.ctx());
  std::string json = WholeOf(document);
  json.pop_back();  // The line ends behind the answer.
  LogAnswer(exchange, json);
}

// Sends a long list while it is written, in JSON or YAML.
http::Step SendLongList(http::Exchange& exchange, const runtime::List& list, const Target& target,
                        std::vector<runtime::EncodingPtr> encodings, const Negotiated& negotiated) {
  if (negotiated.type == codec::MediaType::kYaml) {
    const ListFrame frame = FrameOf(list, target);
    auto yaml = NewYamlList({.empty_list = frame.head + frame.tail,
                             .item_prefix = std::string(ItemPrefix(target)),
                             .encodings = std::move(encodings)});
    return SendDocumentFromPool(exchange, std::move(yaml), "application/yaml");
  }
  auto json = std::make_unique<ListDocument>(list, target, std::move(encodings));
  if (!negotiated.pretty) return StreamList(exchange, std::move(json));
  return SendDocumentFromPool(exchange, Indented("", std::move(json)), "application/json");
}

// A long list in a text form is streamed from encodings that all exist; nothing can fail after the
// first byte.
http::Step WriteWholeList(http::Exchange& exchange, const runtime::List& list, const Target& target,
                          const Negotiated& negotiated) {
  LogWholeList(exchange, list, target);
  if (negotiated.type == codec::MediaType::kProtobuf) {
    RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
    if (!codec::HasProtobuf(*target.kind, target.version)) {
      // Fails, with the reason.
      return codec::EncodeListProtobuf(exchange.ctx(), list, *target.kind, target.version).status();
    }
    ASSIGN_OR_RETURN(const auto encodings, EncodingsOf(exchange, list, target, /*streamed=*/false,
                                                       runtime::Format::kProtobuf));
    return SendAs(exchange, 200,
                  codec::JoinListProtobuf(list, *target.kind, target.version, encodings),
                  "application/vnd.kubernetes.protobuf");
  }
  const bool is_long = list.items.size() > kItemsInOnePiece;
  const bool plain = negotiated.type == codec::MediaType::kJson && !negotiated.pretty;
  ASSIGN_OR_RETURN(auto encodings, EncodingsOf(exchange, list, target, plain && is_long));
  const bool large =
      negotiated.type != codec::MediaType::kCbor && SizeOf(encodings) > kGzipThresholdBytes;
  if (is_long && (plain || large)) {
    return SendLongList(exchange, list, target, std::move(encodings), negotiated);
  }
  RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
  const ListFrame frame = FrameOf(list, target);
  const std::size_t bytes = frame.head.size() + SizeOf(encodings) +
                            encodings.size() * (ItemPrefix(target).size() + 1) + frame.tail.size();
  ListDocument document(list, target, std::move(encodings));
  std::string json = WholeOf(document, bytes);
  return SendJsonAs(exchange, 200, std::move(json), negotiated);
}

http::Step SendPartialProtobuf(http::Exchange& exchange, const runtime::List& list,
                               const Negotiated& negotiated) {
  RETURN_IF_ERROR(MayMakeHere(exchange, {.objects = list.items.size()}));
  ASSIGN_OR_RETURN(std::string bytes,
                   codec::EncodePartialObjectMetadataListProtobuf(list, negotiated.meta_version));
  return SendAs(exchange, 200, std::move(bytes), "application/vnd.kubernetes.protobuf");
}

// Writes PartialObjectMetadata while it is sent; each item is a copy of a range of its encoding.
class PartialListDocument final : public Document {
 public:
  PartialListDocument(const runtime::List& list, const std::string& meta_version,
                      std::vector<runtime::EncodingPtr> encodings)
      : head_("{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/" +
              meta_version + "\",\"metadata\":" +
              ListMetaJson(list.resource_version, list.continue_token, list.remaining_item_count) +
              ",\"items\":["),
        meta_version_(meta_version),
        encodings_(std::move(encodings)) {}

  bool AppendTo(std::string& json, std::size_t wanted) override {
    json += std::exchange(head_, {});
    for (; next_ < encodings_.size(); ++next_) {
      if (json.size() >= wanted) return true;
      if (next_ > 0) json += ',';
      AppendPartialObjectMetadata(*encodings_[next_], meta_version_, json);
    }
    json += kTail;
    return false;
  }

 private:
  std::string head_;
  const std::string meta_version_;
  const std::vector<runtime::EncodingPtr> encodings_;
  std::size_t next_ = 0;
};

// JSON is written while it is sent; pretty JSON on the pool, if there is much of it. Every other
// form is made of the whole document.
http::Step AnswerWith(http::Exchange& exchange, std::unique_ptr<Document> document,
                      const Negotiated& negotiated) {
  const bool streamed = negotiated.type == codec::MediaType::kJson && !IsAudited(exchange);
  if (streamed && !negotiated.pretty) return SendDocument(exchange, std::move(document));
  std::string json;
  if (streamed && document->AppendTo(json, kGzipThresholdBytes + 1)) {
    auto pretty = Indented(std::move(json), std::move(document));
    return SendDocumentFromPool(exchange, std::move(pretty), "application/json");
  }
  if (!streamed) json = WholeOf(*document);
  LogAnswer(exchange, std::string_view(json).substr(0, json.size() - 1));
  return SendJsonAs(exchange, 200, std::move(json), negotiated);
}

// The audit event has JSON, so protobuf is made beside it.
http::Step WritePartialList(http::Exchange& exchange, const runtime::List& list,
                            const Target& target, const Negotiated& negotiated) {
  RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
  const bool protobuf = negotiated.type == codec::MediaType::kProtobuf;
  if (protobuf && !IsAudited(exchange)) return SendPartialProtobuf(exchange, list, negotiated);
  const bool plain = negotiated.type == codec::MediaType::kJson && !negotiated.pretty;
  ASSIGN_OR_RETURN(auto encodings,
                   EncodingsOf(exchange, list, target, /*streamed=*/plain && !IsAudited(exchange)));
  auto document =
      std::make_unique<PartialListDocument>(list, negotiated.meta_version, std::move(encodings));
  if (!protobuf) return AnswerWith(exchange, std::move(document), negotiated);
  const std::string json = WholeOf(*document);
  LogAnswer(exchange, std::string_view(json).substr(0, json.size() - 1));
  return SendPartialProtobuf(exchange, list, negotiated);
}

http::Step WriteTableList(http::Exchange& exchange, const runtime::List& list, const Target& target,
                          const Negotiated& negotiated) {
  RETURN_IF_ERROR(CheckRoomToAnswer(exchange));
  RETURN_IF_ERROR(MayMakeHere(exchange, {.objects = list.items.size()}));
  ASSIGN_OR_RETURN(const meta::TableOptions options, TableOptionsOf(exchange));
  ASSIGN_OR_RETURN(const auto encodings, EncodingsOf(exchange, list, target));
  const std::string list_meta =
      ListMetaJson(list.resource_version, list.continue_token, list.remaining_item_count);
  ASSIGN_OR_RETURN(auto document, NewTableDocument(exchange.ctx(), list.items, list_meta,
                                                   {.target = target,
                                                    .options = options,
                                                    .meta_version = negotiated.meta_version,
                                                    .encodings = EncodingShareOf(exchange),
                                                    .kept = encodings}));
  return AnswerWith(exchange, std::move(document), negotiated);
}

}  // namespace

http::Step WriteList(http::Exchange& exchange, const runtime::List& list, const Target& target) {
  RETURN_IF_ERROR(MayAuditHere(exchange));
  ASSIGN_OR_RETURN(const Negotiated negotiated, Negotiate(exchange, &target, /*watch=*/false));
  const trace::Span span = SerializeSpan(exchange, negotiated);
  switch (negotiated.shape) {
    case Shape::kObject:
      return WriteWholeList(exchange, list, target, negotiated);
    case Shape::kPartialObjectMetadataList:
      return WritePartialList(exchange, list, target, negotiated);
    case Shape::kTable:
      return WriteTableList(exchange, list, target, negotiated);
    case Shape::kPartialObjectMetadata:
      break;
  }
  return Status(Reason::kNotAcceptable,
                "you requested PartialObjectMetadata, but the requested object is a list (" +
                    target.kind->list_kind() + ")");
}

}  // namespace apiserver::v0::response
