#include "http/carrier.h"

#include <algorithm>
#include <utility>

#include "apiserver/http/dialer.h"
#include "http/net.h"

namespace apiserver::v0::http {
namespace {

constexpr std::size_t kWriteBytes = 64 << 10;
// The offset of output in its buffer. OpenSSL copies each record from there to behind a header in
// memory that begins a page, and on an AMD EPYC a copy between places that differ by a few bytes
// modulo 4096 runs at a twentieth of its speed.
constexpr std::size_t kWriteOffset = 1024;
// The bytes that one connection may read and write before others have their turn.
constexpr std::size_t kTurnBytes = 256 << 10;
// A write counts as this many bytes of a turn at least: the call takes as long as they would.
constexpr std::size_t kSendCostBytes = 4 << 10;
// Limits a handshake that is under way when the server drains, and the wait for one since the
// client has connected.
constexpr auto kDrainedHandshakeTime = std::chrono::milliseconds(1000);
// Limits of a lingering close: a peer that goes on sending must not keep the connection.
constexpr auto kLingerTime = std::chrono::milliseconds(500);
constexpr std::size_t kLingerBytes = 16 << 20;

}  // namespace

namespace {

const Status& Broken() {
  static const Status status(Reason::kInternalError, "an exception on this connection");
  return status;
}

}  // namespace

// Exceptions here mostly mean a lack of memory. The connection is lost with all its requests, which
// makes room, and the other connections go on.
template <class Call>
void Carrier::Guard(const Call& call) {
  const auto keep = shared_from_this();
  try {
    call();
  } catch (...) {
    setup_.loop->LogCaught("a connection");
    Close(Broken());
  }
}

Carrier::Carrier(Setup setup)
    : setup_(std::move(setup)), socket_(*setup_.loop, setup_.fd), timer_(*this) {
  (void)Broken();
}

Carrier::~Carrier() {
  setup_.loop->Disarm(timer_);
  ChargeUnsent(0);
}

void Carrier::Start() {
  Guard([this] { StartNow(); });
}

void Carrier::StartNow() {
  const Clock::Monotonic now = setup_.loop->now();
  begun_ = now;
  phase_deadline_ = now + setup_.handshake_timeout;
  progress_ = now;
  Status started;
  if (setup_.tls && setup_.server) started = socket_.StartTlsServer(setup_.tls);
  if (setup_.tls && !setup_.server) {
    started = socket_.StartTlsClient(setup_.tls, setup_.server_name);
  }
  setup_.tls.reset();
  if (!started.ok()) return Close(started);
  if (!setup_.connecting) return Handshake();
  AwaitWritable();
  UpdateTimer();
}

void Carrier::Handshake() {
  const auto keep = shared_from_this();
  if (setup_.connecting) {
    if (const Status failed = EndConnect(socket_.fd()); !failed.ok()) return Close(failed);
    setup_.connecting = false;
  }
  switch (socket_.Handshake()) {
    case Io::kOk:
      phase_ = Phase::kOpen;
      protocol_ = setup_.make_protocol(*this);
      if (!protocol_) return Close(Status(Reason::kInternalError, "no protocol"));
      if (drain_) protocol_->Drain();
      setup_.on_handshake_error = nullptr;
      // The peer's first bytes may have come with its handshake; they are in OpenSSL, and epoll is
      // silent.
      return OnReadable();
    case Io::kWantRead:
      AwaitReadable();
      return UpdateTimer();
    case Io::kWantWrite:
      AwaitWritable();
      return UpdateTimer();
    case Io::kClosed:
      return FailHandshake(Status(Reason::kServiceUnavailable, "tls: closed during the handshake"));
    case Io::kFailed:
      return FailHandshake(Status(Reason::kServiceUnavailable, "tls: " + socket_.error()));
  }
}

void Carrier::FailHandshake(const Status& why) {
  if (setup_.on_handshake_error) setup_.on_handshake_error(why);
  Close(why);
}

Status Carrier::Lost() const {
  Status lost(Reason::kServiceUnavailable, "connection lost: " + socket_.error());
  if (!socket_.reset()) return lost;
  return lost.WithDetails({.causes = {{.reason = std::string(kConnectionResetCause)}}});
}

void Carrier::Drain() {
  drain_ = true;
  if (phase_ == Phase::kHandshake) {
    // A client sends its first request with the end of its handshake, and repeats none that it has
    // sent. One that has only just connected is about to send its hello.
    const Clock::Monotonic since = socket_.greeted() ? setup_.loop->now() : begun_;
    phase_deadline_ = std::min(phase_deadline_, since + kDrainedHandshakeTime);
    return UpdateTimer();
  }
  if (phase_ != Phase::kOpen) return;
  protocol_->Drain();
  // A request that has arrived is answered before an idle connection closes.
  read_again_ = protocol_->wants_read();
  MarkDirty();
}

// Takes effect in ReadSome(): the old protocol, which calls this, is still running.
void Carrier::ReplaceProtocol(std::unique_ptr<Protocol> next, std::string received) {
  next_protocol_ = std::move(next);
  replayed_ = std::move(received);
}

// Output is written once, at the end of the turn: a watch event for a hundred streams of a
// connection is one system call.
void Carrier::MarkDirty() {
  if (phase_ == Phase::kClosed || std::exchange(dirty_, true)) return;
  setup_.loop->FlushLater(shared_from_this());
}

// A connection has one place among those that wait, however often it is flushed meanwhile.
void Carrier::MarkNews() {
  if (phase_ == Phase::kClosed || dirty_ || news_) return;
  if (!has_turn_) setup_.loop->FlushInTurn(shared_from_this());
  has_turn_ = news_ = true;
}

void Carrier::FlushTurn() {
  has_turn_ = false;
  if (news_) Flush();
}

void Carrier::Flush() {
  Guard([this] { FlushNow(); });
}

void Carrier::FlushNow() {
  dirty_ = news_ = false;
  if (phase_ != Phase::kOpen) return;
  if (std::exchange(read_again_, false)) ReadSome();
  if (phase_ != Phase::kOpen) return;
  WriteSome();
  if (phase_ == Phase::kOpen) SettleTurn();
}

void Carrier::OnReadable() {
  Guard([this] { ReadNow(); });
}

void Carrier::ReadNow() {
  awaits_readable_ = false;
  socket_.NoteReadable();
  switch (phase_) {
    case Phase::kHandshake:
      return Handshake();
    case Phase::kLingering:
      return ReadAndDrop();
    case Phase::kClosed:
      return;
    case Phase::kOpen:
      break;
  }
  ReadSome();
  // Written at the turn's end: a peer that must be woken is woken once for all its connections.
  if (phase_ == Phase::kOpen) MarkDirty();
}

void Carrier::OnWritable() {
  Guard([this] { WriteNow(); });
}

void Carrier::WriteNow() {
  awaits_writable_ = false;
  if (phase_ == Phase::kHandshake) return Handshake();
  if (phase_ != Phase::kOpen) return;
  WriteSome();
  if (phase_ == Phase::kOpen) SettleTurn();
}

// Reads until the socket is empty, the protocol wants no more or the turn's share is used up. The
// buffer belongs to the loop, so that idle connections hold none.
void Carrier::ReadSome() {
  std::size_t total = 0;
  while (protocol_->state() == Protocol::State::kOpen && !read_ended_ && protocol_->wants_read()) {
    if (total >= kTurnBytes) {
      read_again_ = true;
      return MarkDirty();
    }
    const std::span<char> buffer = setup_.loop->read_buffer();
    const IoResult read = socket_.Read(buffer);
    if (read.state == Io::kOk) {
      total += read.bytes;
      protocol_->Receive({buffer.data(), read.bytes});
      if (next_protocol_) {
        protocol_ = std::move(next_protocol_);
        if (drain_) protocol_->Drain();
        protocol_->Receive(std::exchange(replayed_, {}));
      }
      continue;
    }
    if (read.state == Io::kWantRead) return AwaitReadable();
    if (read.state == Io::kWantWrite) return AwaitWritable();
    const bool failed = read.state == Io::kFailed;
    // After a reset the kernel tells an end that the peer never sent.
    if (!failed && write_lost_.ok() && protocol_->OnReadEnd()) {
      read_ended_ = true;
      return MarkDirty();
    }
    if (!write_lost_.ok()) return Close(write_lost_);
    return Close(failed ? Lost()
                        : Status(Reason::kServiceUnavailable, "connection closed by the peer"));
  }
}

// A peer that is in the middle of sending would lose our answer to a reset if we just closed.
void Carrier::ReadAndDrop() {
  if (phase_ != Phase::kLingering) return;
  for (std::size_t total = 0; lingered_bytes_ < kLingerBytes;) {
    if (total >= kTurnBytes) {
      return setup_.loop->Post([self = shared_from_this()] { self->ReadAndDrop(); });
    }
    const std::span<char> buffer = setup_.loop->read_buffer();
    const IoResult read = socket_.Read(buffer);
    if (read.state == Io::kWantRead) return AwaitReadable();
    if (read.state != Io::kOk) break;
    total += read.bytes;
    lingered_bytes_ += read.bytes;
  }
  Close(Status::Ok());
}

bool Carrier::Wrote(const IoResult& written) {
  if (written.bytes > 0) progress_ = setup_.loop->now();
  ChargeUnsent(socket_.unsent());
  if (written.state == Io::kOk) return true;
  if (written.state == Io::kWantWrite) {
    AwaitWritable();
  } else {
    LoseOutput();
  }
  return false;
}

// A server that answers and closes resets the connection when more of the request comes. Its answer
// is in the socket then: a client reads it to the end. A server's peer is sent nothing any more, so
// that its further requests are not worth reading.
void Carrier::LoseOutput() {
  if (setup_.server || read_ended_) return Close(Lost());
  write_lost_ = Lost();
  socket_.DropUnsent();
  ChargeUnsent(0);
  read_again_ = true;
  MarkDirty();
}

void Carrier::ChargeUnsent(std::size_t bytes) {
  if (setup_.memory == nullptr || bytes == charged_) return;
  setup_.memory->output.Add(bytes);
  setup_.memory->output.Release(std::exchange(charged_, bytes));
}

// The rest of a write that the kernel did not take is kept by the socket; a fast peer costs nothing
// for that.
void Carrier::WriteSome() {
  if (!write_lost_.ok()) return;
  if (socket_.unsent() > 0 && !Wrote(socket_.Flush())) return;
  for (std::size_t total = 0; total < kTurnBytes;) {
    std::string& out = setup_.loop->write_buffer();
    out.resize(kWriteOffset);
    protocol_->Produce(out, kWriteOffset + kWriteBytes);
    const std::string_view made = std::string_view(out).substr(kWriteOffset);
    if (made.empty()) return out.clear();
    total += std::max(made.size(), kSendCostBytes);
    const bool all = Wrote(socket_.Write(made));
    out.clear();
    if (!all) return;
  }
  // The rest comes behind the other connections, and what arrives is looked at in between.
  MarkNews();
}

void Carrier::SettleTurn() {
  const bool flushed = socket_.unsent() == 0 && !dirty_ && !news_;
  switch (protocol_->state()) {
    case Protocol::State::kBroken:
      return Close(Status(Reason::kServiceUnavailable, "protocol error"));
    case Protocol::State::kFinished:
      if (flushed) {
        return protocol_->linger() ? Linger() : Close(Status::Ok());
      }
      break;
    case Protocol::State::kOpen:
      if (flushed && protocol_->write_ended() && !std::exchange(write_shut_, true)) {
        socket_.ShutdownWrite();
      }
      if (!read_again_ && !awaits_readable_ && !read_ended_ && protocol_->wants_read()) {
        // It did not want to before: bytes may wait in OpenSSL, which the kernel does not know.
        read_again_ = true;
        MarkDirty();
      }
      break;
  }
  UpdateTimer();
}

void Carrier::Linger() {
  protocol_->OnClosed(Status::Ok());
  phase_ = Phase::kLingering;
  phase_deadline_ = setup_.loop->now() + kLingerTime;
  socket_.ShutdownWrite();
  UpdateTimer();
  if (!awaits_readable_) ReadAndDrop();
}

// The protocol learns of the end after the socket is closed, so that what it calls finds no
// connection to write to.
void Carrier::Close(const Status& why) {
  if (phase_ == Phase::kClosed) return;
  const auto keep = shared_from_this();
  const Phase before = std::exchange(phase_, Phase::kClosed);
  if (before == Phase::kOpen && why.ok()) socket_.ShutdownWrite();
  socket_.Close();
  setup_.loop->Disarm(timer_);
  if (before == Phase::kOpen && protocol_) {
    protocol_->OnClosed(why.ok() ? Status(Reason::kServiceUnavailable, "connection closed") : why);
  }
  if (auto on_closed = std::move(setup_.on_closed)) on_closed(*this, why);
}

void Carrier::AwaitReadable() {
  if (std::exchange(awaits_readable_, true)) return;
  socket_.AwaitReadable(shared_from_this());
}

void Carrier::AwaitWritable() {
  if (std::exchange(awaits_writable_, true)) return;
  socket_.AwaitWritable(shared_from_this());
}

std::optional<Clock::Monotonic> Carrier::NextDeadline() {
  if (phase_ != Phase::kOpen) return phase_deadline_;
  std::optional<Clock::Monotonic> next = protocol_->deadline();
  if (socket_.unsent() > 0) {
    const Clock::Monotonic stalled = progress_ + setup_.write_stall_timeout;
    if (!next || stalled < *next) next = stalled;
  }
  return next;
}

// A timer that is armed for an earlier time is left alone; it looks again when it fires.
void Carrier::UpdateTimer() {
  if (phase_ == Phase::kClosed) return;
  const auto next = NextDeadline();
  Clock::Monotonic when = setup_.loop->now() + setup_.write_stall_timeout;
  if (next) when = std::min(when, *next);
  const auto wake = phase_ == Phase::kOpen ? protocol_->wake_at() : std::nullopt;
  if (wake) when = std::min(when, *wake);
  if (timer_.armed() && armed_for_ <= when) return;
  armed_for_ = when;
  setup_.loop->Arm(timer_, when);
}

void Carrier::OnTimer() {
  const auto keep = shared_from_this();
  const Clock::Monotonic now = setup_.loop->now();
  if (phase_ == Phase::kOpen && socket_.unsent() == 0) {
    // A protocol that is blocked says so only when asked: its time begins with the first such
    // answer.
    const bool blocked = protocol_->output_blocked();
    if (!blocked || !blocked_before_) progress_ = now;
    blocked_before_ = blocked;
  }
  const auto next = NextDeadline();
  const bool stalled = phase_ == Phase::kOpen && now >= progress_ + setup_.write_stall_timeout;
  if (stalled || (next && now >= *next)) {
    if (phase_ == Phase::kHandshake) {
      if (setup_.connecting) return Close(Status(Reason::kTimeout, "i/o timeout"));
      if (drain_ && !socket_.greeted()) {
        return Close(Status(Reason::kServiceUnavailable, "shutting down"));
      }
      return FailHandshake(Status(Reason::kTimeout, "tls: the handshake did not come"));
    }
    return Close(
        Status(Reason::kTimeout, stalled ? "the peer takes no bytes" : "idle for too long"));
  }
  const auto wake = phase_ == Phase::kOpen ? protocol_->wake_at() : std::nullopt;
  if (wake && now >= *wake) return MarkDirty();  // Flush looks for the next time.
  UpdateTimer();
}

}  // namespace apiserver::v0::http
