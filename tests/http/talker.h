#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "support.h"

namespace http_test {

inline constexpr std::size_t kTalkerPieceBytes = 32 << 10;

// The byte at `place` of what a Talker writes.
inline char TalkerByte(std::size_t place) {
  return static_cast<char>('a' + place / kTalkerPieceBytes % 23);
}

// Fails `right` unless `bytes` are what a Talker writes from `place` on.
inline void CheckTalk(std::string_view bytes, std::size_t place, bool& right) {
  for (const char c : bytes) right = right && c == TalkerByte(place++);
}

// A client that writes and reads one stream at the same time, each at the pace that the stream
// allows, and measures the heap. On the stream's loop, but for the journal.
class Talker final : public StreamSink, public std::enable_shared_from_this<Talker> {
 public:
  // `pause`: how long it rests after each piece that it reads; negative: it does not.
  Talker(Executor& loop, std::size_t bytes, std::chrono::nanoseconds pause)
      : loop_(loop), bytes_(bytes), pause_(pause) {}

  // Begins to write; nothing is read before Resume().
  void Begin(std::unique_ptr<Stream> opened) {
    stream = std::move(opened);
    heap_before = heap_peak = HeapBytes();
    stream->Pause();
    stream->Start(shared_from_this());
    loop_.Post([self = shared_from_this()] { self->Write(); });
  }
  void Resume() { stream->Resume(); }

  void OnHead(const ResponseHead& head) override { steps.Add(std::to_string(head.code)); }
  void OnData(std::string_view bytes) override {
    CheckTalk(bytes, came, right);
    came += bytes.size();
    Measure();
    if (pause_.count() < 0) return;
    stream->Pause();
    const auto again = [self = shared_from_this()] {
      if (self->stream) self->stream->Resume();
    };
    if (pause_.count() == 0) return loop_.Post(again);
    (void)loop_.PostAfter(pause_ * bytes.size() / 1024, again);
  }
  void OnEnd(const Status& status) override {
    steps.Add(status.ok() ? "end" : status.ToString());
    stream.reset();
  }
  void OnRoom() override { Write(); }

  std::unique_ptr<Stream> stream;
  Journal steps;
  Notification stopped;  // The writer was told to stop.
  int stops = 0;
  std::size_t came = 0;
  bool right = true;
  std::size_t heap_before = 0;
  std::size_t heap_peak = 0;

 private:
  void Measure() { heap_peak = std::max(heap_peak, HeapBytes()); }
  void Write() {
    Measure();
    if (!stream) return;
    while (written_ < bytes_) {
      const std::size_t count = std::min(kTalkerPieceBytes, bytes_ - written_);
      std::string piece(count, TalkerByte(written_));
      written_ += count;
      if (stream->Write(std::move(piece))) continue;
      ++stops;
      stopped.Notify();
      return;
    }
    if (!std::exchange(closed_, true)) stream->CloseWrite();
  }

  Executor& loop_;
  const std::size_t bytes_;
  const std::chrono::nanoseconds pause_;  // For each KiB.
  std::size_t written_ = 0;
  bool closed_ = false;
};

// A client's stream whose events are written down.
class Told {
  struct State {
    Journal steps;
    Notification over;
  };

 public:
  explicit Told(std::unique_ptr<Stream> opened)
      : stream(std::move(opened)), state_(std::make_shared<State>()) {
    stream->Start(NewSink({
        .data = [state =
                     state_](auto bytes) { state->steps.Add(std::string(bytes.substr(0, 20))); },
        .end =
            [state = state_](const Status& status) {
              state->steps.Add(status.ok() ? "end" : status.ToString());
              state->over.Notify();
            },
        .room = [state = state_] { state->steps.Add("room"); },
        .head = [state = state_](const auto& head) { state->steps.Add(std::to_string(head.code)); },
    }));
  }
  Journal& steps() { return state_->steps; }
  // Waits for the end; returns how it was told.
  std::string AwaitEnd() {
    return state_->over.WaitFor(kPatience) ? state_->steps.lines().back() : "no end";
  }

  std::unique_ptr<Stream> stream;

 private:
  // The loop may tell the end after the test has gone.
  const std::shared_ptr<State> state_;
};

}  // namespace http_test
