#include "proxy/spdy_session.h"

#include <utility>
#include <vector>

namespace apiserver::v0::proxy {

namespace {

constexpr SpdyStreamId kIdMax = 0x7FFFFFFF;

Status Unavailable(std::string why) { return {Reason::kServiceUnavailable, std::move(why)}; }

}  // namespace

bool SpdyStream::Write(std::string_view bytes) {
  const auto session = session_.lock();
  return session == nullptr || session->Write(id_, bytes, false);
}

void SpdyStream::CloseWrite() {
  if (const auto session = session_.lock()) (void)session->Write(id_, {}, true);
}

void SpdyStream::Reset() {
  if (const auto session = session_.lock()) session->Reset(id_);
}

std::shared_ptr<SpdySession> SpdySession::Start(Setup setup) {
  auto session = std::make_shared<SpdySession>(std::move(setup));
  session->setup_.connection->Start(session);
  session->PingLater();
  return session;
}

// The ids of a client's streams and PINGs are odd, those of a server's even.
SpdySession::SpdySession(Setup setup)
    : setup_(std::move(setup)),
      next_id_(setup_.side == Side::kClient ? 1 : 2),
      next_ping_(next_id_) {}

SpdySession::~SpdySession() {
  if (timer_) timer_();
}

Result<SpdyStream> SpdySession::Open(const http::Headers& headers,
                                     std::shared_ptr<SpdyStreamSink> sink) {
  if (over_ || gone_away_ || next_id_ > kIdMax) return Unavailable("the SPDY session is over");
  if (streams_.size() >= setup_.streams_max) return Unavailable("too many SPDY streams");
  const SpdyStreamId id = std::exchange(next_id_, next_id_ + 2);
  std::string frame;
  if (!writer_.SynStream(id, headers, false, frame)) return Unavailable("no memory for SPDY");
  streams_[id].sink = std::move(sink);
  (void)Send(std::move(frame));
  return SpdyStream(weak_from_this(), id);
}

void SpdySession::PingLater() {
  if (setup_.ping_interval.count() == 0) return;
  timer_ = setup_.loop->PostAfter(setup_.ping_interval, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr || self->over_) return;
    std::string frame;
    SpdyFrameWriter::Ping(self->next_ping_, frame);
    self->next_ping_ =
        self->next_ping_ + 2 > kIdMax ? self->next_ping_ % 2 + 2 : self->next_ping_ + 2;
    (void)self->Send(std::move(frame));
    self->PingLater();
  });
}

void SpdySession::CutLater() {
  setup_.connection->CloseWrite();
  setup_.connection->Resume();
  timer_ = setup_.loop->PostAfter(setup_.close_timeout, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self != nullptr && self->setup_.connection != nullptr) self->setup_.connection->Cancel();
  });
}

void SpdySession::Pause() {
  if (!over_) setup_.connection->Pause();
}

void SpdySession::Resume() {
  if (!over_) setup_.connection->Resume();
}

void SpdySession::Close() {
  if (over_) return;
  std::string frame;
  SpdyFrameWriter::GoAway(peer_id_, SpdyGoAway::kOk, frame);
  (void)Send(std::move(frame));
  CutLater();
  Finish(Unavailable("the SPDY session was closed"), {});
}

void SpdySession::Cancel() {
  if (setup_.connection == nullptr) return;
  setup_.connection->Cancel();
  Finish(Unavailable("the SPDY session was cancelled"), {});
}

void SpdySession::OnData(std::string_view bytes) {
  if (over_) return;
  // A sink that is told of a stream may drop the session.
  const auto self = shared_from_this();
  const Status received = reader_.Receive(bytes, *this);
  if (received.ok() || over_) return;
  std::string frame;
  SpdyFrameWriter::GoAway(peer_id_, SpdyGoAway::kProtocolError, frame);
  (void)Send(std::move(frame));
  CutLater();
  Finish(Unavailable(std::string(received.message())), received);
}

void SpdySession::OnEnd(const Status& status) {
  const auto self = shared_from_this();
  Finish(Unavailable(status.ok() ? "the SPDY session has ended" : std::string(status.message())),
         status);
  // The connection is calling this.
  setup_.loop->Post([connection = std::move(setup_.connection)]() mutable { connection.reset(); });
}

void SpdySession::OnRoom() {
  if (!over_ && setup_.on_room) setup_.on_room();
}

void SpdySession::OnSynStream(SpdySynStream frame) {
  const bool ours = frame.id % 2 == (setup_.side == Side::kClient ? 1 : 0);
  if (over_) return;
  std::string answer;
  if (ours || frame.id <= peer_id_) {
    SpdyFrameWriter::RstStream(frame.id, SpdyReset::kProtocolError, answer);
    (void)Send(std::move(answer));
    return;
  }
  peer_id_ = frame.id;
  std::shared_ptr<SpdyStreamSink> sink;
  if (setup_.on_stream && streams_.size() < setup_.streams_max) {
    streams_[frame.id] = {.sink = nullptr, .replied = true, .written = frame.unidirectional};
    sink = setup_.on_stream(frame.headers, SpdyStream(weak_from_this(), frame.id));
  }
  if (over_) return;
  if (sink == nullptr) {
    streams_.erase(frame.id);
    SpdyFrameWriter::RstStream(frame.id, SpdyReset::kRefusedStream, answer);
    (void)Send(std::move(answer));
    return;
  }
  streams_[frame.id].sink = std::move(sink);
  if (!writer_.SynReply(frame.id, {}, false, answer)) return Reset(frame.id);
  (void)Send(std::move(answer));
  if (frame.fin) EndPeer(frame.id, {});
}

void SpdySession::OnSynReply(SpdyStreamId id, http::Headers /*headers*/, bool fin) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || std::exchange(found->second.replied, true)) return;
  const auto sink = found->second.sink;
  if (sink != nullptr) sink->OnReply();
  if (fin) EndPeer(id, {});
}

void SpdySession::OnHeaders(SpdyStreamId id, http::Headers /*headers*/, bool fin) {
  if (fin) EndPeer(id, {});
}

// Data of unknown streams is dropped, as is what comes before the reply.
void SpdySession::OnData(SpdyStreamId id, std::string_view bytes, bool fin) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || !found->second.replied) return;
  const auto sink = found->second.sink;
  if (sink != nullptr && !bytes.empty()) sink->OnData(bytes);
  if (fin) EndPeer(id, {});
}

void SpdySession::OnRstStream(SpdyStreamId id, SpdyReset /*status*/) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const Status status = found->second.replied ? Status() : Unavailable("Stream reset");
  const auto sink = std::move(found->second.sink);
  streams_.erase(found);
  if (sink != nullptr) sink->OnEnd(status);
}

void SpdySession::OnPing(std::uint32_t id) {
  if (id % 2 == next_ping_ % 2) {
    ++pongs_;
    return;
  }
  std::string frame;
  SpdyFrameWriter::Ping(id, frame);
  (void)Send(std::move(frame));
}

// Streams that are open go on; the peer closes the connection when they are over.
void SpdySession::OnGoAway(SpdyStreamId /*last_good*/, SpdyGoAway /*status*/) { gone_away_ = true; }

bool SpdySession::Send(std::string frames) {
  return over_ || setup_.connection->Write(std::move(frames));
}

bool SpdySession::Write(SpdyStreamId id, std::string_view bytes, bool fin) {
  const auto found = streams_.find(id);
  if (over_ || found == streams_.end() || found->second.written) return true;
  if (bytes.empty() && !fin) return true;
  std::string frame;
  frame.reserve(bytes.size() + 8);
  SpdyFrameWriter::Data(id, bytes, fin, frame);
  const bool room = Send(std::move(frame));
  if (fin) {
    found->second.written = true;
    ForgetIfOver(id);
  }
  return room;
}

void SpdySession::Reset(SpdyStreamId id) {
  if (over_ || streams_.erase(id) == 0) return;
  std::string frame;
  SpdyFrameWriter::RstStream(id, SpdyReset::kCancel, frame);
  (void)Send(std::move(frame));
}

void SpdySession::EndPeer(SpdyStreamId id, const Status& status) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const auto sink = std::move(found->second.sink);
  ForgetIfOver(id);
  if (sink != nullptr) sink->OnEnd(status);
}

void SpdySession::ForgetIfOver(SpdyStreamId id) {
  const auto found = streams_.find(id);
  if (found->second.written && found->second.sink == nullptr) streams_.erase(found);
}

void SpdySession::Finish(const Status& streams, const Status& session) {
  if (std::exchange(over_, true)) return;
  for (auto& [id, open] : std::exchange(streams_, {})) {
    if (open.sink != nullptr) open.sink->OnEnd(streams);
  }
  if (setup_.on_end) std::exchange(setup_.on_end, {})(session);
}

}  // namespace apiserver::v0::proxy
