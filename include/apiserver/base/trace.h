#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"

// Distributed tracing: what one request did and when, across processes, as W3C Trace Context and
// the data model of OpenTelemetry have it. The host provides a server's tracer; nothing is traced
// globally.
//
// The current span of a piece of work is a value of its Context: `ctx.Set(std::move(span))`.
// Without one, nothing below is traced and StartSpan() costs a look-up.
namespace apiserver::inline v0::trace {

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

// The identity of a span, as it is propagated to other processes.
struct SpanContext {
  TraceId trace_id{};
  SpanId span_id{};
  bool sampled = false;    // Its trace is recorded.
  std::string state = {};  // `tracestate`, passed on unparsed.

  // True if neither id is all zero.
  bool valid() const;
  // The id in lower-case hexadecimal, as headers carry it.
  std::string TraceIdHex() const;
  // The same of the span's id.
  std::string SpanIdHex() const;
  friend bool operator==(const SpanContext&, const SpanContext&) = default;
};

// Parses the header `traceparent`, which carries no `state`. nullopt: it is to be ignored. Flags
// other than sampled are dropped; future versions are read as far as version 00 goes.
std::optional<SpanContext> ParseTraceparent(std::string_view text);
// Formats the header `traceparent` in version 00. `context` must be valid.
std::string FormatTraceparent(const SpanContext& context);
// Parses the header `tracestate`, its lines joined by commas, and drops white space and empty
// members. nullopt: it is no list of at most 32 members with different keys.
std::optional<std::string> ParseTracestate(std::string_view text);

using AttributeValue = std::variant<bool, std::int64_t, double, std::string>;
// A key and a value that describe a span or event.
struct Attribute {
  std::string key;
  AttributeValue value;
};
// Something that happened at one moment of a span.
struct Event {
  std::string name;
  Clock::Wall time;
  std::vector<Attribute> attributes = {};
};

// The role of the span's process. The numbers are OTLP's.
enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2, kClient = 3 };
// The outcome of a span. The numbers are OTLP's.
enum class SpanStatus : std::uint8_t { kUnset = 0, kOk = 1, kError = 2 };

// A span that has ended.
struct SpanData {
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  SpanContext context = {};
  SpanId parent_id{};  // All zero: the span is its trace's first.
  Clock::Wall start = {};
  Clock::Wall end = {};
  std::vector<Attribute> attributes = {};
  std::vector<Event> events = {};
  std::vector<SpanContext> links = {};
  // The number that the limits left out.
  std::size_t dropped_attributes = 0;
  std::size_t dropped_events = 0;
  SpanStatus status = SpanStatus::kUnset;
  std::string status_message = {};  // For kError.
};

// The destination of spans that have ended: an exporter, or the host's own. Its methods may be
// called from any thread.
class SpanProcessor {
 public:
  virtual ~SpanProcessor() = default;
  // Called on the thread that ends the span, often a loop: must not wait, and drops spans for which
  // it has no room.
  virtual void OnEnd(SpanData span) = 0;
  // Waits for at most `grace` until the spans that have ended are delivered.
  virtual void Flush(std::chrono::milliseconds grace) = 0;
};

class Tracer;

// Options of a new span.
struct SpanOptions {
  SpanKind kind = SpanKind::kInternal;
  // How long the work has gone on already.
  std::chrono::nanoseconds age{0};
};

// A span that is not finished yet. Ends when it is destroyed. One that records nothing (empty, not
// sampled, ended) ignores all calls. Used by one thread at a time; StartSpan() may also be called
// by several.
class Span final {
 public:
  Span() = default;
  Span(Span&&) noexcept = default;
  Span& operator=(Span&& other) noexcept;
  ~Span() { End(); }

  bool recording() const { return data_ != nullptr; }
  // The identity that other processes get, also after its end; not valid if the span is empty.
  const SpanContext& context() const { return context_; }

  // Replaces the name.
  void SetName(std::string_view name);
  // Sets an attribute, or replaces the one with this key.
  void SetAttribute(std::string_view key, AttributeValue value);
  // Adds an event that happens now.
  void AddEvent(std::string_view name, std::initializer_list<Attribute> attributes = {});
  // Marks the span as failed.
  void SetError(std::string_view message);
  // Ends it with the outcome of the work: an error of the server (5xx) makes the span an error, one
  // of the client (4xx) adds an event. kWouldBlock drops the span, since the work will be done
  // again.
  void EndWith(const Status& outcome);
  // Ends it and hands it to the processor. Nothing happens if it has ended.
  void End();

 private:
  friend class Tracer;
  friend Span StartSpan(const Context& ctx, std::string_view name, const SpanOptions& options);

  std::shared_ptr<const Tracer> tracer_;  // Null: its children record nothing.
  std::unique_ptr<SpanData> data_;
  Clock::Monotonic started_{};
  SpanContext context_;
};

// Options of a Tracer.
struct TracerOptions {
  // Required.
  std::shared_ptr<SpanProcessor> processor = nullptr;
  // Number of new traces that are recorded, of a million. For a trace that began elsewhere the
  // process that began it has decided.
  int sampling_rate_per_million = 0;
  // The most attributes of one span; further ones are only counted.
  std::size_t attributes_max = 128;
  // The most events of one span; further ones are only counted.
  std::size_t events_max = 128;
  // Longer texts are cut, at the end of a character.
  std::size_t value_bytes_max = 4096;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();  // For ids.
};

// Begins traces. All methods may be called from any thread. Lives as long as a span of its own
// does.
class Tracer final : public std::enable_shared_from_this<Tracer> {
 public:
  // `options.processor` must not be null.
  static std::shared_ptr<const Tracer> New(TracerOptions options);

  // Starts the first span here of a trace that began elsewhere.
  Span StartWithParent(std::string_view name, const SpanContext& parent,
                       const SpanOptions& options = {}) const;
  // Starts the first span of a new trace; `link`: the span of another trace that led to it, or
  // null.
  Span StartRoot(std::string_view name, const SpanOptions& options = {},
                 const SpanContext* link = nullptr) const;
  // Waits as SpanProcessor::Flush() does. May block.
  void Flush(std::chrono::milliseconds grace) const { options_.processor->Flush(grace); }

 private:
  friend class Span;
  friend Span StartSpan(const Context& ctx, std::string_view name, const SpanOptions& options);
  explicit Tracer(TracerOptions options) : options_(std::move(options)) {}
  Span Start(std::string_view name, SpanContext context, const SpanId& parent_id,
             const SpanOptions& options) const;
  template <class Id>
  Id NewId() const;
  AttributeValue Cut(AttributeValue value) const;

  const TracerOptions options_;
};

// Starts a child of the current span. It is empty if there is no current span or that is not
// recorded.
Span StartSpan(const Context& ctx, std::string_view name, const SpanOptions& options = {});

// A child of the current span, and itself the current span of calls that get `ctx()`.
class ScopedSpan final {
 public:
  // `ctx` outlives it.
  ScopedSpan(const Context& ctx, std::string_view name, const SpanOptions& options = {});
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;
  ~ScopedSpan() { span().End(); }

  const Context& ctx() const { return child_ ? *child_ : parent_; }
  Span& span() { return current_ != nullptr ? *current_ : none_; }

 private:
  const Context& parent_;
  std::optional<Context> child_;
  Span* current_ = nullptr;  // In `child_`; null: nothing is recorded.
  Span none_;
};

}  // namespace apiserver::inline v0::trace
