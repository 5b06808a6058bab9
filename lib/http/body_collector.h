#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

// Collects the body of one request and charges it to the bodies share. A body is read only once
// somebody wants it and there is room for it; what comes before waits in the transport's window.
// On the exchange's loop, except where a method says otherwise.
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
  std::size_t unread() const { return wanted_ ? unconsumed_ : unread_.size(); }
  // Returns true if bytes are welcome beyond the window that a transport reads ahead.
  bool wanted() const { return wanted_ && !room_.active(); }

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
  std::shared_ptr<void> owner_;  // While `pace_` is armed.
  PaceTimer pace_{*this};
  std::size_t unconsumed_ = 0;   // Once it is wanted.
  std::size_t paced_bytes_ = 0;  // The length of `unread_` when its pace was looked at last.
  int slow_ticks_ = 0;
  std::size_t collected_bytes_ = 0;
  std::shared_ptr<const std::string> body_;
};

}  // namespace apiserver::inline v0::http
