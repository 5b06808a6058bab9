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

// What one request did, when, and on whose behalf, across processes: W3C Trace Context and the data
// model of OpenTelemetry. A server's tracer is the host's; nothing is traced globally.
//
// The current span of a piece of work is a value of its Context: `ctx.Set(std::move(span))`. Where
// there is none, nothing below is traced and StartSpan() only looks.
namespace apiserver::inline v0::trace {

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

// Which span it is, as other processes are told.
struct SpanContext {
  TraceId trace_id{};
  SpanId span_id{};
  bool sampled = false;    // Its trace is recorded.
  std::string state = {};  // `tracestate`, handed on unread.

  // Neither id is all zero.
  bool valid() const;
  std::string TraceIdHex() const;
  std::string SpanIdHex() const;
  friend bool operator==(const SpanContext&, const SpanContext&) = default;
};

// The header `traceparent`, without `state`; nullopt: it is to be taken for absent. Flags other
// than sampled are dropped, versions of the future are read as far as version 00 goes.
std::optional<SpanContext> ParseTraceparent(std::string_view text);
// In version 00. `context` is valid.
std::string FormatTraceparent(const SpanContext& context);
// The header `tracestate`, its lines joined by commas, without white space and empty members;
// nullopt: no list of at most 32 members with different keys.
std::optional<std::string> ParseTracestate(std::string_view text);

using AttributeValue = std::variant<bool, std::int64_t, double, std::string>;
struct Attribute {
  std::string key;
  AttributeValue value;
};
struct Event {
  std::string name;
  Clock::Wall time;
  std::vector<Attribute> attributes = {};
};

// The numbers are OTLP's.
enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2, kClient = 3 };
enum class SpanStatus : std::uint8_t { kUnset = 0, kOk = 1, kError = 2 };

// A span that has ended.
struct SpanData {
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  SpanContext context = {};
  SpanId parent_id{};  // All zero: it is its trace's first.
  Clock::Wall start = {};
  Clock::Wall end = {};
  std::vector<Attribute> attributes = {};
  std::vector<Event> events = {};
  std::vector<SpanContext> links = {};
  // What the limits left out.
  std::size_t dropped_attributes = 0;
  std::size_t dropped_events = 0;
  SpanStatus status = SpanStatus::kUnset;
  std::string status_message = {};  // Of kError.
};

// What becomes of spans that have ended: an exporter, or the host's own.
class SpanProcessor {
 public:
  virtual ~SpanProcessor() = default;
  // Any thread, also a loop: must not wait, and drops what it has no room for.
  virtual void OnEnd(SpanData span) = 0;
  // Waits until what has ended is where it belongs, for at most `grace`.
  virtual void Flush(std::chrono::milliseconds grace) = 0;
};

class Tracer;

struct SpanOptions {
  SpanKind kind = SpanKind::kInternal;
  // For how long it has gone on already.
  std::chrono::nanoseconds age{0};
};

// A piece of work in the making. Ends when it is destroyed. One that records nothing (empty, not
// sampled, ended) takes everything for nothing. Used by one thread at a time; StartSpan() also by
// several.
class Span final {
 public:
  Span() = default;
  Span(Span&&) noexcept = default;
  Span& operator=(Span&& other) noexcept;
  ~Span() { End(); }

  bool recording() const { return data_ != nullptr; }
  // What others are told of it, also after its end; not valid if it is empty.
  const SpanContext& context() const { return context_; }

  void SetName(std::string_view name);
  void SetAttribute(std::string_view key, AttributeValue value);
  void AddEvent(std::string_view name, std::initializer_list<Attribute> attributes = {});
  void SetError(std::string_view message);
  // Ends it with what the work came to: an error of ours is the span's, what the client did wrong
  // an event. kWouldBlock forgets the span, since the work will be done again.
  void EndWith(const Status& outcome);
  void End();

 private:
  friend class Tracer;
  friend Span StartSpan(const Context& ctx, std::string_view name, const SpanOptions& options);

  std::shared_ptr<const Tracer> tracer_;  // Null: its children record nothing.
  std::unique_ptr<SpanData> data_;
  Clock::Monotonic started_{};
  SpanContext context_;
};

struct TracerOptions {
  // Required.
  std::shared_ptr<SpanProcessor> processor = nullptr;
  // Of traces that begin here, so many of a million are recorded; of others whoever began them has
  // decided.
  int sampling_rate_per_million = 0;
  // Of one span; more are only counted.
  std::size_t attributes_max = 128;
  std::size_t events_max = 128;
  // Longer texts are cut, at a character's end.
  std::size_t value_bytes_max = 4096;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();  // For ids.
};

// Begins traces. Any thread; lives as long as a span of its.
class Tracer final : public std::enable_shared_from_this<Tracer> {
 public:
  static std::shared_ptr<const Tracer> New(TracerOptions options);

  // The first span here of a trace that began elsewhere.
  Span StartWithParent(std::string_view name, const SpanContext& parent,
                       const SpanOptions& options = {}) const;
  // The first span of a new trace; `link`: the span of another trace that led to it, or null.
  Span StartRoot(std::string_view name, const SpanOptions& options = {},
                 const SpanContext* link = nullptr) const;
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

// A child of the current span; empty where that is not recorded, or there is none.
Span StartSpan(const Context& ctx, std::string_view name, const SpanOptions& options = {});

// A child of the current span that is itself the current one of what is given `ctx()`.
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
