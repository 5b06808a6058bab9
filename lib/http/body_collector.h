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

// The facts that a transport knows about a request's body when the head is complete.
struct IncomingBody {
  bool present = false;
  // The announced length. nullopt: the body ends where its framing says so.
  std::optional<std::uint64_t> length;
};

// Collects the body of one request and charges it to the bodies share, or passes it on as it comes.
// A body is read only once a step wants it and there is room for it; bytes that come earlier wait
// in the transport's window. Lives on the exchange's loop; methods that may be called from any
// thread say so.
class BodyCollector final {
 public:
  struct Setup {
    Loop& loop;            // Outlives the collector.
    MemoryBudget& memory;  // Likewise.
    IncomingBody incoming;
  };
  explicit BodyCollector(const Setup& setup);

  // --- For the transport.
  // Sets the stream that is told when the body is wanted and consumed. Called before Data().
  void Attach(ServerStream& stream) { stream_ = &stream; }
  // Takes the next bytes of the body.
  void Data(std::string_view bytes);
  // Notes that the body is complete.
  void End();
  // Returns how many bytes have arrived whose window was not given back.
  std::size_t unread() const { return wanted_ && !sink_ ? unconsumed_ : unread_.size(); }
  // Returns true if bytes are welcome beyond the window that a transport reads ahead: a step wants
  // the body, there is room, and its reader does not pause.
  bool wanted() const { return wanted_ && !room_.active() && !(sink_ && paused_.load()); }

  // --- For the exchange. See Exchange::CollectBody.
  bool present() const { return incoming_.present; }                           // Any thread.
  bool complete() const { return complete_.load(std::memory_order_relaxed); }  // Any thread.
  // OK: `bytes_max` does not rule the body out. Any thread.
  Status CheckLength(std::size_t bytes_max) const;
  // Reads the whole body, and resumes with Next once it is here. Keeps `owner`, which this object
  // is a part of, until then.
  void Collect(std::size_t bytes_max, std::shared_ptr<void> owner, Resume resume);
  // The collected body. Null before it was collected and after LetGo(). Belongs to the current
  // step.
  const std::shared_ptr<const std::string>& body() const { return body_; }
  // The length of the collected body, also after LetGo(). Belongs to the current step.
  std::size_t bytes() const { return collected_bytes_; }
  // Charges the body to `tenant` from now on.
  void ChargeTo(const Tenant& tenant);
  // Chooses how the body is read. False: the other way was chosen before. Belongs to the current
  // step.
  bool WillCollect();
  bool WillPassOn();
  // Passes the body to `sink` as it comes, see Exchange::OpenBody. Keeps `owner` as Collect does.
  void PassOn(std::shared_ptr<StreamSink> sink, bool paced, std::shared_ptr<void> owner);
  // Stops passing at once. Any thread.
  void PausePassing() {
    paused_.store(true);
    held_.store(true);
  }
  // Allows passing. True: it was paused, and PassMore() must be called. Any thread.
  bool ResumePassing() { return paused_.exchange(false); }
  // Passes on what has come during a pause.
  void PassMore();
  // Ends passing with `why`; the peer is held back.
  void EndPassing(const Status& why);
  // Gives the body's memory back, because the request's steps are done.
  void LetGo();
  // Ends everything, because the answer is over and the transport has gone.
  void Stop();

 private:
  // Looks at the pace of a body that is being read, once a second.
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
  std::shared_ptr<void> owner_;  // Set while `pace_` is armed, or there is a sink.
  PaceTimer pace_{*this};
  std::size_t unconsumed_ = 0;   // Counted once the body is wanted.
  std::size_t paced_bytes_ = 0;  // The length of `unread_` when the pace was looked at last.
  int slow_ticks_ = 0;
  std::size_t collected_bytes_ = 0;
  std::shared_ptr<const std::string> body_;

  // The members from here on are for a body that is passed on.
  enum class Use : std::uint8_t { kNone, kCollect, kPassOn };
  Use use_ = Use::kNone;
  std::shared_ptr<StreamSink> sink_;
  std::atomic<bool> paused_{false};
  std::atomic<bool> held_{false};  // Paused since the pace was looked at last.
  bool paced_ = true;
  bool passing_ = false;  // The sink is being told.
};

}  // namespace apiserver::inline v0::http
