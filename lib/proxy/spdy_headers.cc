#include "proxy/spdy_headers.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/spdy_bytes.h"
#include "proxy/spdy_dictionary.h"

namespace apiserver::v0::proxy {

namespace {

constexpr std::size_t kInflateBytes = std::size_t{4} << 10;
// A window of 2 KiB, which has room for the dictionary, and little memory: 24 KiB where zlib's own
// values take 256. Blocks are short.
constexpr int kWindowBits = 11;
constexpr int kMemoryLevel = 5;
// The names that a block may not have: they speak of an HTTP/1.1 connection.
constexpr std::array<std::string_view, 5> kHopNames = {"connection", "host", "keep-alive",
                                                       "proxy-connection", "transfer-encoding"};

Bytef* BytesOf(std::string_view text) {
  // zlib's interface has no const.
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

Status BrokenBlock(std::string_view why) {
  return {Reason::kInvalid, "SPDY header block: " + std::string(why)};
}

std::string LowerCase(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// The block as it is before it is compressed.
std::string BlockOf(const http::Headers& headers) {
  std::vector<std::pair<std::string, std::string>> joined;
  for (const http::Headers::Field& field : headers) {
    std::string name = LowerCase(field.name);
    const auto same = std::find_if(joined.begin(), joined.end(),
                                   [&name](const auto& other) { return other.first == name; });
    if (same == joined.end()) {
      joined.emplace_back(std::move(name), field.value);
    } else {
      same->second += '\0' + field.value;
    }
  }
  std::string block;
  AppendUint32(static_cast<std::uint32_t>(joined.size()), block);
  for (const auto& [name, value] : joined) {
    AppendUint32(static_cast<std::uint32_t>(name.size()), block);
    block += name;
    AppendUint32(static_cast<std::uint32_t>(value.size()), block);
    block += value;
  }
  return block;
}

// Takes a text with its length before it off `rest`.
std::optional<std::string_view> TakeText(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  const std::size_t length = ReadUint32(rest);
  rest.remove_prefix(4);
  if (length > rest.size()) return std::nullopt;
  const std::string_view text = rest.substr(0, length);
  rest.remove_prefix(length);
  return text;
}

void AddValues(std::string_view name, std::string_view values, http::Headers& headers) {
  while (true) {
    const std::size_t end = values.find('\0');
    headers.Add(std::string(name), std::string(values.substr(0, end)));
    if (end == std::string_view::npos) return;
    values.remove_prefix(end + 1);
  }
}

}  // namespace

struct SpdyHeaderCompressor::Deflater {
  Deflater() {
    const std::string dictionary = MakeSpdyDictionary();
    ok = deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kWindowBits, kMemoryLevel,
                      Z_DEFAULT_STRATEGY) == Z_OK;
    ok = ok && deflateSetDictionary(&stream, BytesOf(dictionary),
                                    static_cast<uInt>(dictionary.size())) == Z_OK;
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream); }

  z_stream stream{};
  bool ok = false;
};

SpdyHeaderCompressor::SpdyHeaderCompressor() : deflater_(std::make_unique<Deflater>()) {}
SpdyHeaderCompressor::~SpdyHeaderCompressor() = default;

bool SpdyHeaderCompressor::Append(const http::Headers& headers, std::string& out) {
  if (!deflater_->ok) return false;
  const std::string block = BlockOf(headers);
  z_stream& stream = deflater_->stream;
  stream.next_in = BytesOf(block);
  stream.avail_in = static_cast<uInt>(block.size());
  do {
    const std::size_t before = out.size();
    out.resize(before + kInflateBytes);
    stream.next_out = BytesOf(out) + before;
    stream.avail_out = static_cast<uInt>(kInflateBytes);
    if (deflate(&stream, Z_SYNC_FLUSH) == Z_STREAM_ERROR) return false;
    out.resize(out.size() - stream.avail_out);
  } while (stream.avail_out == 0);
  return true;
}

struct SpdyHeaderDecompressor::Inflater {
  Inflater() { ok = inflateInit(&stream) == Z_OK; }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }

  // One step of zlib's, with the dictionary where it is asked for.
  int Step() {
    const int result = inflate(&stream, Z_SYNC_FLUSH);
    if (result != Z_NEED_DICT) return result;
    const std::string dictionary = MakeSpdyDictionary();
    const int set =
        inflateSetDictionary(&stream, BytesOf(dictionary), static_cast<uInt>(dictionary.size()));
    return set == Z_OK ? inflate(&stream, Z_SYNC_FLUSH) : set;
  }

  z_stream stream{};
  bool ok = false;
};

SpdyHeaderDecompressor::SpdyHeaderDecompressor(SpdyHeaderLimits limits)
    : limits_(limits), inflater_(std::make_unique<Inflater>()) {}
SpdyHeaderDecompressor::~SpdyHeaderDecompressor() = default;

Result<std::string> SpdyHeaderDecompressor::Inflate(std::string_view block) {
  if (!inflater_->ok) return BrokenBlock("no memory");
  z_stream& stream = inflater_->stream;
  stream.next_in = BytesOf(block);
  stream.avail_in = static_cast<uInt>(block.size());
  std::string plain;
  while (true) {
    const std::size_t before = plain.size();
    plain.resize(before + kInflateBytes);
    stream.next_out = BytesOf(plain) + before;
    stream.avail_out = static_cast<uInt>(kInflateBytes);
    const int result = inflater_->Step();
    plain.resize(plain.size() - stream.avail_out);
    if (result != Z_OK && result != Z_BUF_ERROR) return BrokenBlock("it is no zlib stream");
    if (plain.size() > limits_.block_bytes) return BrokenBlock("it is too large");
    // A step that did not fill its room has used up the block.
    if (stream.avail_out > 0) break;
  }
  if (stream.avail_in > 0) return BrokenBlock("it is no zlib stream");
  return plain;
}

Result<http::Headers> SpdyHeaderDecompressor::Read(std::string_view block) {
  auto plain = Inflate(block);
  if (!plain.ok()) return plain.status();
  std::string_view rest = *plain;
  if (rest.size() < 4) return BrokenBlock("it is cut");
  const std::size_t count = ReadUint32(rest);
  rest.remove_prefix(4);
  if (count > limits_.headers) return BrokenBlock("it has too many headers");
  http::Headers headers;
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = TakeText(rest);
    const auto values = name ? TakeText(rest) : std::nullopt;
    if (!values) return BrokenBlock("it is cut");
    if (name->empty()) return BrokenBlock("a header has no name");
    if (LowerCase(*name) != *name) return BrokenBlock("header was not lowercased");
    if (headers.Has(*name)) return BrokenBlock("multiple headers with same name");
    if (std::find(kHopNames.begin(), kHopNames.end(), *name) != kHopNames.end()) {
      return BrokenBlock("it has the header " + std::string(*name));
    }
    AddValues(*name, *values, headers);
  }
  if (!rest.empty()) return BrokenBlock("it is too long");
  return headers;
}

}  // namespace apiserver::v0::proxy
