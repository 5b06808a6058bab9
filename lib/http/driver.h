#pragma once  // Library-internal: other rooms include this header.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/http/exchange.h"
#include "http/body_collector.h"
#include "http/body_queue.h"
#include "http/kept_request.h"
#include "http/loop.h"
#include "http/pool_batch.h"

namespace apiserver::inline v0::http {

class ExchangeDriver;

// The transport's half of one request: an HTTP/2 stream, an HTTP/1.1 connection, or a caller in
// process. Called on the loop, until the driver has been told that the answer is over.
class ServerStream {
 public:
  // Called once, when head(), kind() and Fill() of the driver are ready.
  virtual void OnAnswer() = 0;
  // Called after Fill() returned kWait, when it may have bytes again.
  virtual void OnBodyReady() = 0;
  // Called when a step waits for the request's body.
  virtual void OnBodyWanted() = 0;
  // Called when so many bytes of the request's body have left the driver's buffer.
  virtual void OnBodyConsumed(std::size_t bytes) = 0;
  // Called when the answer cannot be completed: resets the stream or closes the connection, and
  // leads to AnswerOver.
  virtual void Cut() = 0;

 protected:
  ~ServerStream() = default;
};

// The number of exchanges of a connection whose work goes on. Belongs to the loop.
struct ExchangeCount {
  std::size_t live = 0;
};

// Stands for an answer whose length its head does not tell.
constexpr std::uint64_t kUnannounced = ~std::uint64_t{0};

// Drives one request over the filters and its answer back; the only implementation of Exchange.
//
// All state changes happen on the loop. A step runs on the loop or on the pool; what it ended with
// is signalled back (Signal, then OnLoop). State that other threads may touch is atomic: the
// claim of the head, whether the exchange was ended from outside, and the signals.
class ExchangeDriver final : public Exchange,
                             public ResponseWriter,
                             public Wakeable,
                             public LoopEvent,
                             public PoolWork,
                             public std::enable_shared_from_this<ExchangeDriver> {
 public:
  struct Setup {
    std::shared_ptr<Loop> loop;
    const Service* service = nullptr;  // Outlives the exchange.
    std::unique_ptr<Asked> asked;
    IncomingBody body;
    std::shared_ptr<ExchangeCount> count;  // May be null.
  };
  explicit ExchangeDriver(Setup setup);
  ~ExchangeDriver() override;

  // --- For the transport, on the loop.
  // The way in which the answer was given to the writer.
  enum class Kind : std::uint8_t { kNone, kSend, kStream, kUpgrade };
  enum class FillState : std::uint8_t { kData, kWait, kEnd, kAbort };
  // The outcome of one Fill().
  struct Filled {
    std::size_t bytes = 0;
    FillState state = FillState::kData;
  };

  // Begins with the first filter. `stream` is told until the answer is over.
  void Start(ServerStream& stream);
  // A request that is to start, and its stream.
  struct Arrival {
    std::shared_ptr<ExchangeDriver> driver;
    ServerStream* stream;
    bool in_line = true;  // Neither alone nor answered yet. Belongs to StartTogether().
  };
  // Starts requests of one service. Each filter begins with all of them before the next one does.
  // Throws what the first that failed has thrown, after the others.
  static void StartTogether(std::span<Arrival> arrivals);
  // Pass on the request's body as it arrives.
  void BodyData(std::string_view bytes) {
    if (incoming_) incoming_->Data(bytes);
  }
  void BodyEnd() {
    if (incoming_) incoming_->End();
  }
  // Returns how many bytes of the body are kept whose window was not given back.
  std::size_t unread_body() const { return incoming_ ? incoming_->unread() : 0; }
  bool body_wanted() const { return incoming_ && incoming_->wanted(); }
  const ResponseHead& head() const { return head_; }
  Kind kind() const { return kind_; }
  bool answer_is_made() const override { return kind_ == Kind::kSend && !running_; }
  // The length of the answer, if it is known: of a kSend answer, or of a stream whose head has a
  // Content-Length.
  std::optional<std::uint64_t> announced_bytes() const {
    return announced_ != kUnannounced ? std::optional(announced_) : std::nullopt;
  }
  std::size_t unsent_body() const { return queue_.size(); }
  // Lets a stream's source make what it has. False: it has nothing now, and OnBodyReady follows.
  bool FetchBody();
  // Moves bytes of the answer to `out`. kWait: OnBodyReady follows. kEnd and kAbort may come with
  // bytes.
  Filled Fill(std::span<char> out);
  // Does the same, and appends up to `room` bytes.
  Filled FillTo(std::string& out, std::size_t room);
  UniqueFunction<void(std::unique_ptr<Tunnel>)> TakeOnOpen() { return std::move(on_open_); }
  // Lets Fill() give what `source` makes, after an upgrade.
  void Pour(std::unique_ptr<BodySource> source) { source_ = std::move(source); }
  // Counts bytes that left through a tunnel and not through Fill().
  void CountSent(std::size_t bytes) { outcome_.response_bytes += bytes; }
  const Tenant& tenant() const { return queue_.tenant(); }
  // Ends the answer: everything was handed over, or nothing more will be. The stream is not called
  // again.
  void AnswerOver(bool completed);
  // The same for answers that have been sent together, one after the other, so that filters share
  // readings of clocks. `first`: of these.
  void AnswerOverInLine(bool first);
  // Ends the answer because the peer, or the whole server, has gone.
  void PeerGone(const Status& why);

  // --- Exchange.
  Request& request() override { return asked_.request(); }
  const Query& query() const override { return asked_.query(); }
  void LetRequestRest() override { may_rest_ = true; }
  Context& ctx() override { return ctx_; }
  std::shared_ptr<const std::string> body() const override;
  bool has_body() const override { return incoming_ != nullptr; }
  bool body_arrived() const override { return !incoming_ || incoming_->complete(); }
  std::size_t body_bytes() const override { return incoming_ ? incoming_->bytes() : 0; }
  Step CollectBody(std::size_t bytes_max) override;
  Result<std::unique_ptr<ReadStream>> OpenBody(OpenBodyOptions options) override;
  const std::shared_ptr<MemoryBudget>& memory() const override { return service_.memory; }
  const FeatureGates& features() const override { return *service_.features; }
  void ChargeTo(const Tenant& tenant) override;
  FairShare::Charge& decoding() override { return decoding_; }
  Step ReserveDecoding(std::size_t bytes) override;
  bool OutputOver() const override { return service_.memory->output.over(decoding_.tenant()); }
  ResponseWriter& writer() override { return *this; }
  void EndEarly(Status error) override;
  void EndEarlyAfter(std::chrono::nanoseconds delay, Span span, Status (*error)()) override;
  Executor& loop() override { return *loop_; }
  const std::shared_ptr<Loop>& shared_loop() const override { return loop_; }
  Executor& pool() override { return *service_.pool; }
  std::shared_ptr<Exchange> Share() override { return shared_from_this(); }
  Clock::Monotonic received() const override { return received_; }
  Clock::Monotonic FilterBegan(const Clock& clock) const override;
  Clock::Wall FilterBeganWall(const Clock& clock) const override;

  // --- ResponseWriter.
  void Send(ResponseHead head, Bytes body) override;
  void Stream(ResponseHead head, std::unique_ptr<BodySource> body) override;
  Status Upgrade(ResponseHead head, UniqueFunction<void(std::unique_ptr<Tunnel>)> on_open) override;
  bool started() const override { return claimed_.load(); }

  // --- Called back.
  void OnWake() override;
  void OnLoop() override;
  void RunOnPool() override;
  void DroppedByPool() override;

 private:
  friend struct Resume::Target;
  // Keeps the driver alive while armed: it ends, at the latest, when this fires.
  struct Deadline final : Timers::Entry {
    void Fire() override;
    void Drop() override { driver.reset(); }
    std::shared_ptr<ExchangeDriver> driver;
    Status (*error)() = nullptr;
  };
  // News for the loop, set as bits so that one delivery carries several.
  enum Signals : std::uint32_t { kStepOver = 1, kResumed = 2, kEndedEarly = 4 };

  // Tells the loop. Any thread.
  void Signal(Signals what);
  // Signals with the reference of another thread, which may be the last and must end on the loop.
  // `what`: Signals, or zero.
  static void SignalWith(std::shared_ptr<ExchangeDriver> self, std::uint32_t what);
  static void DeliverTo(Loop& loop, std::shared_ptr<LoopEvent> event);
  // Runs steps from `step` on until one of them has to wait, or the last is done.
  void Advance(Step step, bool on_loop);
  // Starts the wait of a Step::Later. True: it was resumed at once, with `step`.
  bool BeginLater(Step& step, bool on_loop);
  // Goes on on the pool: with `work`, or with the filter that said kWouldBlock.
  void HandToPool(UniqueFunction<Step()> work);
  // Makes `stream` the one that is told, and the request one that runs.
  void Attach(ServerStream& stream);
  // The parts of StartTogether(). False: the request goes on alone, or has ended.
  bool BeginInLine(const Filter& filter, std::exception_ptr& thrown);
  bool HandleInLine(std::exception_ptr& thrown);
  void GoOnAlone(Step step, std::exception_ptr& thrown);
  bool MayAnswerInLine() const;
  void AnswerInLine(bool dressed, std::exception_ptr& thrown);
  // Begin one filter, or the handler behind the last. Exceptions become errors.
  Step BeginAt(std::size_t index);
  Step BeginNext();
  Step RunGuarded(std::string_view where, UniqueFunction<Step()>& work);
  void GoOnAfterLater();
  // Takes the outcome of the last step, and begins the answer.
  void Settle(Step result);
  void ArmDeadline(Clock::Monotonic when, Span span, Status (*error)());
  void DisarmDeadline(Span span);
  // Answers with the error of EndEarly, or cuts the answer.
  void HandleEnded();
  // Returns whether the caller is the first, and may store a head.
  bool Claim();
  // Write an error answer, the second as plain text without the host's error writer.
  void WriteError(const Status& error);
  void SendPlain(const Status& error);
  // Hands the stored answer to the transport, once.
  void StartAnswer();
  // `dressed`: no filter's Head() has failed.
  void GiveAnswer(bool dressed);
  // Calls Head of the filters. False: one of them has thrown.
  bool RunHeads();
  bool RunHead(const Filter& filter);
  bool RunHeadInLine(const Filter& filter);
  // Calls End of the filters once the answer is over and no step runs.
  void EndIfQuiet();
  void PullSource(ChunkWriter& out);
  void DropSource();
  // Fills up to `room` bytes. `take` moves bytes of the queue behind those that are filled;
  // `pull_for` pulls the source, and returns how many bytes it has put there without the queue.
  template <class Take, class PullFor>
  Filled FillBy(std::size_t room, const Take& take, const PullFor& pull_for);
  void KeepToLength(Filled& filled) const;
  std::unique_ptr<BodyCollector> NewCollector(const IncomingBody& body) const;
  void AwaitDecodingRoom(std::size_t bytes, Resume resume);
  // Follows the last step.
  void LeaveSteps();
  // Gives the memory of the request back once its last step is done.
  void LetRequestGo();
  // The error of a request whose step has thrown.
  static const Status& Panicked();
  void LogError(std::string_view message, std::string_view where, std::string_view error) const;
  Status CaughtError(std::string_view where) const;
  // Does the same, and sets Caught in the exchange.
  Status CaughtInStep(std::string_view where);

  const std::shared_ptr<Loop> loop_;
  const Service& service_;
  KeptRequest asked_;
  const std::shared_ptr<ExchangeCount> count_;
  const Clock::Monotonic received_;
  const Context root_;
  Context ctx_;  // The one that is handed out. A filter may replace it by a child.
  std::array<Deadline, 2> deadlines_;  // Indexed by Span.

  // The step. `next_` and `work_` belong to the thread that runs it.
  std::uint32_t next_ = 0;  // The filter after the one that runs.
  std::atomic<std::uint32_t> begun_{0};
  UniqueFunction<Step()> work_;
  std::optional<Step> result_;
  std::shared_ptr<Resume::Target> later_;
  std::atomic<std::uint32_t> signals_{0};
  std::array<std::atomic<bool>, 2> deadline_set_{};  // Indexed by Span.
  bool rerun_ = false;
  bool running_ = false;
  bool in_line_ = false;       // StartTogether() takes the answer when the handler is done.
  bool shares_clock_ = false;  // A filter runs in line, and readings of clocks are shared.
  bool ended_ = false;

  // The answer. Written by the claimant; read on the loop once `stored_` is set.
  std::atomic<bool> claimed_{false};
  std::atomic<bool> stored_{false};
  std::atomic<bool> cut_{false};  // No further steps.
  std::atomic<bool> ended_early_{false};
  bool early_claimed_ = false;
  bool writing_error_ = false;
  bool answer_started_ = false;
  bool answer_over_ = false;
  bool source_aborted_ = false;
  bool may_rest_ = false;
  bool source_dry_ = false;  // It said kWait and has not been woken.
  Kind kind_ = Kind::kNone;
  Status early_error_;
  ResponseHead head_;
  BodyQueue queue_;
  std::unique_ptr<BodySource> source_;
  UniqueFunction<void(std::unique_ptr<Tunnel>)> on_open_;
  std::uint64_t announced_ = kUnannounced;  // The length of the answer, once it is stored.
  Outcome outcome_;
  ServerStream* stream_ = nullptr;

  // The request's body and what it becomes.
  const std::unique_ptr<BodyCollector> incoming_;  // Null: the request has none.
  FairShare::Charge decoding_;  // Belongs to the step, and to the loop while the step waits.
  std::unique_ptr<RoomWait> decoding_room_;  // Null until the step waits. Belongs to the loop.
};

// A watch keeps its driver, which the allocator gives 896 bytes if it is larger.
static_assert(sizeof(ExchangeDriver) <= 768 - 2 * sizeof(void*), "with its control block");

}  // namespace apiserver::inline v0::http
