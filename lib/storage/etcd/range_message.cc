#include "storage/etcd/range_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <utility>

#include "storage/etcd/convert.h"

namespace apiserver::v0::storage::etcd {
namespace {

using google::protobuf::internal::WireFormatLite;

// Merges, as a message does whose field comes twice.
bool Merge(std::string_view bytes, google::protobuf::MessageLite& message) {
  return message.MergeFromString(std::string(bytes));
}

bool Parse(std::string_view bytes, google::protobuf::MessageLite& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Walks through the message; `see` gets the bytes of each key-value, and says whether to go on.
template <class See>
std::optional<RangeOutline> Walk(std::string_view message, See see) {
  constexpr auto kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                                            static_cast<int>(message.size()));
  const auto take = [&](std::string_view& bytes) {
    std::uint32_t size = 0;
    if (!in.ReadVarint32(&size)) return false;
    bytes = message.substr(static_cast<std::size_t>(in.CurrentPosition()), size);
    return in.Skip(static_cast<int>(size)) && bytes.size() == size;
  };
  RangeOutline outline;
  wire::ResponseHeader header;
  std::uint64_t more = 0;
  std::uint64_t count = 0;
  while (const std::uint32_t tag = in.ReadTag()) {
    bool read = false;
    std::string_view bytes;
    switch (tag) {
      case WireFormatLite::MakeTag(wire::RangeResponse::kKvsFieldNumber, kBytes):
        ++outline.keys;
        read = take(bytes) && see(bytes);
        break;
      case WireFormatLite::MakeTag(wire::RangeResponse::kHeaderFieldNumber, kBytes):
        read = take(bytes) && Merge(bytes, header);
        break;
      case WireFormatLite::MakeTag(wire::RangeResponse::kMoreFieldNumber, kVarint):
        read = in.ReadVarint64(&more);
        break;
      case WireFormatLite::MakeTag(wire::RangeResponse::kCountFieldNumber, kVarint):
        read = in.ReadVarint64(&count);
        break;
      default:
        read = WireFormatLite::SkipField(&in, tag);
    }
    if (!read) return std::nullopt;
  }
  if (!in.ConsumedEntireMessage()) return std::nullopt;
  outline.revision = header.revision();
  outline.more = more != 0;
  outline.count = static_cast<std::size_t>(count);
  return outline;
}

}  // namespace

std::optional<RangeOutline> OutlineOf(std::string_view message) {
  std::optional<std::string_view> first;
  std::string_view last;
  auto outline = Walk(message, [&](std::string_view bytes) {
    if (!first) first = bytes;
    last = bytes;
    return true;
  });
  wire::KeyValue kv;
  if (!outline || !Parse(first.value_or(last), kv)) return std::nullopt;
  outline->first_key = std::move(*kv.mutable_key());
  if (!Parse(last, kv)) return std::nullopt;
  outline->last_key = std::move(*kv.mutable_key());
  return outline;
}

std::optional<kv::RangeResponse> ReadRange(std::string_view message, bool with_values) {
  kv::RangeResponse range;
  wire::KeyValue kv;
  const auto outline = Walk(message, [&](std::string_view bytes) {
    if (!Parse(bytes, kv)) return false;
    range.kvs.push_back(ToKeyValue(kv, with_values));
    return true;
  });
  if (!outline) return std::nullopt;
  range.more = outline->more;
  range.count = outline->count;
  range.revision = outline->revision;
  return range;
}

}  // namespace apiserver::v0::storage::etcd
