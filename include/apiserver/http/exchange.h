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

// One request and its answer, driven over a list of filters. See DESIGN "Execution" and
// lib/http/README.md for who runs what where.
namespace apiserver::inline v0::http {

class Exchange;
class Step;

// Continues an exchange that returned Step::Later. One-shot, any thread. Dropped unused, the
// exchange is answered with 500.
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

// What a filter or handler wants next.
class [[nodiscard]] Step {
 public:
  // Go on with the next filter.
  static Step Next();
  // The answer, stream or upgrade is in the writer.
  static Step Done();
  // The exchange writes this error; nobody else writes errors.
  Step(Status error);  // NOLINT: implicit
  // May block; goes on with what `work` returns, there.
  static Step OnPool(UniqueFunction<Step()> work);
  // No thread is held until Resume is called. `start` runs at once, on the same thread.
  static Step Later(UniqueFunction<void(Resume)> start);

  enum class Kind : std::uint8_t { kNext, kDone, kError, kOnPool, kOnLoop, kLater };
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

// How an exchange ended, for Filter::End.
struct Outcome {
  int code = 0;  // Zero: nothing was sent.
  std::size_t response_bytes = 0;
  Status error;            // Of the answer, or why it was cut; OK otherwise.
  bool completed = false;  // The whole answer was handed to the transport.
};

// One stop on a request's way. Immutable and shared by all requests; what belongs to one request
// lives in its Exchange. Exceptions are caught by the driver: logged and answered with 500.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual std::string_view name() const = 0;
  // In list order. On a loop `exchange.ctx().may_block()` is false; a step that returns the error
  // kWouldBlock has changed nothing and is run again on the pool.
  virtual Step Begin(Exchange& exchange) const = 0;
  // In reverse order, once, before the first byte: headers, warnings.
  virtual void Head(Exchange& exchange, ResponseHead& head) const;
  // In reverse order, exactly once, when the answer is over and no step is running.
  virtual void End(Exchange& exchange, const Outcome& outcome) const;
};

using FilterChain = std::vector<std::unique_ptr<const Filter>>;

// The last stop: answers. Same rules as Filter::Begin.
using Handler = std::function<Step(Exchange&)>;

// Where a BodySource puts its bytes; room() says how many are welcome now: few while answers take
// all the memory there is for them. Take() saves a copy of what was made for this answer alone.
class ChunkWriter {
 public:
  virtual ~ChunkWriter() = default;
  virtual std::size_t room() const = 0;
  virtual void Write(std::string_view copied) = 0;
  virtual void Take(std::string owned) = 0;
  virtual void Write(std::shared_ptr<const void> owner, std::string_view shared) = 0;
};

enum class Pull : std::uint8_t {
  kMore,   // Wrote something, or wants another turn.
  kWait,   // Nothing now; the waker is woken when there is.
  kEnd,    // The body is complete.
  kAbort,  // The body cannot be completed: the stream is reset, the connection closed.
};

// A body made as it is sent: watches, lists, logs. Pulled by the loop, only while the peer has
// window, so that it holds neither a thread nor copied bytes. Next() must not wait and should write
// about 64 KiB a call at the most. Destroyed on the loop.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual Pull Next(ChunkWriter& out, const Waker& waker) = 0;
};

// A raw connection after an upgrade (101). Bytes that came with the request's head are read first.
// The peer's end, OnEnd with OK, leaves the other direction open. Destroying it closes.
class Tunnel : public Stream {
 public:
  // Writes the bytes that `body` makes, pulled only while the peer takes them, and closes when it
  // ends. Called once; Write() would stand in the middle of it then.
  virtual void Pour(std::unique_ptr<BodySource> body) = 0;
  // Sends what was written, and then ends both directions.
  virtual void Close() = 0;
};

// The one door through which an answer leaves. The head is claimed once: if someone else (a
// deadline, a closed connection) was first, calls are accepted and go nowhere.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  virtual void Send(ResponseHead head, Bytes body) = 0;
  virtual void Stream(ResponseHead head, std::unique_ptr<BodySource> body) = 0;
  // Answers with `head` and hands the connection over: `on_open` is called on the loop with the
  // tunnel, whose first bytes are those that the client sent early. A head that another server has
  // written is passed on with ResponseHead::verbatim. kBadRequest: the request does not ask for an
  // upgrade, as none over HTTP/2 does. kInvalid: a verbatim head that is not a well-formed 101.
  virtual Status Upgrade(ResponseHead head,
                         UniqueFunction<void(std::unique_ptr<Tunnel>)> on_open) = 0;
  // Whether a head was claimed, by whomever.
  virtual bool started() const = 0;
};

// Turns a Status into the bytes of an error answer; the server gives one that negotiates.
using ErrorWriter = std::function<void(Exchange&, const Status&)>;

// How Exchange::OpenBody reads.
struct OpenBodyOptions {
  // False: the client may be silent for as long as it likes, as in a dialogue with the answer.
  bool paced = true;
};

// One request from its head to its end. Lives on the heap as long as anyone works on it, whatever
// becomes of the connection. Used by one thread at a time: whoever runs the current step.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual Request& request() = 0;
  const Request& request() const { return const_cast<Exchange*>(this)->request(); }
  virtual const Query& query() const = 0;

  // Cancelled when the peer goes away, the server stops hard, or the answer is over. Carries the
  // exchange's typed values.
  virtual Context& ctx() = 0;
  const Context& ctx() const { return const_cast<Exchange*>(this)->ctx(); }
  template <class T>
  std::remove_cvref_t<T>& Set(T&& value) {
    return ctx().Set(std::forward<T>(value));
  }
  // Null when no filter has set one.
  template <class T>
  const T* Find() const {
    return ctx().template Get<T>();
  }
  // The filter that sets it stands earlier in the list; absent is a bug.
  template <class T>
  const T& Get() const {
    return *ctx().template Get<T>();
  }

  // The request's body, if CollectBody has run; empty otherwise. Stays valid, and at the same
  // address, as long as the returned owner does.
  virtual std::shared_ptr<const std::string> body() const = 0;
  // Whether the client announced a body (a length above zero, or chunks, or an open stream).
  virtual bool has_body() const = 0;
  // Whether all of the body has come, or there is none.
  virtual bool body_arrived() const = 0;
  // The length of the collected body; also after the body itself was let go of.
  virtual std::size_t body_bytes() const = 0;
  // A step that reads the whole body and then goes on with the next filter. More than `bytes_max`:
  // kRequestEntityTooLarge, and HTTP/1.1 closes the connection. A body for which the bodies share
  // of memory() has no room waits up to room_wait_max, then kTooManyRequests. A body that comes at
  // less than 1 KiB/s for five seconds: kTimeout, with code 408. While others wait for the room
  // that this body takes, it must come at 256 KiB/s, or is refused with kTooManyRequests.
  virtual Step CollectBody(std::size_t bytes_max) = 0;
  // Reads the body as it comes instead, however long it is; it may go on while the answer is sent.
  // Nothing is kept but what comes while the stream is paused; that counts in the bodies share. A
  // paced body that comes at less than 1 KiB/s for five seconds, pauses not counted, ends with
  // kTimeout and code 408. Other ends: kBadRequest: the client went away, or the answer was over
  // first. kConflict: the body was collected or opened before. Belongs to whoever runs the current
  // step. The stream may outlive the exchange.
  virtual Result<std::unique_ptr<ReadStream>> OpenBody(OpenBodyOptions options) = 0;

  // What the server's memory is counted in.
  virtual const std::shared_ptr<MemoryBudget>& memory() const = 0;
  // The server's switches.
  virtual const FeatureGates& features() const = 0;
  // Charges the memory of this request to `tenant` from now on; once its user is known. Belongs to
  // whoever runs the current step, as do the next three.
  virtual void ChargeTo(const Tenant& tenant) = 0;
  // The memory that this request holds of the decoding share. Given back when its answer is made.
  virtual FairShare::Charge& decoding() = 0;
  // A step that makes decoding() `bytes` large, waits up to room_wait_max for room if there is
  // none, and goes on with the next filter. kTooManyRequests: there was no room in time.
  virtual Step ReserveDecoding(std::size_t bytes) = 0;
  // Whether this request's tenant holds more of the output share than it may.
  virtual bool OutputOver() const = 0;

  virtual ResponseWriter& writer() = 0;
  // Returns whether only sending is left, of bytes that are all in memory: the last step is done,
  // and the answer is no stream. For Filter::Head; before that it is false. On the loop.
  virtual bool answer_is_made() const = 0;
  // Ends the answer from outside the step that runs (deadline, drain): writes `error` if no head
  // has been claimed, cuts the stream otherwise. The work's Context is not cancelled. Any thread.
  virtual void EndEarly(Status error) = 0;

  // What a deadline of EndEarlyAfter is for.
  enum class Span : std::uint8_t {
    kExchange,  // Until the answer is over.
    kSteps,     // Until the last step is done; sending what it answered may take longer.
  };
  // EndEarly with `error()` after `delay`, unless the span is over by then. One deadline a span:
  // the first call counts. Any thread; costs little on the loop.
  virtual void EndEarlyAfter(std::chrono::nanoseconds delay, Span span, Status (*error)()) = 0;

  // The loop this exchange lives on; timers and wakers go there.
  virtual Executor& loop() = 0;
  // Where OnPool work runs.
  virtual Executor& pool() = 0;
  // Keeps the exchange alive from elsewhere.
  virtual std::shared_ptr<Exchange> Share() = 0;
  virtual std::chrono::steady_clock::time_point received() const = 0;
};

// What answers requests: a chain, its last stop and how errors are written. Shared by listeners,
// in-process clients and host adapters; immutable.
struct Service {
  FilterChain filters = {};
  Handler handler = {};
  ErrorWriter write_error = {};
  // Required. Must outlive every exchange.
  Executor* pool = nullptr;
  // Required. Bodies of requests and answers are counted here.
  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>();
  // Required. Must not change while exchanges live.
  std::shared_ptr<const FeatureGates> features = std::make_shared<const FeatureGates>();
  LogSink* log = &NullLogSink();
};

}  // namespace apiserver::inline v0::http
