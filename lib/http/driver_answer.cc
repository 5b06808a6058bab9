#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "http/driver.h"
#include "http/frame_writer.h"
#include "http/http1_head.h"

// The answer of an exchange: which thread may give it, how the transport takes it, and its end.
namespace apiserver::v0::http {
namespace {

// The calls of a BodySource before other connections have their turn: it may write little at a
// time.
constexpr int kPullsAtOnce = 64;
// With less room than this a frame that has bytes is sent as it is: what a source made for the rest
// of it would mostly have to wait in the queue.
constexpr std::size_t kRoomPulledFor = 2 << 10;

const Status& Cancelled() {
  static const Status status(Reason::kTimeout, "context canceled");
  return status;
}

// Returns the length that the head of a stream announces. kUnannounced: there is none, or it is
// malformed.
std::uint64_t LengthOf(const Headers& headers) {
  const std::string_view text = headers.Get("Content-Length");
  std::uint64_t length = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && !text.empty() ? length : kUnannounced;
}

}  // namespace

// The deadline of a request and its handler may answer on different threads at the same moment. The
// first exchange() decides; the other's answer is dropped.
bool ExchangeDriver::Claim() { return !claimed_.exchange(true); }

void ExchangeDriver::EndEarly(Status error) {
  if (ended_early_.exchange(true)) return;
  early_error_ = std::move(error);
  early_claimed_ = Claim();
  cut_.store(true);
  Signal(kEndedEarly);
}

void ExchangeDriver::EndEarlyAfter(std::chrono::nanoseconds delay, Span span, Status (*error)()) {
  if (deadline_set_[static_cast<std::size_t>(span)].exchange(true)) return;
  if (loop_->Inside()) return ArmDeadline(loop_->now() + delay, span, error);
  const Clock::Monotonic when = RealClock().Now() + delay;
  loop_->Post([self = shared_from_this(), when, span, error] {
    if (span == Span::kExchange || self->running_) self->ArmDeadline(when, span, error);
  });
}

void ExchangeDriver::ArmDeadline(Clock::Monotonic when, Span span, Status (*error)()) {
  if (ended_) return;
  Deadline& deadline = deadlines_[static_cast<std::size_t>(span)];
  deadline.driver = shared_from_this();
  deadline.error = error;
  loop_->Arm(deadline, when);
}

void ExchangeDriver::DisarmDeadline(Span span) {
  Deadline& deadline = deadlines_[static_cast<std::size_t>(span)];
  if (!deadline.armed()) return;
  loop_->Disarm(deadline);
  deadline.driver.reset();
}

void ExchangeDriver::Deadline::Fire() {
  if (const auto due = std::exchange(driver, nullptr)) due->EndEarly(error());
}

void ExchangeDriver::HandleEnded() {
  if (answer_over_) return;
  outcome_.error = early_error_;
  if (early_claimed_) {
    WriteError(early_error_);
    StartAnswer();
  } else {
    // A head is out, or in the hands of the step that runs: what follows it cannot be trusted.
    if (stream_ != nullptr) stream_->Cut();
  }
  EndIfQuiet();
}

void ExchangeDriver::WriteError(const Status& error) {
  outcome_.error = error;
  writing_error_ = true;
  try {
    if (service_.write_error) service_.write_error(*this, error);
  } catch (...) {
    (void)CaughtError("error writer");
  }
  if (!stored_.load()) SendPlain(error);
  writing_error_ = false;
}

void ExchangeDriver::SendPlain(const Status& error) {
  try {
    ResponseHead head;
    head.code = error.code();
    head.headers.Add("Content-Type", "text/plain; charset=utf-8");
    Send(std::move(head), field::Shorten(error.message()) + "\n");
  } catch (...) {
    (void)CaughtError("plain answer");
    if (stream_ != nullptr) stream_->Cut();
  }
}

// The error writer's answer is let in although the head is claimed; a step that runs on the pool
// meanwhile is on another thread, and shut out.
void ExchangeDriver::Send(ResponseHead head, Bytes body) {
  if (!(loop_->Inside() && writing_error_ && !stored_.load()) && !Claim()) return;
  head_ = std::move(head);
  announced_ = body.size();
  queue_.Append(std::move(body));
  kind_ = Kind::kSend;
  stored_.store(true);
}

void ExchangeDriver::Stream(ResponseHead head, std::unique_ptr<BodySource> body) {
  if (!(loop_->Inside() && writing_error_ && !stored_.load()) && !Claim()) return;
  head_ = std::move(head);
  announced_ = LengthOf(head_.headers);
  source_ = std::move(body);
  kind_ = Kind::kStream;
  stored_.store(true);
}

// A verbatim head comes from another server: a value that ended its line would let that server
// write the next answer on this connection.
Status ExchangeDriver::Upgrade(ResponseHead head,
                               UniqueFunction<void(std::unique_ptr<Tunnel>)> on_open) {
  if (!asked_.request().IsUpgrade()) {
    return Status(Reason::kBadRequest, "the request does not ask for an upgrade");
  }
  if (head.verbatim && (head.code != 101 || !ValidFields(head.headers))) {
    return Status(Reason::kInvalid, "the head of the upgrade is malformed");
  }
  if (!Claim()) return Status::Ok();
  head_ = std::move(head);
  on_open_ = std::move(on_open);
  kind_ = Kind::kUpgrade;
  stored_.store(true);
  return Status::Ok();
}

void ExchangeDriver::StartAnswer() {
  if (std::exchange(answer_started_, true)) return;
  GiveAnswer(RunHeads());
}

void ExchangeDriver::GiveAnswer(bool dressed) {
  if (!dressed) {
    // The answer cannot be dressed as it must be: a bare 500 instead.
    DropSource();
    queue_.Clear();
    on_open_ = nullptr;
    stored_.store(false);
    writing_error_ = true;
    outcome_.error = Panicked();
    SendPlain(outcome_.error);
    writing_error_ = false;
    if (!stored_.load()) return;
  }
  outcome_.code = head_.code;
  queue_.Charge();
  if (stream_ != nullptr) stream_->OnAnswer();
  if (kind_ == Kind::kSend) return;
  // It may go on for hours, with thousands beside it.
  head_.headers = Headers();
  if (!may_rest_) asked_.request().headers.ShrinkToFit();
}

bool ExchangeDriver::RunHeads() {
  // Filters learn from the call that an answer begins, whatever becomes of what they add.
  std::optional<ResponseHead> verbatim;
  if (head_.verbatim) verbatim = head_;
  for (std::size_t i = begun_.load(); i-- > 0;) {
    if (!RunHead(*service_.filters[i])) return false;
  }
  if (verbatim) head_ = *std::move(verbatim);
  return true;
}

bool ExchangeDriver::RunHead(const Filter& filter) {
  try {
    filter.Head(*this, head_);
    return true;
  } catch (...) {
    (void)CaughtError(filter.name());
    return false;
  }
}

bool ExchangeDriver::FetchBody() {
  if (source_ && !source_dry_ && queue_.empty()) PullSource(queue_);
  queue_.Charge();
  return !source_dry_ || !queue_.empty() || !source_;
}

template <class Take, class PullFor>
ExchangeDriver::Filled ExchangeDriver::FillBy(std::size_t room, const Take& take,
                                              const PullFor& pull_for) {
  Filled filled;
  for (int pulls = 0;; ++pulls) {
    filled.bytes += take(filled.bytes);
    if (filled.bytes == room && !queue_.empty()) break;
    if (!source_) {
      filled.state = source_aborted_ ? FillState::kAbort : FillState::kEnd;
      break;
    }
    const std::size_t left = room - filled.bytes;
    if (left == 0) break;
    if (filled.bytes > 0 && (left < kRoomPulledFor || pulls >= kPullsAtOnce)) break;
    if (source_dry_ || pulls >= kPullsAtOnce) {
      filled.state = FillState::kWait;
      // More, but not now: others have their turn first.
      if (!source_dry_) Waker(*loop_, weak_from_this()).Wake();
      break;
    }
    const std::size_t before = filled.bytes;
    filled.bytes += pull_for(filled.bytes);
    const bool made = filled.bytes > before || !queue_.empty();
    if (source_ && !source_dry_ && !made) pulls = kPullsAtOnce - 1;
  }
  queue_.Charge();
  if (kind_ == Kind::kStream && announced_ != kUnannounced) KeepToLength(filled);
  outcome_.response_bytes += filled.bytes;
  return filled;
}

ExchangeDriver::Filled ExchangeDriver::Fill(std::span<char> out) {
  const auto take = [&](std::size_t filled) { return queue_.TakeTo(out.subspan(filled)); };
  return FillBy(out.size(), take, [this](std::size_t /*filled*/) {
    PullSource(queue_);
    return std::size_t{0};
  });
}

// Cuts off the bytes that KeepToLength() takes back.
ExchangeDriver::Filled ExchangeDriver::FillTo(std::string& out, std::size_t room) {
  const std::size_t before = out.size();
  const auto take = [&](std::size_t filled) { return queue_.AppendTo(out, room - filled); };
  const Filled filled = FillBy(room, take, [&](std::size_t bytes) {
    FrameWriter frame(out, room - bytes, queue_);
    PullSource(frame);
    return frame.bytes();
  });
  out.resize(before + filled.bytes);
  return filled;
}

// Bytes beyond the announced length would be taken for the next answer of the connection.
void ExchangeDriver::KeepToLength(Filled& filled) const {
  const std::uint64_t left = announced_ - outcome_.response_bytes;
  const bool longer = filled.bytes > left;
  const bool shorter = filled.state == FillState::kEnd && filled.bytes < left;
  if (longer) filled.bytes = left;
  if (longer || shorter) filled.state = FillState::kAbort;
}

void ExchangeDriver::PullSource(ChunkWriter& out) {
  Pull pulled = Pull::kAbort;
  try {
    pulled = source_->Next(out, Waker(*loop_, weak_from_this()));
  } catch (...) {
    outcome_.error = CaughtError("body source");
  }
  source_dry_ = pulled == Pull::kWait;
  source_aborted_ = pulled == Pull::kAbort;
  if (pulled == Pull::kEnd || pulled == Pull::kAbort) DropSource();
  if (source_dry_ && !running_ && std::exchange(may_rest_, false)) asked_.Pack();
}

// A wake-up may come late, after the answer is over or before it has begun.
void ExchangeDriver::OnWake() {
  source_dry_ = false;
  if (stream_ != nullptr && answer_started_ && !answer_over_) stream_->OnBodyReady();
}

void ExchangeDriver::DropSource() { std::exchange(source_, nullptr).reset(); }

void ExchangeDriver::AnswerOver(bool completed) {
  if (std::exchange(answer_over_, true)) return;
  const auto keep = shared_from_this();
  outcome_.completed = completed;
  if (!completed && outcome_.error.ok()) {
    outcome_.error = Status(Reason::kInternalError, "the answer was cut");
  }
  stream_ = nullptr;
  DropSource();
  on_open_ = nullptr;
  if (incoming_) incoming_->Stop();
  // Destroys the step's Resume, which ends the step.
  if (decoding_room_) decoding_room_->Stop();
  cut_.store(true);
  // Work that was ended early goes on; all other work has lost its purpose.
  if (!ended_early_.load()) root_.Cancel(Cancelled());
  EndIfQuiet();
}

// Claims the head, so that the step that still runs answers into the void.
void ExchangeDriver::PeerGone(const Status& why) {
  if (answer_over_) return;
  claimed_.store(true);
  if (outcome_.error.ok()) outcome_.error = why;
  AnswerOver(false);
}

void ExchangeDriver::EndIfQuiet() {
  if (!answer_over_ || running_ || std::exchange(ended_, true)) return;
  const auto keep = shared_from_this();
  DisarmDeadline(Span::kExchange);
  for (std::size_t i = begun_.load(); i-- > 0;) {
    try {
      service_.filters[i]->End(*this, outcome_);
    } catch (...) {
      (void)CaughtError(service_.filters[i]->name());
    }
  }
  if (ended_early_.load()) root_.Cancel(Cancelled());
  if (count_) --count_->live;
}

}  // namespace apiserver::v0::http
