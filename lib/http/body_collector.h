#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/http/exchange.h"
#include "http/loop.h"
#include "http/room_wait.h"
#include "http/timers.h"

namespace apiserver::inline v0::http {

class ServerStream;

// The facts a transport knows about a request's body when its head is complete.
struct IncomingBody {
  bool present = false;
  std::optional<std::uint64_t> length;
};

// Collects the body of one request and charges it to the bodies share, or passes it on as it comes.
// A body is read only once somebody wants it and there is room for it; what comes before waits in
// the transport's window. On the exchange's loop, except where a method says otherwise.
class BodyCollector final {
 public:
  struct Setup {
    Loop& loop;            // Outlives the collector.
    MemoryBudget& memory;  // Likewise.
    IncomingBody incoming;
  };
  explicit BodyCollector(const Setup& setup);

  // --- For the transport.
  void Attach(ServerStream& stream) { stream_ = &stream; }
  void Data(std::string_view bytes);
  void End();
  // The bytes whose window was not given back.
  std::size_t unread() const { return wanted_ && !sink_ ? unconsumed_ : unread_.size(); }
  // Returns true if bytes are welcome beyond the window that a transport reads ahead.
  bool wanted() const { return wanted_ && !room_.active() && !(sink_ && paused_.load()); }

  // --- For the exchange. See Exchange::CollectBody.
  bool present() const { return incoming_.present; }                           // Any thread.
  bool complete() const { return complete_.load(std::memory_order_relaxed); }  // Any thread.
  // OK: `bytes_max` does not rule the body out. Any thread.
  Status CheckLength(std::size_t bytes_max) const;
  // Resumes with Next once the body is here. `owner`, of which this is a part, lives until then.
  void Collect(std::size_t bytes_max, std::shared_ptr<void> owner, Resume resume);
  // Null before it was collected, and after LetGo(). By whoever runs the current step.
  const std::shared_ptr<const std::string>& body() const { return body_; }
  // The length of the collected body, also after LetGo(). By whoever runs the current step.
  std::size_t bytes() const { return collected_bytes_; }
  void ChargeTo(const Tenant& tenant);
  // Says how the body is read; false: that was decided otherwise before. By whoever runs the
  // current step.
  bool WillCollect();
  bool WillPassOn();
  // Passes the body to `sink` as it comes. See Exchange::OpenBody; `owner` as above.
  void PassOn(std::shared_ptr<StreamSink> sink, bool paced, std::shared_ptr<void> owner);
  // Any thread.
  void PausePassing() {
    paused_.store(true);
    held_.store(true);
  }
  // Any thread. True: it was paused, and PassMore() goes on.
  bool ResumePassing() { return paused_.exchange(false); }
  void PassMore();
  // Passes no more on; the peer is held back.
  void EndPassing(const Status& why);
  // The request's work is done: gives the body back.
  void LetGo();
  // The answer is over: nobody waits for the body, and the transport is gone.
  void Stop();

 private:
  struct PaceTimer final : Timers::Entry {
    explicit PaceTimer(BodyCollector& of) : collector(of) {}
    void Fire() override { collector.CheckPace(); }
    void Drop() override { collector.owner_.reset(); }
    BodyCollector& collector;
  };

  void PassPiece(std::string_view bytes);
  void Tell(std::string_view bytes);
  void CheckPassPace();
  void Read();
  void Accept();
  bool Charge();
  void Await(std::size_t bytes, UniqueFunction<void()> then);
  void Consume(std::size_t bytes);
  void WatchPace();
  void CheckPace();
  void Refuse(const Status& why);
  void Finish(Step step);

  Loop& loop_;
  FairShare& share_;
  const IncomingBody incoming_;
  ServerStream* stream_ = nullptr;
  FairShare::Charge charge_;
  RoomWait room_;
  Tenant tenant_;
  std::string unread_;
  std::atomic<bool> complete_;
  bool wanted_ = false;
  bool stopped_ = false;
  std::size_t bytes_max_ = 0;
  std::optional<Resume> waiter_;
  std::shared_ptr<void> owner_;  // While `pace_` is armed, or there is a sink.
  PaceTimer pace_{*this};
  std::size_t unconsumed_ = 0;   // Once it is wanted.
  std::size_t paced_bytes_ = 0;  // The length of `unread_` when its pace was looked at last.
  int slow_ticks_ = 0;
  std::size_t collected_bytes_ = 0;
  std::shared_ptr<const std::string> body_;

  // A body that is passed on.
  enum class Use : std::uint8_t { kNone, kCollect, kPassOn };
  Use use_ = Use::kNone;
  std::shared_ptr<StreamSink> sink_;
  std::atomic<bool> paused_{false};
  std::atomic<bool> held_{false};  // It was paused since its pace was looked at last.
  bool paced_ = true;
  bool passing_ = false;  // The sink is being told.
};

}  // namespace apiserver::inline v0::http
