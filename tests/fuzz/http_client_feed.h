#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/client_link.h"
#include "http/duplex_stream.h"
#include "http_feed.h"

// A client's protocol machine fed from memory with what a server may answer, without socket or
// thread: shared by the fuzz targets of the clients.
namespace apiserver_fuzz {

// Reads a stream, pausing after each piece, and writes as much back.
class TalkBack final : public http::StreamSink {
 public:
  void OnData(std::string_view bytes) override {
    stream->Pause();
    (void)stream->Write(std::string(bytes));
    stream->Resume();
  }
  void OnEnd(const apiserver::Status& /*status*/) override { ended = true; }

  std::unique_ptr<http::Stream> stream;
  bool ended = false;
};

class Unheard final : public http::StreamObserver {
 public:
  void OnHead(const http::ResponseHead& /*head*/) override {}
  void OnData(std::string_view /*bytes*/) override {}
  void OnEnd(const apiserver::Status& /*status*/) override { ++ends; }
  int ends = 0;
};

using MakeClient = std::unique_ptr<http::ClientProtocol> (*)(http::Wire&, http::ClientSetup);

// Begins a stream and a whole request, and answers with `bytes`. The first byte is the size of the
// pieces; the second says whether the stream is an upgrade (1), and whether it is cancelled in the
// middle (2). Aborts unless each call is told its end once.
inline void FeedClient(MakeClient make, const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return;
  const std::size_t piece = bytes[0] == 0 ? size : bytes[0];
  const auto loop = http::Loop::Create(apiserver::NullLogSink());
  MemoryWire wire(loop);
  const auto protocol = make(wire, {.authority = "x", .window_bytes = 64 << 10});
  const auto link = std::make_shared<http::ClientLink>();
  link->loop = loop;
  link->protocol = protocol.get();
  const auto sink = std::make_shared<TalkBack>();
  const bool upgrade = (bytes[1] & 1) != 0;
  http::ClientRequestHead head{.target = "/", .headers = {{"Host", "x"}}};
  if (upgrade) {
    head.headers.Add("Connection", "upgrade");
    head.headers.Add("Upgrade", "x");
  } else {
    head.body_bytes = std::nullopt;
  }
  sink->stream = http::OpenDuplex(link, std::move(head),
                                  upgrade ? http::DuplexKind::kUpgrade : http::DuplexKind::kBody)
                     .value();
  sink->stream->Start(sink);
  loop->RunReady();  // Over HTTP/1.1 the stream comes first, and the other call waits.
  const auto observer = std::make_shared<Unheard>();
  link->Start(std::make_shared<http::ClientCall>(http::ClientRequest{.target = "/", .body = "body"},
                                                 http::NewObserverSink(observer)));
  std::string said;
  for (std::size_t at = 2; at < size; at += piece) {
    loop->RunReady();
    protocol->Produce(said, said.size() + (64 << 10));
    if (protocol->state() != http::Protocol::State::kOpen || !protocol->wants_read()) break;
    if (at > size / 2 && (bytes[1] & 2) != 0) sink->stream->Cancel();
    const std::size_t count = std::min(piece, size - at);
    protocol->Receive({reinterpret_cast<const char*>(bytes) + at, count});
  }
  loop->RunReady();
  if (!protocol->OnReadEnd()) protocol->OnClosed(apiserver::Status());
  loop->RunReady();
  protocol->OnClosed(apiserver::Status());
  loop->RunReady();
  link->protocol = nullptr;
  if (!sink->ended || observer->ends != 1) __builtin_trap();
  sink->stream.reset();
  loop->RunReady();
  loop->Stop();
}

}  // namespace apiserver_fuzz
