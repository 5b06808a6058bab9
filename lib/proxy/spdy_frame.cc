#include "proxy/spdy_frame.h"

#include <algorithm>
#include <utility>

#include "proxy/spdy_bytes.h"

namespace apiserver::v0::proxy {

namespace {

constexpr std::uint32_t kControlBit = std::uint32_t{1} << 31U;
constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kLengthMask = 0xFFFFFFU;
constexpr std::uint8_t kFin = 1;
constexpr std::uint8_t kUnidirectional = 2;

Status BrokenFrame(std::string_view why) {
  return {Reason::kInvalid, "SPDY frame: " + std::string(why)};
}

void AppendControlHead(SpdyFrameType type, std::uint8_t flags, std::size_t length,
                       std::string& out) {
  AppendUint32(kControlBit | kVersion << 16U | static_cast<std::uint32_t>(type), out);
  AppendUint32(std::uint32_t{flags} << 24U | static_cast<std::uint32_t>(length), out);
}

void AppendNumbers(SpdyFrameType type, std::uint32_t first, std::uint32_t second,
                   std::string& out) {
  AppendControlHead(type, 0, 8, out);
  AppendUint32(first, out);
  AppendUint32(second, out);
}

// Returns the type with this number, if this side knows it.
std::optional<SpdyFrameType> TypeOf(std::uint32_t number) {
  constexpr std::uint32_t kNoop = 5;
  constexpr auto kLast = static_cast<std::uint32_t>(SpdyFrameType::kWindowUpdate);
  if (number == 0 || number == kNoop || number > kLast) return std::nullopt;
  return static_cast<SpdyFrameType>(number);
}

}  // namespace

bool SpdyFrameWriter::SynStream(SpdyStreamId id, const http::Headers& headers, bool fin,
                                std::string& out) {
  std::string block;
  if (!compressor_.Append(headers, block)) return false;
  AppendControlHead(SpdyFrameType::kSynStream, fin ? kFin : 0, block.size() + 10, out);
  AppendUint32(id, out);
  AppendUint32(0, out);      // Associated with no other stream.
  out.append({'\0', '\0'});  // The highest priority, no slot.
  out += block;
  return true;
}

bool SpdyFrameWriter::SynReply(SpdyStreamId id, const http::Headers& headers, bool fin,
                               std::string& out) {
  std::string block;
  if (!compressor_.Append(headers, block)) return false;
  AppendControlHead(SpdyFrameType::kSynReply, fin ? kFin : 0, block.size() + 4, out);
  AppendUint32(id, out);
  out += block;
  return true;
}

void SpdyFrameWriter::Data(SpdyStreamId id, std::string_view bytes, bool fin, std::string& out) {
  do {
    const std::string_view piece = bytes.substr(0, kSpdyDataBytesMax);
    bytes.remove_prefix(piece.size());
    const std::uint32_t flags = fin && bytes.empty() ? kFin : 0;
    AppendUint32(id, out);
    AppendUint32(flags << 24U | static_cast<std::uint32_t>(piece.size()), out);
    out += piece;
  } while (!bytes.empty());
}

void SpdyFrameWriter::RstStream(SpdyStreamId id, SpdyReset status, std::string& out) {
  AppendNumbers(SpdyFrameType::kRstStream, id, static_cast<std::uint32_t>(status), out);
}

void SpdyFrameWriter::Ping(std::uint32_t id, std::string& out) {
  AppendControlHead(SpdyFrameType::kPing, 0, 4, out);
  AppendUint32(id, out);
}

void SpdyFrameWriter::GoAway(SpdyStreamId last_good, SpdyGoAway status, std::string& out) {
  AppendNumbers(SpdyFrameType::kGoAway, last_good, static_cast<std::uint32_t>(status), out);
}

Status SpdyFrameReader::Receive(std::string_view bytes, SpdyFrameSink& sink) {
  while (!bytes.empty()) {
    if (!in_payload_) {
      if (!TakeHead(bytes)) break;
      if (Status begun = BeginFrame(sink); !begun.ok()) return begun;
    } else if (control_) {
      if (Status taken = TakeControl(bytes, sink); !taken.ok()) return taken;
    } else {
      TakeData(bytes, sink);
    }
  }
  return {};
}

bool SpdyFrameReader::TakeHead(std::string_view& bytes) {
  const std::size_t taken = std::min(bytes.size(), kHeadBytes - head_bytes_);
  std::copy_n(bytes.begin(), taken, head_.begin() + static_cast<std::ptrdiff_t>(head_bytes_));
  head_bytes_ += taken;
  bytes.remove_prefix(taken);
  if (head_bytes_ < kHeadBytes) return false;
  head_bytes_ = 0;
  return true;
}

// A frame without a payload ends here.
Status SpdyFrameReader::BeginFrame(SpdyFrameSink& sink) {
  const std::string_view head(head_.data(), head_.size());
  const std::uint32_t first = ReadUint32(head);
  const std::uint32_t second = ReadUint32(head.substr(4));
  control_ = (first & kControlBit) != 0;
  flags_ = static_cast<std::uint8_t>(second >> 24U);
  left_ = second & kLengthMask;
  in_payload_ = left_ > 0;
  if (!control_) {
    data_id_ = first;
    if (data_id_ == 0) return BrokenFrame("stream id zero is disallowed");
    if (left_ == 0 && (flags_ & kFin) != 0) sink.OnData(data_id_, {}, true);
    return {};
  }
  if ((first >> 16U & 0x7FFFU) != kVersion) return BrokenFrame("it is not of version 3");
  const auto type = TypeOf(first & 0xFFFFU);
  if (!type) return BrokenFrame("invalid control frame");
  type_ = *type;
  if (left_ > kControlBytesMax) return BrokenFrame("a control frame is too long");
  return left_ == 0 ? BrokenFrame("invalid control frame") : Status();
}

void SpdyFrameReader::TakeData(std::string_view& bytes, SpdyFrameSink& sink) {
  const std::string_view piece = bytes.substr(0, left_);
  bytes.remove_prefix(piece.size());
  left_ -= piece.size();
  in_payload_ = left_ > 0;
  sink.OnData(data_id_, piece, !in_payload_ && (flags_ & kFin) != 0);
}

Status SpdyFrameReader::TakeControl(std::string_view& bytes, SpdyFrameSink& sink) {
  const std::string_view piece = bytes.substr(0, left_);
  bytes.remove_prefix(piece.size());
  left_ -= piece.size();
  if (left_ > 0) {
    payload_ += piece;
    return {};
  }
  in_payload_ = false;
  if (payload_.empty()) return EndControl(piece, sink);
  payload_ += piece;
  return EndControl(std::exchange(payload_, {}), sink);
}

Status SpdyFrameReader::EndControl(std::string_view payload, SpdyFrameSink& sink) {
  switch (type_) {
    case SpdyFrameType::kSynStream:
    case SpdyFrameType::kSynReply:
    case SpdyFrameType::kHeaders:
      return EndHeaders(payload, sink);
    case SpdyFrameType::kSettings: {
      const bool fits = payload.size() >= 4 && ReadUint32(payload) <= (payload.size() - 4) / 8;
      return fits ? Status() : BrokenFrame("invalid control frame");
    }
    default:
      return EndNumbers(payload, sink);
  }
}

Status SpdyFrameReader::EndHeaders(std::string_view payload, SpdyFrameSink& sink) {
  const std::size_t fixed = type_ == SpdyFrameType::kSynStream ? 10 : 4;
  if (payload.size() < fixed) return BrokenFrame("invalid control frame");
  const SpdyStreamId id = ReadUint32(payload);
  auto headers = decompressor_.Read(payload.substr(fixed));
  if (!headers.ok()) return headers.status();
  if (id == 0) return BrokenFrame("stream id zero is disallowed");
  if (id >= kControlBit) return BrokenFrame("a stream's id has 32 bits");
  const bool fin = (flags_ & kFin) != 0;
  if (type_ == SpdyFrameType::kSynStream) {
    sink.OnSynStream({.id = id,
                      .associated = ReadUint32(payload.substr(4)),
                      .headers = *std::move(headers),
                      .fin = fin,
                      .unidirectional = (flags_ & kUnidirectional) != 0});
  } else if (type_ == SpdyFrameType::kSynReply) {
    sink.OnSynReply(id, *std::move(headers), fin);
  } else {
    sink.OnHeaders(id, *std::move(headers), fin);
  }
  return {};
}

Status SpdyFrameReader::EndNumbers(std::string_view payload, SpdyFrameSink& sink) const {
  const bool ping = type_ == SpdyFrameType::kPing;
  if (payload.size() != (ping ? 4U : 8U) || flags_ != 0)
    return BrokenFrame("invalid control frame");
  const std::uint32_t first = ReadUint32(payload);
  const std::uint32_t second = ping ? 0 : ReadUint32(payload.substr(4));
  if (ping) {
    if (first == 0) return BrokenFrame("stream id zero is disallowed");
    sink.OnPing(first);
  } else if (type_ == SpdyFrameType::kGoAway) {
    sink.OnGoAway(first, static_cast<SpdyGoAway>(second));
  } else if (type_ == SpdyFrameType::kRstStream) {
    if (first == 0) return BrokenFrame("stream id zero is disallowed");
    if (second == 0) return BrokenFrame("invalid control frame");
    sink.OnRstStream(first, static_cast<SpdyReset>(second));
  }
  return {};
}

}  // namespace apiserver::v0::proxy
