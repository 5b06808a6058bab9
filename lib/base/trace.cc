#include "apiserver/base/trace.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::trace {

namespace {

constexpr std::uint64_t kMillion = 1'000'000;

template <class Id>
bool IsZero(const Id& id) {
  return std::all_of(id.begin(), id.end(), [](std::uint8_t byte) { return byte == 0; });
}

// As OpenTelemetry's TraceIDRatioBased: the id decides, so that every process decides alike.
bool SampledByRate(const TraceId& id, int per_million) {
  if (per_million <= 0) return false;
  const auto rate = static_cast<std::uint64_t>(per_million);
  if (rate >= kMillion) return true;
  std::uint64_t low = 0;
  for (std::size_t i = 8; i < id.size(); ++i) low = (low << 8) | id[i];
  const double fraction = static_cast<double>(rate) / static_cast<double>(kMillion);
  return (low >> 1) < static_cast<std::uint64_t>(fraction * 0x1p63);
}

// Cuts `text` to at most `bytes`, at the end of a character.
void CutText(std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
}

}  // namespace

Span& Span::operator=(Span&& other) noexcept {
  if (this == &other) return *this;
  End();
  tracer_ = std::move(other.tracer_);
  data_ = std::move(other.data_);
  started_ = other.started_;
  context_ = std::move(other.context_);
  return *this;
}

void Span::SetName(std::string_view name) {
  if (data_) data_->name = name;
}

void Span::SetAttribute(std::string_view key, AttributeValue value) {
  if (!data_) return;
  auto& all = data_->attributes;
  const auto same = std::find_if(all.begin(), all.end(),
                                 [key](const Attribute& each) { return each.key == key; });
  if (same != all.end()) {
    same->value = tracer_->Cut(std::move(value));
  } else if (all.size() >= tracer_->options_.attributes_max) {
    ++data_->dropped_attributes;
  } else {
    all.push_back({std::string(key), tracer_->Cut(std::move(value))});
  }
}

void Span::AddEvent(std::string_view name, std::initializer_list<Attribute> attributes) {
  if (!data_) return;
  if (data_->events.size() >= tracer_->options_.events_max) {
    ++data_->dropped_events;
    return;
  }
  // Measured by the monotonic clock: the wall clock may have been set since the start.
  const auto after = tracer_->options_.clock->Now() - started_;
  Event event{.name = std::string(name),
              .time = data_->start + std::chrono::duration_cast<Clock::Wall::duration>(after)};
  for (const Attribute& attribute : attributes) {
    event.attributes.push_back({attribute.key, tracer_->Cut(attribute.value)});
  }
  data_->events.push_back(std::move(event));
}

void Span::SetError(std::string_view message) {
  if (!data_) return;
  data_->status = SpanStatus::kError;
  data_->status_message = message;
  CutText(data_->status_message, tracer_->options_.value_bytes_max);
}

void Span::EndWith(const Status& outcome) {
  // The operation runs again where it may wait, and has its span then.
  if (outcome.reason() == Reason::kWouldBlock) data_ = nullptr;
  if (outcome.code() >= 500) SetError(outcome.message());
  // OpenTelemetry's conventions for HTTP: a 4xx response is no error of the server.
  if (outcome.code() >= 400 && outcome.code() < 500) {
    AddEvent("refused", {{"message", std::string(outcome.message())}});
  }
  End();
}

void Span::End() {
  if (!data_) return;
  // The monotonic clock again: a span must not end before its start.
  const auto took = tracer_->options_.clock->Now() - started_;
  data_->end = data_->start + std::chrono::duration_cast<Clock::Wall::duration>(took);
  const std::unique_ptr<SpanData> ended = std::move(data_);
  tracer_->options_.processor->OnEnd(std::move(*ended));
}

std::shared_ptr<const Tracer> Tracer::New(TracerOptions options) {
  return std::shared_ptr<const Tracer>(new Tracer(std::move(options)));
}

template <class Id>
Id Tracer::NewId() const {
  Id id{};
  // W3C's Trace Context takes ids of zeros for invalid.
  while (IsZero(id)) options_.random->Fill(std::as_writable_bytes(std::span(id)));
  return id;
}

AttributeValue Tracer::Cut(AttributeValue value) const {
  if (auto* text = std::get_if<std::string>(&value)) CutText(*text, options_.value_bytes_max);
  return value;
}

Span Tracer::Start(std::string_view name, SpanContext context, const SpanId& parent_id,
                   const SpanOptions& options) const {
  Span span;
  if (context.sampled) {
    const auto age = std::max(options.age, std::chrono::nanoseconds(0));
    span.tracer_ = shared_from_this();
    span.started_ = options_.clock->Now() - age;
    span.data_ = std::make_unique<SpanData>();
    span.data_->name = name;
    span.data_->kind = options.kind;
    span.data_->context = context;
    span.data_->parent_id = parent_id;
    span.data_->start =
        options_.clock->WallNow() - std::chrono::duration_cast<Clock::Wall::duration>(age);
  }
  span.context_ = std::move(context);
  return span;
}

Span Tracer::StartWithParent(std::string_view name, const SpanContext& parent,
                             const SpanOptions& options) const {
  SpanContext context = parent;
  // The parent's decision to sample is kept, so that a trace has no gaps.
  context.span_id = NewId<SpanId>();
  return Start(name, std::move(context), parent.span_id, options);
}

Span Tracer::StartRoot(std::string_view name, const SpanOptions& options,
                       const SpanContext* link) const {
  SpanContext context{.trace_id = NewId<TraceId>(), .span_id = NewId<SpanId>()};
  context.sampled = SampledByRate(context.trace_id, options_.sampling_rate_per_million);
  Span span = Start(name, std::move(context), SpanId{}, options);
  if (span.data_ && link != nullptr) span.data_->links.push_back(*link);
  return span;
}

Span StartSpan(const Context& ctx, std::string_view name, const SpanOptions& options) {
  const Span* const current = ctx.Get<Span>();
  if (current == nullptr || current->tracer_ == nullptr) return {};
  return current->tracer_->StartWithParent(name, current->context(), options);
}

ScopedSpan::ScopedSpan(const Context& ctx, std::string_view name, const SpanOptions& options)
    : parent_(ctx) {
  Span span = StartSpan(ctx, name, options);
  // A span that is not recorded needs no context of its own.
  if (!span.recording()) return;
  child_ = Context::Child(ctx).WithMayBlock(ctx.may_block());
  current_ = &child_->Set(std::move(span));
}

}  // namespace apiserver::v0::trace
