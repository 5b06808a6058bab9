#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/http/headers.h"
#include "apiserver/http/stream.h"
#include "proxy/spdy_frame.h"

namespace apiserver::inline v0::proxy {

class SpdySession;

// Receives the events of one stream. Called on the session's loop, one call at a time; must not
// wait.
class SpdyStreamSink {
 public:
  virtual ~SpdyStreamSink() = default;
  // Called first, and only on a stream that this side has opened: the peer takes its data now.
  virtual void OnReply() {}
  // Takes the next bytes; never empty, and valid only during the call.
  virtual void OnData(std::string_view bytes) = 0;
  // Called exactly once, last. OK: the peer has ended its direction, be it with FIN or by resetting
  // a stream that it had accepted, which is how a kubelet ends. kServiceUnavailable: it refused the
  // stream, or the session is over.
  virtual void OnEnd(const Status& status) = 0;
};

// One stream of a session, to write to. Used on the session's loop. May be kept longer than the
// session; its methods do nothing then.
class SpdyStream {
 public:
  SpdyStream(std::weak_ptr<SpdySession> session, SpdyStreamId id)
      : session_(std::move(session)), id_(id) {}

  SpdyStreamId id() const { return id_; }
  // Sends bytes. On a stream that this side has opened, called after OnReply: peers drop what comes
  // before. False: enough waits in the connection; SpdySession::Setup::on_room tells when to go on.
  bool Write(std::string_view bytes);
  // Ends this side's direction.
  void CloseWrite();
  // Ends both directions with RST_STREAM CANCEL. The sink is not called any more.
  void Reset();

 private:
  const std::weak_ptr<SpdySession> session_;
  const SpdyStreamId id_;
};

// One end of a SPDY/3.1 session over a stream of bytes, an upgraded connection. There is no flow
// control but the connection's: a stream that nobody takes from holds all others up, by Pause.
// Lives and is used on the loop on which the connection's sink is called. Follows
// github.com/moby/spdystream.
class SpdySession final : public http::StreamSink,
                          private SpdyFrameSink,
                          public std::enable_shared_from_this<SpdySession> {
 public:
  enum class Side : std::uint8_t { kClient, kServer };
  struct Setup {
    std::unique_ptr<http::Stream> connection;  // Not started.
    // Required: the loop on which the connection calls its sink. Outlives the session.
    Executor* loop = nullptr;
    Side side = Side::kClient;
    // Takes a stream that the peer opens and returns its sink. Null: it is refused. Empty: all are.
    UniqueFunction<std::shared_ptr<SpdyStreamSink>(const http::Headers&, SpdyStream)> on_stream =
        {};
    // Called after a Write returned false, when there is room again. May be empty.
    UniqueFunction<void()> on_room = {};
    // Called exactly once, after the ends of all streams: the connection is over. OK: the peer has
    // ended it, or Close was called. May be empty.
    UniqueFunction<void(const Status&)> on_end = {};
    // The interval of PINGs, which keep what stands between the two from closing an idle
    // connection. Zero: none are sent.
    std::chrono::milliseconds ping_interval = std::chrono::milliseconds(0);
    // The time after Close at which the connection is cut if the peer has not ended it.
    std::chrono::milliseconds close_timeout = std::chrono::seconds(10);
    std::size_t streams_max = 1000;  // Open at a time; what the peer opens beyond is refused.
  };

  // Begins to read the connection. The session lives as long as the connection does.
  static std::shared_ptr<SpdySession> Start(Setup setup);
  // Not for others: see Start.
  explicit SpdySession(Setup setup);
  ~SpdySession() override;

  // Opens a stream. kServiceUnavailable: the session is over, or the peer takes no more streams.
  Result<SpdyStream> Open(const http::Headers& headers, std::shared_ptr<SpdyStreamSink> sink);
  // Counts the PINGs of this side that the peer has answered.
  std::uint64_t pongs() const { return pongs_; }
  // Stops reading the connection, all of its streams.
  void Pause();
  void Resume();
  // Sends GOAWAY and ends the connection once what was written has been sent. Streams that are open
  // end with kServiceUnavailable.
  void Close();
  // Ends all at once.
  void Cancel();

  // http::StreamSink, called by the connection.
  void OnData(std::string_view bytes) override;
  void OnEnd(const Status& status) override;
  void OnRoom() override;

 private:
  friend class SpdyStream;
  struct OpenStream {
    std::shared_ptr<SpdyStreamSink> sink;  // Null: the peer's direction is over.
    bool replied = false;
    bool written = false;  // This side's direction is over.
  };

  void OnSynStream(SpdySynStream frame) override;
  void OnSynReply(SpdyStreamId id, http::Headers headers, bool fin) override;
  void OnHeaders(SpdyStreamId id, http::Headers headers, bool fin) override;
  void OnData(SpdyStreamId id, std::string_view bytes, bool fin) override;
  void OnRstStream(SpdyStreamId id, SpdyReset status) override;
  void OnPing(std::uint32_t id) override;
  void OnGoAway(SpdyStreamId last_good, SpdyGoAway status) override;

  bool Send(std::string frames);
  void PingLater();
  // Lets the peer end the connection, for a time.
  void CutLater();
  bool Write(SpdyStreamId id, std::string_view bytes, bool fin);
  void Reset(SpdyStreamId id);
  // Tells the end of the peer's direction, and forgets the stream once both are over.
  void EndPeer(SpdyStreamId id, const Status& status);
  void ForgetIfOver(SpdyStreamId id);
  // Ends all streams, then the session.
  void Finish(const Status& streams, const Status& session);

  Setup setup_;
  SpdyFrameWriter writer_;
  SpdyFrameReader reader_;
  std::map<SpdyStreamId, OpenStream> streams_;
  SpdyStreamId next_id_;
  SpdyStreamId peer_id_ = 0;  // The last that the peer has opened.
  std::uint32_t next_ping_;
  std::uint64_t pongs_ = 0;
  bool gone_away_ = false;  // The peer takes no more streams.
  bool over_ = false;
  Executor::Cancel timer_;
};

}  // namespace apiserver::inline v0::proxy
