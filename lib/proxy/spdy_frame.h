#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/headers.h"
#include "proxy/spdy_headers.h"

// Frames of SPDY/3.1 as bytes, as far as kubelets and client-go use them. Follows
// github.com/moby/spdystream, which has no flow control: SETTINGS and WINDOW_UPDATE are read and
// ignored.
namespace apiserver::inline v0::proxy {

using SpdyStreamId = std::uint32_t;

// The types of control frames. CREDENTIAL and NOOP are refused, as by upstream.
enum class SpdyFrameType : std::uint8_t {
  kSynStream = 1,
  kSynReply = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kHeaders = 8,
  kWindowUpdate = 9,
};

// Statuses of RST_STREAM.
enum class SpdyReset : std::uint32_t {
  kProtocolError = 1,
  kInvalidStream = 2,
  kRefusedStream = 3,
  kUnsupportedVersion = 4,
  kCancel = 5,
  kInternalError = 6,
  kFlowControlError = 7,
  kStreamInUse = 8,
  kStreamAlreadyClosed = 9,
};

// Statuses of GOAWAY.
enum class SpdyGoAway : std::uint32_t { kOk = 0, kProtocolError = 1, kInternalError = 2 };

// The longest data frame. Longer texts are sent in several.
inline constexpr std::size_t kSpdyDataBytesMax = (std::size_t{1} << 24U) - 1;

// Makes the frames of one direction, in the order in which they are sent. Used by one thread at a
// time.
class SpdyFrameWriter {
 public:
  // False: there was no memory to compress the headers; the session is over then.
  bool SynStream(SpdyStreamId id, const http::Headers& headers, bool fin, std::string& out);
  bool SynReply(SpdyStreamId id, const http::Headers& headers, bool fin, std::string& out);
  static void Data(SpdyStreamId id, std::string_view bytes, bool fin, std::string& out);
  static void RstStream(SpdyStreamId id, SpdyReset status, std::string& out);
  static void Ping(std::uint32_t id, std::string& out);
  static void GoAway(SpdyStreamId last_good, SpdyGoAway status, std::string& out);

 private:
  SpdyHeaderCompressor compressor_;
};

// The frame that opens a stream.
struct SpdySynStream {
  SpdyStreamId id = 0;
  SpdyStreamId associated = 0;
  http::Headers headers = {};
  bool fin = false;             // The opener writes nothing.
  bool unidirectional = false;  // The other side writes nothing.
};

// Receives the frames of one direction.
class SpdyFrameSink {
 public:
  virtual void OnSynStream(SpdySynStream frame) = 0;
  virtual void OnSynReply(SpdyStreamId id, http::Headers headers, bool fin) = 0;
  virtual void OnHeaders(SpdyStreamId id, http::Headers headers, bool fin) = 0;
  // Takes bytes of a data frame, as they come; they are valid during the call. `fin`: these are the
  // stream's last. Empty only with `fin`.
  virtual void OnData(SpdyStreamId id, std::string_view bytes, bool fin) = 0;
  virtual void OnRstStream(SpdyStreamId id, SpdyReset status) = 0;
  virtual void OnPing(std::uint32_t id) = 0;
  virtual void OnGoAway(SpdyStreamId last_good, SpdyGoAway status) = 0;

 protected:
  ~SpdyFrameSink() = default;
};

// Decodes frames in whatever pieces they come. Keeps one control frame at the most. Used by one
// thread at a time.
class SpdyFrameReader {
 public:
  // The longest payload of a control frame; upstream takes 16 MiB.
  static constexpr std::size_t kControlBytesMax = std::size_t{64} << 10;

  explicit SpdyFrameReader(SpdyHeaderLimits limits = {}) : decompressor_(limits) {}

  // Decodes all of `bytes`. kInvalid: they are not SPDY/3, or beyond a limit; the session is over,
  // and the reader must not be used again.
  Status Receive(std::string_view bytes, SpdyFrameSink& sink);

 private:
  static constexpr std::size_t kHeadBytes = 8;

  // Takes the bytes of the current frame's head; true once it is complete.
  bool TakeHead(std::string_view& bytes);
  Status BeginFrame(SpdyFrameSink& sink);
  void TakeData(std::string_view& bytes, SpdyFrameSink& sink);
  Status TakeControl(std::string_view& bytes, SpdyFrameSink& sink);
  Status EndControl(std::string_view payload, SpdyFrameSink& sink);
  Status EndHeaders(std::string_view payload, SpdyFrameSink& sink);
  Status EndNumbers(std::string_view payload, SpdyFrameSink& sink) const;

  SpdyHeaderDecompressor decompressor_;
  std::array<char, kHeadBytes> head_{};
  std::size_t head_bytes_ = 0;
  // The current frame, once its head is complete.
  bool in_payload_ = false;
  bool control_ = false;
  SpdyFrameType type_ = SpdyFrameType::kSynStream;
  SpdyStreamId data_id_ = 0;
  std::uint8_t flags_ = 0;
  std::size_t left_ = 0;
  std::string payload_;
};

}  // namespace apiserver::inline v0::proxy
