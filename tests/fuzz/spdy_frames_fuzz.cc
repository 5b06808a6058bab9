// The frames of a SPDY peer, read whole and in pieces: both must say the same, and nothing may be
// longer than allowed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proxy/spdy_frame.h"

namespace {

using namespace apiserver;         // NOLINT: a fuzz target.
using namespace apiserver::proxy;  // NOLINT: a fuzz target.

constexpr SpdyHeaderLimits kLimits{.block_bytes = 2000, .headers = 10};

class SpdySink final : public SpdyFrameSink {
 public:
  void OnSynStream(SpdySynStream frame) override {
    Add("open", frame.id, frame.fin);
    Add(frame.headers);
  }
  void OnSynReply(SpdyStreamId id, http::Headers headers, bool fin) override {
    Add("reply", id, fin);
    Add(headers);
  }
  void OnHeaders(SpdyStreamId id, http::Headers headers, bool fin) override {
    Add("headers", id, fin);
    Add(headers);
  }
  // The bounds of pieces say nothing.
  void OnData(SpdyStreamId id, std::string_view bytes, bool fin) override {
    if (bytes.empty() && !fin) std::abort();
    said += bytes;
    if (fin) Add("fin", id, fin);
  }
  void OnRstStream(SpdyStreamId id, SpdyReset /*status*/) override { Add("reset", id, false); }
  void OnPing(std::uint32_t id) override { Add("ping", id, false); }
  void OnGoAway(SpdyStreamId last_good, SpdyGoAway /*status*/) override {
    Add("away", last_good, false);
  }
  std::string said;

 private:
  void Add(const char* what, std::uint32_t id, bool fin) {
    said.append(what).append(std::to_string(id)).append(fin ? "f" : "");
  }
  void Add(const http::Headers& headers) {
    std::size_t bytes = 0;
    for (const auto& field : headers) {
      bytes += field.name.size() + field.value.size();
      said.append(field.name).append("=").append(field.value);
    }
    // A name may have many values, which repeat it.
    if (headers.size() > kLimits.block_bytes) std::abort();
    if (bytes > kLimits.block_bytes * kLimits.block_bytes) std::abort();
  }
};

std::string ReadFramesInPieces(std::string_view bytes, std::size_t piece) {
  SpdyFrameReader reader(kLimits);
  SpdySink sink;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const Status status = reader.Receive(bytes.substr(at, piece), sink);
    if (!status.ok()) return sink.said.append(status.message());
  }
  return sink.said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && ReadFramesInPieces(bytes, size) != ReadFramesInPieces(bytes, 3)) std::abort();
  return 0;
}
