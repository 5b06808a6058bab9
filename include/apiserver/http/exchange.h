#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/feature_gates.h"
#include "apiserver/base/function.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/http/message.h"
#include "apiserver/http/stream.h"

// One request and its answer, driven over a list of filters. lib/http/README.md says which code
// runs on which thread.
namespace apiserver::inline v0::http {

class Exchange;
class Loop;  // Library-internal.
class Step;

// Continues an exchange that returned Step::Later. One-shot; may be called on any thread. If it is
// dropped unused, the exchange is answered with 500.
class Resume {
 public:
  struct Target;
  explicit Resume(std::shared_ptr<Target> target) : target_(std::move(target)) {}
  Resume(Resume&&) noexcept = default;
  Resume& operator=(Resume&&) noexcept = default;
  ~Resume();

  // Goes on as if the filter had returned `step`; on the exchange's loop.
  void operator()(Step step);
  // Goes on with what `work` returns, which runs on the exchange's loop and must not wait.
  void OnLoop(UniqueFunction<Step()> work);

 private:
  std::shared_ptr<Target> target_;
};

// The next action that a filter or handler asks for.
class [[nodiscard]] Step {
 public:
  // Goes on with the next filter, and after the last with the handler.
  static Step Next();
  // Ends the steps: the answer, stream or upgrade was given to the writer.
  static Step Done();
  // Ends the steps with an error, which the exchange writes. Steps never write errors themselves.
  Step(Status error);  // NOLINT: implicit
  // Runs `work`, which may block, on the pool, and goes on there with the step that it returns.
  static Step OnPool(UniqueFunction<Step()> work);
  // Waits for Resume without holding a thread. `start` runs at once, on the same thread.
  static Step Later(UniqueFunction<void(Resume)> start);

  enum class Kind : std::uint8_t { kNext, kDone, kError, kOnPool, kOnLoop, kLater };  // As above.
  Kind kind() const { return kind_; }

 private:
  friend class ExchangeDriver;
  friend class Resume;
  explicit Step(Kind kind) : kind_(kind) {}
  Kind kind_;
  Status error_;
  UniqueFunction<Step()> work_;
  UniqueFunction<void(Resume)> start_;
};

// The end of an exchange, for Filter::End.
struct Outcome {
  int code = 0;                    // Zero: nothing was sent.
  bool completed = false;          // The whole answer was handed to the transport.
  std::size_t response_bytes = 0;  // Bytes of the body, and of a tunnel.
  Status error;  // The error that was answered, or the reason for a cut; OK otherwise.
};

// One stop on a request's way. Immutable and shared by all requests; the state of one request lives
// in its Exchange. The driver catches exceptions, logs them and answers 500.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual std::string_view name() const = 0;
  // Called in list order. On a loop `exchange.ctx().may_block()` is false; a step that returns the
  // error kWouldBlock has changed nothing and is run again on the pool.
  virtual Step Begin(Exchange& exchange) const = 0;
  // Called once in reverse order, before the first byte, on the loop: adds headers and warnings.
  virtual void Head(Exchange& exchange, ResponseHead& head) const;
  // Called exactly once in reverse order, when the answer is over and no step is running.
  virtual void End(Exchange& exchange, const Outcome& outcome) const;
};

using FilterChain = std::vector<std::unique_ptr<const Filter>>;

// The last stop, which answers. Called as Filter::Begin is: on a loop, where it must not block, and
// once more on the pool if it returned kWouldBlock.
using Handler = std::function<Step(Exchange&)>;

// Takes the bytes that a BodySource makes. room() says how many are welcome now: over HTTP/2 what
// is left of a DATA frame, mostly 16 KiB; less while answers take up all their memory. Take() and
// Gather() avoid a copy of bytes made for this answer alone. Used within BodySource::Next, on its
// thread; no method blocks.
class ChunkWriter {
 public:
  virtual ~ChunkWriter() = default;
  virtual std::size_t room() const = 0;
  virtual void Write(std::string_view copied) = 0;  // Copies the bytes.
  virtual void Take(std::string owned) = 0;         // Sends the string itself.
  virtual void Write(std::shared_ptr<const void> owner, std::string_view shared) = 0;
  // Calls `append` once, which appends about room() bytes, put together from many parts, to the
  // text it is given, and changes nothing that is there. What it throws is passed on, and nothing
  // is written then.
  virtual void Gather(const std::function<void(std::string& text)>& append);
};
// Tells whether and when a body is asked again.
enum class Pull : std::uint8_t {
  kMore,   // Wrote something, or wants another turn.
  kWait,   // Nothing now; the waker is woken when there is.
  kEnd,    // The body is complete.
  kAbort,  // The body cannot be completed: the stream is reset, the connection closed.
};

// A body that is made while it is sent: watches, lists, logs. The loop pulls it only while the peer
// has window, so that it holds neither a thread nor copied bytes. Next() must not wait and should
// write about 64 KiB a call at the most. Destroyed on the loop.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual Pull Next(ChunkWriter& out, const Waker& waker) = 0;
};

// A raw connection after an upgrade (101). Bytes that came with the request's head are read first.
// The peer's end, OnEnd with OK, leaves the other direction open. Destroying the tunnel closes it.
// Thread-safe; no method blocks.
class Tunnel : public Stream {
 public:
  // Writes the bytes that `body` makes, pulled only while the peer takes them, and closes when they
  // end. Called once, and not together with Write(), whose bytes would land in their middle.
  virtual void Pour(std::unique_ptr<BodySource> body) = 0;
  // Sends what was written, and then ends both directions.
  virtual void Close() = 0;
};

// The only way for an answer to leave. The head is claimed once: if a deadline or a closed
// connection was first, later calls are accepted and have no effect. Called by the current step, on
// a loop or on the pool; no method blocks.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  // Answers with a body that is complete.
  virtual void Send(ResponseHead head, Bytes body) = 0;
  // Answers with a body that is pulled from `body` while it is sent.
  virtual void Stream(ResponseHead head, std::unique_ptr<BodySource> body) = 0;
  // Answers with `head` and hands the connection over: `on_open` is called on the loop, where it
  // must not block, with the tunnel, whose first bytes are those that the client sent early. A head
  // that another server has written is passed on with ResponseHead::verbatim. kBadRequest: the
  // request does not ask for an upgrade, as none over HTTP/2 does. kInvalid: a verbatim head that
  // is not a well-formed 101.
  virtual Status Upgrade(ResponseHead head,
                         UniqueFunction<void(std::unique_ptr<Tunnel>)> on_open) = 0;
  // Returns whether a head was claimed, by the handler or by a deadline.
  virtual bool started() const = 0;
};

// Turns a Status into the bytes of an error answer. The server's own negotiates the media type.
// Called on the loop; must not block.
using ErrorWriter = std::function<void(Exchange&, const Status&)>;

// Options of Exchange::OpenBody.
struct OpenBodyOptions {
  // False: the client may be silent for as long as it likes, as in a dialogue with the answer.
  bool paced = true;
};

// One request from its head to its end. Lives on the heap for as long as any work on it goes on,
// whatever becomes of the connection. Used by one thread at a time, the one that runs the current
// step.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // References into the request and its query stay valid, but not those of a watch: they end when
  // it waits for the first time (LetRequestRest). A filter that needs a text in End() asks again,
  // or keeps a copy.
  virtual Request& request() = 0;
  const Request& request() const { return const_cast<Exchange*>(this)->request(); }
  virtual const Query& query() const = 0;
  // Tells that the answer is a stream that may wait for long, and that nothing which goes on with
  // it keeps references into request() or query(). While the stream waits, they are kept in a
  // smaller form; the text of request().path stays where it is. Both may still be called, as they
  // are by filters in the end. Belongs to the step that begins the stream.
  virtual void LetRequestRest() = 0;

  // The exchange's Context. Cancelled when the peer goes away, the server stops hard, or the answer
  // is over. Carries the exchange's typed values.
  virtual Context& ctx() = 0;
  const Context& ctx() const { return const_cast<Exchange*>(this)->ctx(); }
  template <class T>
  std::remove_cvref_t<T>& Set(T&& value) {
    return ctx().Set(std::forward<T>(value));
  }
  // Returns the value of this type. Null: no filter has set one.
  template <class T>
  const T* Find() const {
    return ctx().template Get<T>();
  }
  // Returns the value of this type, which an earlier filter has set. Its absence is a bug.
  template <class T>
  const T& Get() const {
    return *ctx().template Get<T>();
  }

  // The request's body, if CollectBody has run; empty otherwise. Stays valid, and at the same
  // address, as long as the returned owner does.
  virtual std::shared_ptr<const std::string> body() const = 0;
  // Returns whether the client announced a body: a length above zero, chunks, or an open stream.
  virtual bool has_body() const = 0;
  // Returns whether all of the body has come, or there is none.
  virtual bool body_arrived() const = 0;
  // The length of the collected body, also after its memory was given back.
  virtual std::size_t body_bytes() const = 0;
  // A step that reads the whole body and then goes on with the next filter. More than `bytes_max`:
  // kRequestEntityTooLarge, and HTTP/1.1 closes the connection. A body for which the bodies share
  // of memory() has no room waits up to room_wait_max, then kTooManyRequests. A body that comes at
  // less than 1 KiB/s for five seconds: kTimeout, with code 408. While others wait for the room
  // that this body takes, it must come at 256 KiB/s, or is refused with kTooManyRequests.
  virtual Step CollectBody(std::size_t bytes_max) = 0;
  // Reads the body as it comes instead, however long it is, also while the answer is sent. Only
  // bytes that come during a pause are kept, and charged to the bodies share. A
  // paced body that comes at less than 1 KiB/s for five seconds, pauses not counted, ends with
  // kTimeout and code 408. Other ends: kBadRequest: the client went away, or the answer was over
  // first. kConflict: the body was collected or opened before. Belongs to the current step. The
  // stream may outlive the exchange.
  virtual Result<std::unique_ptr<ReadStream>> OpenBody(OpenBodyOptions options) = 0;

  // The budget that the server's memory is counted in.
  virtual const std::shared_ptr<MemoryBudget>& memory() const = 0;
  // The server's feature gates.
  virtual const FeatureGates& features() const = 0;
  // Charges the memory of this request to `tenant` from now on. Called once the user is known.
  // Belongs to the current step, as do the next three.
  virtual void ChargeTo(const Tenant& tenant) = 0;
  // The memory charged to this request's decoding share. Given back when its answer is made.
  virtual FairShare::Charge& decoding() = 0;
  // A step that makes decoding() `bytes` large, waits up to room_wait_max for room if there is
  // none, and goes on with the next filter. kTooManyRequests: there was no room in time.
  virtual Step ReserveDecoding(std::size_t bytes) = 0;
  // Returns whether this request's tenant holds more of the output share than it may.
  virtual bool OutputOver() const = 0;

  virtual ResponseWriter& writer() = 0;
  // Returns whether only sending is left, of bytes that are all in memory: the last step is done,
  // and the answer is no stream. For Filter::Head; before that it is false. On the loop.
  virtual bool answer_is_made() const = 0;
  // Ends the answer from outside the step that runs (deadline, drain): writes `error` if no head
  // has been claimed, cuts the stream otherwise. The work's Context is not cancelled. Any thread.
  virtual void EndEarly(Status error) = 0;

  // The part of an exchange that a deadline of EndEarlyAfter limits.
  enum class Span : std::uint8_t {
    kExchange,  // Ends when the answer is over.
    kSteps,     // Ends when the last step is done. Sending the answer may take longer.
  };
  // Calls EndEarly with `error()` after `delay`, unless the span is over by then. A span has one
  // deadline: the first call counts. Any thread; costs little on the loop.
  virtual void EndEarlyAfter(std::chrono::nanoseconds delay, Span span, Status (*error)()) = 0;

  // The loop that this exchange lives on, with its timers and wakers.
  virtual Executor& loop() = 0;
  // Returns the same loop for Dialer::On(), which serves connections on it.
  virtual const std::shared_ptr<Loop>& shared_loop() const = 0;
  // The pool that runs OnPool work.
  virtual Executor& pool() = 0;
  // Returns an owner that keeps the exchange alive.
  virtual std::shared_ptr<Exchange> Share() = 0;
  virtual std::chrono::steady_clock::time_point received() const = 0;
  // Returns the time of `clock` at which the call of a filter that now runs has begun: Begin, Head
  // or End. Requests that arrived together go through the filters in line and share one reading,
  // since a reading costs as much as a small filter. On the thread that runs the filter.
  virtual Clock::Monotonic FilterBegan(const Clock& clock) const { return clock.Now(); }
  // The same, of the wall clock.
  virtual Clock::Wall FilterBeganWall(const Clock& clock) const { return clock.WallNow(); }
};

// The code that answers requests: a chain of filters, its handler and the error writer. Immutable,
// and shared by listeners, in-process clients and host adapters.
struct Service {
  FilterChain filters = {};
  Handler handler = {};
  ErrorWriter write_error = {};
  // Required. Must outlive every exchange.
  Executor* pool = nullptr;
  // Required. Counts the bodies of requests and answers.
  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>();
  // Required. Must not change while exchanges live.
  std::shared_ptr<const FeatureGates> features = std::make_shared<const FeatureGates>();
  LogSink* log = &NullLogSink();
};

}  // namespace apiserver::inline v0::http
