#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "response/metadata.h"
#include "response/negotiate.h"
#include "response/send.h"
#include "response/table.h"

namespace apiserver::inline v0::response {

namespace {

// Lists up to this many items are written in one piece, with a Content-Length.
constexpr std::size_t kItemsInOnePiece = 32;
// How many items a loop may encode for the first time before it hands the work to the pool.
constexpr std::size_t kColdItemsOnLoop = 16;

std::string ApiVersion(const Target& target) {
  return target.kind->gvk(target.version).group_version().ToString();
}

std::string ListPrefix(const runtime::List& list, const Target& target) {
  return "{\"kind\":\"" + target.kind->list_kind() + "\",\"apiVersion\":\"" + ApiVersion(target) +
         "\",\"metadata\":" +
         ListMetaJson(list.resource_version, list.continue_token, list.remaining_item_count) +
         ",\"items\":[";
}

// Encodes every item, so that what follows only copies. On a loop too many cold ones are
// kWouldBlock.
Status Warm(const http::Exchange& exchange, const runtime::List& list, const Target& target) {
  std::size_t cold = 0;
  for (const runtime::ObjectPtr& item : list.items) {
    if (item->FindEncoding(target.version, runtime::Format::kJson)) continue;
    if (!exchange.ctx().may_block() && ++cold > kColdItemsOnLoop) {
      return {Reason::kWouldBlock, "encoding a large list"};
    }
    RETURN_IF_ERROR(codec::EncodingOf(*item, target.version, runtime::Format::kJson).status());
  }
  return {};
}

// Items of a typed list carry neither kind nor apiVersion; those of a schemaless or custom one do.
void AppendItem(const runtime::Object& item, const std::string& version,
                const runtime::Encoding& encoding, std::string& json) {
  if (item.kind().semantics() == runtime::Semantics::kStructural) {
    json += item.kind().JsonPrefix(version);
  } else {
    json += '{';
  }
  encoding.AppendTo(json);
}

// A list of many items, written while it is sent: holds references, not bytes.
class ListBody final : public http::BodySource {
 public:
  ListBody(runtime::List list, Target target)
      : list_(std::move(list)), target_(std::move(target)), buffer_(ListPrefix(list_, target_)) {}

  http::Pull Next(http::ChunkWriter& out, const Waker&) override {
    constexpr std::size_t kBytesPerTurn = 64 << 10;
    while (next_ < list_.items.size() && buffer_.size() < kBytesPerTurn) {
      const runtime::Object& item = *list_.items[next_];
      const runtime::EncodingPtr encoding =
          item.FindEncoding(target_.version, runtime::Format::kJson);
      if (!encoding) return http::Pull::kAbort;
      if (next_++ > 0) buffer_ += ',';
      AppendItem(item, target_.version, *encoding, buffer_);
    }
    const bool last = next_ == list_.items.size();
    if (last) buffer_ += "]}\n";
    out.Write(buffer_);
    buffer_.clear();
    return last ? http::Pull::kEnd : http::Pull::kMore;
  }

 private:
  runtime::List list_;
  Target target_;
  std::size_t next_ = 0;
  std::string buffer_;
};

http::Step WriteWholeList(http::Exchange& exchange, runtime::List list, const Target& target,
                          const Negotiated& negotiated) {
  if (negotiated.type == codec::MediaType::kProtobuf) {
    ASSIGN_OR_RETURN(std::string bytes,
                     codec::EncodeListProtobuf(list, *target.kind, target.version));
    return SendAs(exchange, 200, std::move(bytes), "application/vnd.kubernetes.protobuf");
  }
  RETURN_IF_ERROR(Warm(exchange, list, target));
  const bool plain = negotiated.type == codec::MediaType::kJson && !negotiated.pretty;
  if (plain && list.items.size() > kItemsInOnePiece) {
    exchange.writer().Stream({.code = 200, .headers = {{"Content-Type", "application/json"}}},
                             std::make_unique<ListBody>(std::move(list), target));
    return http::Step::Done();
  }
  std::string json = ListPrefix(list, target);
  for (const runtime::ObjectPtr& item : list.items) {
    if (json.back() != '[') json += ',';
    const auto encoding = item->FindEncoding(target.version, runtime::Format::kJson);
    AppendItem(*item, target.version, *encoding, json);
  }
  return SendJsonAs(exchange, 200, json + "]}\n", negotiated);
}

http::Step WritePartialList(http::Exchange& exchange, const runtime::List& list,
                            const Target& target, const Negotiated& negotiated) {
  if (negotiated.type == codec::MediaType::kProtobuf) {
    ASSIGN_OR_RETURN(std::string bytes,
                     codec::EncodePartialObjectMetadataListProtobuf(list, negotiated.meta_version));
    return SendAs(exchange, 200, std::move(bytes), "application/vnd.kubernetes.protobuf");
  }
  RETURN_IF_ERROR(Warm(exchange, list, target));
  std::string json =
      "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/" +
      negotiated.meta_version + "\",\"metadata\":" +
      ListMetaJson(list.resource_version, list.continue_token, list.remaining_item_count) +
      ",\"items\":[";
  for (const runtime::ObjectPtr& item : list.items) {
    if (json.back() != '[') json += ',';
    AppendMetadataItem(*item->FindEncoding(target.version, runtime::Format::kJson), json);
  }
  return SendJsonAs(exchange, 200, json + "]}\n", negotiated);
}

http::Step WriteTableList(http::Exchange& exchange, const runtime::List& list, const Target& target,
                          const Negotiated& negotiated) {
  ASSIGN_OR_RETURN(const meta::TableOptions options, TableOptionsOf(exchange));
  RETURN_IF_ERROR(Warm(exchange, list, target));
  const std::string list_meta =
      ListMetaJson(list.resource_version, list.continue_token, list.remaining_item_count);
  ASSIGN_OR_RETURN(
      std::string json,
      TableJson(exchange.ctx(), list.items, list_meta,
                {.target = target, .options = options, .meta_version = negotiated.meta_version}));
  return SendJsonAs(exchange, 200, json + "\n", negotiated);
}

}  // namespace

http::Step WriteList(http::Exchange& exchange, runtime::List list, const Target& target) {
  ASSIGN_OR_RETURN(const Negotiated negotiated, Negotiate(exchange, &target, /*watch=*/false));
  switch (negotiated.shape) {
    case Shape::kObject:
      return WriteWholeList(exchange, std::move(list), target, negotiated);
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

}  // namespace apiserver::inline v0::response
