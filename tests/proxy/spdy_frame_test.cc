#include "proxy/spdy_frame.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/spdy_bytes.h"
#include "proxy/spdy_dictionary.h"

namespace apiserver::inline v0::proxy {
namespace {

std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

// Writes the frames down.
class FrameLog final : public SpdyFrameSink {
 public:
  void OnSynStream(SpdySynStream frame) override {
    log += "open " + std::to_string(frame.id) + Text(frame.headers, frame.fin) +
           (frame.unidirectional ? " one way" : "") + "\n";
  }
  void OnSynReply(SpdyStreamId id, http::Headers headers, bool fin) override {
    log += "reply " + std::to_string(id) + Text(headers, fin) + "\n";
  }
  void OnHeaders(SpdyStreamId id, http::Headers headers, bool fin) override {
    log += "headers " + std::to_string(id) + Text(headers, fin) + "\n";
  }
  void OnData(SpdyStreamId id, std::string_view bytes, bool fin) override {
    data += bytes;
    if (fin) log += "fin " + std::to_string(id) + "\n";
  }
  void OnRstStream(SpdyStreamId id, SpdyReset status) override {
    log += "reset " + std::to_string(id) + " " + std::to_string(static_cast<int>(status)) + "\n";
  }
  void OnPing(std::uint32_t id) override { log += "ping " + std::to_string(id) + "\n"; }
  void OnGoAway(SpdyStreamId last_good, SpdyGoAway status) override {
    log += "go away " + std::to_string(last_good) + " " + std::to_string(static_cast<int>(status)) +
           "\n";
  }

  std::string log;
  std::string data;

 private:
  static std::string Text(const http::Headers& headers, bool fin) {
    std::string text;
    for (const auto& field : headers) text += " " + field.name + "=" + field.value;
    return text + (fin ? " fin" : "");
  }
};

// The frames of `bytes`, or the error.
std::string Decoded(std::string_view bytes) {
  SpdyFrameReader reader;
  FrameLog log;
  const Status status = reader.Receive(bytes, log);
  return status.ok() ? log.log : std::string(status.message());
}

// A header block that was not compressed.
std::string Plain(std::uint32_t count, const std::vector<std::string>& texts) {
  std::string block;
  AppendUint32(count, block);
  for (const std::string& text : texts) {
    AppendUint32(static_cast<std::uint32_t>(text.size()), block);
    block += text;
  }
  return block;
}

// The block as one stored block of deflate in a zlib stream with SPDY's dictionary.
std::string Stored(const std::string& plain) {
  std::string out = FromHex("78f9e3c6a7c2");
  const auto size = static_cast<std::uint16_t>(plain.size());
  const auto inverse = static_cast<std::uint16_t>(~size);
  out += '\0';  // Not the last block.
  for (const std::uint16_t each : {size, inverse}) {
    out += static_cast<char>(each & 0xFFU);
    out += static_cast<char>(each >> 8U);
  }
  return out + plain + FromHex("000000ffff");
}

std::string SynStream(SpdyStreamId id, const std::string& block) {
  std::string frame = FromHex("80030001");
  AppendUint32(static_cast<std::uint32_t>(block.size() + 10), frame);
  AppendUint32(id, frame);
  return frame + std::string(6, '\0') + block;
}

std::string BlockError(std::uint32_t count, const std::vector<std::string>& texts) {
  return Decoded(SynStream(1, Stored(Plain(count, texts))));
}

TEST_CASE("proxy: SPDY's dictionary is that of the draft", "[proxy]") {
  const std::string dictionary = MakeSpdyDictionary();
  CHECK(dictionary.size() == 1423);
  // Adler-32, which zlib streams with this dictionary name.
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : dictionary) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  CHECK((b << 16U | a) == 0xe3c6a7c2U);
}

// Recorded between client-go and a kubelet: the first streams of an exec and their replies.
TEST_CASE("proxy: frames of client-go and of kubelets are read", "[proxy]") {
  const std::string client = FromHex(
      "80030001000000290000000100000000000078f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a680000"
      "0000ffff"
      "800300010000001900000003000000000000c22ac5565c92925f5a02000000ffff");
  const std::string kubelet = FromHex(
      "80030002000000140000000178f9e3c6a7c26260606000000000ffff"
      "800300020000000c00000003026100000000ffff");
  CHECK(Decoded(client) == "open 1 streamtype=error\nopen 3 streamtype=stdout\n");
  CHECK(Decoded(kubelet) == "reply 1\nreply 3\n");
  CHECK(Decoded(FromHex("800300060000000400000001")) == "ping 1\n");
}

TEST_CASE("proxy: SPDY frames survive any division into pieces", "[proxy]") {
  SpdyFrameWriter writer;
  std::string bytes;
  REQUIRE(writer.SynStream(1, {{"Streamtype", "data"}, {"port", "80"}}, false, bytes));
  REQUIRE(writer.SynReply(1, {{"streamtype", "data"}}, true, bytes));
  SpdyFrameWriter::Data(1, "some bytes", false, bytes);
  SpdyFrameWriter::Data(1, "", true, bytes);
  SpdyFrameWriter::RstStream(1, SpdyReset::kCancel, bytes);
  SpdyFrameWriter::Ping(7, bytes);
  bytes += FromHex("80030004000000040000000080030009000000080000000100001000");
  REQUIRE(writer.SynStream(3, {{"a", "1"}, {"a", "2"}}, true, bytes));
  SpdyFrameWriter::GoAway(3, SpdyGoAway::kOk, bytes);
  const std::string expected =
      "open 1 streamtype=data port=80\nreply 1 streamtype=data fin\nfin 1\nreset 1 5\nping 7\n"
      "open 3 a=1 a=2 fin\ngo away 3 0\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    SpdyFrameReader reader;
    FrameLog log;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      REQUIRE(reader.Receive(std::string_view(bytes).substr(at, piece), log).ok());
    }
    REQUIRE(log.log == expected);
    REQUIRE(log.data == "some bytes");
  }
}

TEST_CASE("proxy: data longer than a SPDY frame is sent in several", "[proxy]") {
  const std::string bytes(kSpdyDataBytesMax + 5, 'x');
  std::string frames;
  SpdyFrameWriter::Data(1, bytes, true, frames);
  CHECK(frames.size() == bytes.size() + 16);
  SpdyFrameReader reader;
  FrameLog log;
  REQUIRE(reader.Receive(frames, log).ok());
  CHECK(log.log == "fin 1\n");
  CHECK(log.data.size() == bytes.size());
}

// Bytes in hexadecimal, and why they are refused.
constexpr std::array<std::array<std::string_view, 2>, 16> kBroken = {{
    {"800200060000000400000001", "SPDY frame: it is not of version 3"},
    {"800300050000000400000001", "SPDY frame: invalid control frame"},
    {"8003000a0000000400000001", "SPDY frame: invalid control frame"},
    {"800300060000000400000000", "SPDY frame: stream id zero is disallowed"},
    {"80030006000000050000000100", "SPDY frame: invalid control frame"},
    {"800300060100000400000001", "SPDY frame: invalid control frame"},
    {"80030003000000080000000100000000", "SPDY frame: invalid control frame"},
    {"80030003000000080000000000000005", "SPDY frame: stream id zero is disallowed"},
    {"800300070000000400000001", "SPDY frame: invalid control frame"},
    {"800300090000000400000001", "SPDY frame: invalid control frame"},
    // A count of settings that the frame has no room for.
    {"800300040000000cffffffff0000000000000000", "SPDY frame: invalid control frame"},
    {"8003000400000000", "SPDY frame: invalid control frame"},
    {"000000000000000100", "SPDY frame: stream id zero is disallowed"},
    // 16 MiB of a control frame.
    {"8003000100ffffff", "SPDY frame: a control frame is too long"},
    {"800300010000000400000001", "SPDY frame: invalid control frame"},
    {"800300020000000800000001deadbeef", "SPDY header block: it is no zlib stream"},
}};

TEST_CASE("proxy: broken SPDY frames end the session", "[proxy]") {
  for (const auto& [hex, error] : kBroken) {
    INFO(hex);
    CHECK(Decoded(FromHex(hex)) == error);
  }
}

TEST_CASE("proxy: broken SPDY header blocks end the session", "[proxy]") {
  CHECK(BlockError(1, {"a", "b"}) == "open 1 a=b\n");
  CHECK(BlockError(2, {"a", "b"}) == "SPDY header block: it is cut");
  CHECK(BlockError(1, {"a"}) == "SPDY header block: it is cut");
  CHECK(BlockError(0, {"a"}) == "SPDY header block: it is too long");
  CHECK(BlockError(1, {"", "b"}) == "SPDY header block: a header has no name");
  CHECK(BlockError(1, {"A", "b"}) == "SPDY header block: header was not lowercased");
  CHECK(BlockError(2, {"a", "b", "a", "c"}) ==
        "SPDY header block: multiple headers with same name");
  CHECK(BlockError(1, {"connection", "close"}) ==
        "SPDY header block: it has the header connection");
  CHECK(BlockError(101, {}) == "SPDY header block: it has too many headers");
  CHECK(BlockError(0xFFFFFFFF, {}) == "SPDY header block: it has too many headers");
  CHECK(Decoded(SynStream(0, Stored(Plain(0, {})))) == "SPDY frame: stream id zero is disallowed");
  CHECK(Decoded(SynStream(0x80000001, Stored(Plain(0, {})))) ==
        "SPDY frame: a stream's id has 32 bits");
}

// A MiB of one letter is a KiB of zlib.
TEST_CASE("proxy: a SPDY header block that grows is stopped at its limit", "[proxy]") {
  SpdyHeaderCompressor compressor;
  std::string block;
  REQUIRE(compressor.Append({{"a", std::string(std::size_t{8} << 20, 'a')}}, block));
  CHECK(block.size() < std::size_t{64} << 10);
  CHECK(Decoded(SynStream(1, block)) == "SPDY header block: it is too large");
}

}  // namespace
}  // namespace apiserver::inline v0::proxy
