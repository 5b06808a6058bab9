// Spans, their contexts and what is recorded of them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "apiserver/base/trace.h"

using namespace std::chrono_literals;
namespace trace = apiserver::trace;
using apiserver::Clock;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Status;
using trace::Span;
using trace::SpanData;

namespace {

struct Kept final : trace::SpanProcessor {
  void OnEnd(SpanData span) override { spans.push_back(std::move(span)); }
  void Flush(std::chrono::milliseconds grace) override { flushed = grace; }
  std::vector<SpanData> spans;
  std::chrono::milliseconds flushed{0};
};

struct StillClock final : Clock {
  Monotonic Now() const override { return Monotonic(now); }
  Wall WallNow() const override { return Wall(1'000s); }
  std::chrono::nanoseconds now{50s};
};

// Gives these bytes, one a Fill().
struct Listed final : apiserver::Random {
  void Fill(std::span<std::byte> out) override {
    REQUIRE_FALSE(bytes.empty());
    std::fill(out.begin(), out.end(), std::byte(bytes.front()));
    bytes.pop_front();
  }
  std::deque<unsigned char> bytes;
};

struct Traced {
  std::shared_ptr<const trace::Tracer> Tracer(int rate = 1'000'000) {
    return trace::Tracer::New({.processor = kept,
                               .sampling_rate_per_million = rate,
                               .attributes_max = 3,
                               .events_max = 2,
                               .value_bytes_max = 8,
                               .clock = &clock,
                               .random = &random});
  }
  std::shared_ptr<Kept> kept = std::make_shared<Kept>();
  StillClock clock;
  Listed random;
};

trace::SpanContext Caller(bool sampled) {
  auto context = trace::ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
  context->sampled = sampled;
  context->state = "foo=1";
  return *context;
}

}  // namespace

TEST_CASE("trace: a span is recorded when it ends, with what was said of it", "[trace]") {
  Traced traced;
  traced.random.bytes = {0x11, 0x22};
  const auto tracer = traced.Tracer();
  {
    Span span = tracer->StartRoot("work", {.kind = trace::SpanKind::kServer, .age = 1s});
    span.SetAttribute("count", std::int64_t{7});
    span.SetAttribute("text", "short");
    span.SetAttribute("count", std::int64_t{8});
    traced.clock.now += 2s;
    span.AddEvent("halfway", {{"ok", true}});
    traced.clock.now += 500ms;
    span.SetError("went wrong after all");
    CHECK(traced.kept->spans.empty());
  }

  REQUIRE(traced.kept->spans.size() == 1);
  const SpanData& span = traced.kept->spans[0];
  CHECK(span.name == "work");
  CHECK(span.kind == trace::SpanKind::kServer);
  CHECK(span.context.TraceIdHex() == "11111111111111111111111111111111");
  CHECK(span.context.SpanIdHex() == "2222222222222222");
  CHECK(span.parent_id == trace::SpanId{});
  CHECK(span.start == Clock::Wall(999s));
  CHECK(span.end == Clock::Wall(1'002'500ms));
  REQUIRE(span.attributes.size() == 2);
  CHECK(span.attributes[0].key == "count");
  CHECK(std::get<std::int64_t>(span.attributes[0].value) == 8);
  CHECK(std::get<std::string>(span.attributes[1].value) == "short");
  REQUIRE(span.events.size() == 1);
  CHECK(span.events[0].time == Clock::Wall(1'002s));
  CHECK(std::get<bool>(span.events[0].attributes[0].value));
  CHECK(span.status == trace::SpanStatus::kError);
  CHECK(span.status_message == "went wro");
}

TEST_CASE("trace: what the limits leave out is counted", "[trace]") {
  Traced traced;
  traced.random.bytes = {0x11, 0x22};
  Span span = traced.Tracer()->StartRoot("work");
  for (const char* key : {"a", "b", "c", "d", "e"}) span.SetAttribute(key, "x");
  for (const char* name : {"1", "2", "3"}) span.AddEvent(name);
  // The eighth byte is in the middle of "é".
  span.SetAttribute("a", "1234567é");
  span.End();
  span.SetAttribute("late", true);
  span.AddEvent("late");
  span.End();

  REQUIRE(traced.kept->spans.size() == 1);
  const SpanData& ended = traced.kept->spans[0];
  CHECK(ended.attributes.size() == 3);
  CHECK(ended.dropped_attributes == 2);
  CHECK(std::get<std::string>(ended.attributes[0].value) == "1234567");
  CHECK(ended.events.size() == 2);
  CHECK(ended.dropped_events == 1);
}

TEST_CASE("trace: ids that are all zero are drawn again", "[trace]") {
  Traced traced;
  traced.random.bytes = {0, 0, 0x11, 0, 0x22};

  const Span span = traced.Tracer()->StartRoot("work");

  CHECK(span.context().valid());
  CHECK(span.context().SpanIdHex() == "2222222222222222");
}

TEST_CASE("trace: the trace's id decides which of a million are recorded", "[trace]") {
  struct Case {
    int rate;
    unsigned char id;
    bool sampled;
  };
  // The last eight bytes, shifted by one, against the rate's share of 2^63.
  const auto test = GENERATE(values<Case>({
      {0, 0x01, false},
      {1, 0x01, false},
      {1'000'000, 0xff, true},
      {999'999, 0xff, false},
      {500'000, 0x7f, true},
      {500'000, 0x80, false},
      {3'921, 0x01, false},
      {3'922, 0x01, true},
  }));
  INFO(test.rate << " " << int(test.id));
  Traced traced;
  traced.random.bytes = {test.id, 0x22};

  Span span = traced.Tracer(test.rate)->StartRoot("work");

  CHECK(span.recording() == test.sampled);
  CHECK(span.context().valid());
  CHECK(span.context().sampled == test.sampled);
}

TEST_CASE("trace: whoever began a trace decides whether it is recorded", "[trace]") {
  const bool sampled = GENERATE(false, true);
  const int rate = GENERATE(0, 1'000'000);
  Traced traced;
  traced.random.bytes = {0x22};

  Span span = traced.Tracer(rate)->StartWithParent("work", Caller(sampled));
  const trace::SpanContext context = span.context();
  span.End();

  CHECK(context.TraceIdHex() == "4bf92f3577b34da6a3ce929d0e0e4736");
  CHECK(context.SpanIdHex() == "2222222222222222");
  CHECK(context.state == "foo=1");
  CHECK(context.sampled == sampled);
  REQUIRE(traced.kept->spans.size() == (sampled ? 1 : 0));
  if (sampled) CHECK(traced.kept->spans[0].parent_id == Caller(true).span_id);
}

TEST_CASE("trace: a new trace may be linked to the one that led to it", "[trace]") {
  Traced traced;
  traced.random.bytes = {0x11, 0x22};
  const trace::SpanContext caller = Caller(true);

  traced.Tracer()->StartRoot("work", {}, &caller).End();

  REQUIRE(traced.kept->spans.size() == 1);
  CHECK(traced.kept->spans[0].context.TraceIdHex() == "11111111111111111111111111111111");
  CHECK(traced.kept->spans[0].context.state.empty());
  CHECK(traced.kept->spans[0].links == std::vector{caller});
}

TEST_CASE("trace: children are those of the Context's current span", "[trace]") {
  Traced traced;
  traced.random.bytes = {0x11, 0x22, 0x33, 0x44};
  Context ctx = Context::Child(Context::Background());
  Span& root = ctx.Set(traced.Tracer()->StartRoot("root"));
  {
    trace::ScopedSpan outer(ctx, "outer");
    REQUIRE(outer.span().recording());
    trace::StartSpan(outer.ctx(), "inner").End();
  }
  root.End();

  REQUIRE(traced.kept->spans.size() == 3);
  const auto& [inner, outer, top] =
      std::tie(traced.kept->spans[0], traced.kept->spans[1], traced.kept->spans[2]);
  CHECK(inner.name == "inner");
  CHECK(inner.parent_id == outer.context.span_id);
  CHECK(outer.parent_id == top.context.span_id);
  CHECK(inner.context.trace_id == top.context.trace_id);
}

TEST_CASE("trace: nothing is recorded where there is no span, or it is not sampled", "[trace]") {
  Traced traced;
  traced.random.bytes = {0x22};
  Context ctx = Context::Child(Context::Background());
  CHECK_FALSE(trace::StartSpan(ctx, "none").recording());

  ctx.Set(traced.Tracer()->StartWithParent("root", Caller(false)));
  CHECK_FALSE(trace::StartSpan(ctx, "child").recording());
  trace::ScopedSpan scoped(ctx, "scoped");
  CHECK_FALSE(scoped.span().recording());
  CHECK(&scoped.ctx() == &ctx);
  scoped.span().SetAttribute("x", true);
}

TEST_CASE("trace: what will be done again leaves no span, what fails an error", "[trace]") {
  Traced traced;
  traced.random.bytes = {0x11, 0x22, 0x11, 0x33, 0x11, 0x44};
  const auto tracer = traced.Tracer();
  tracer->StartRoot("a").EndWith({Reason::kWouldBlock, "not here"});
  tracer->StartRoot("b").EndWith({Reason::kInternalError, "no such"});
  tracer->StartRoot("c").EndWith({});
  traced.random.bytes = {0x11, 0x55};
  tracer->StartRoot("d").EndWith({Reason::kNotFound, "not here"});

  REQUIRE(traced.kept->spans.size() == 3);
  CHECK(traced.kept->spans[0].name == "b");
  CHECK(traced.kept->spans[0].status == trace::SpanStatus::kError);
  CHECK(traced.kept->spans[0].status_message == "no such");
  CHECK(traced.kept->spans[1].status == trace::SpanStatus::kUnset);
  CHECK(traced.kept->spans[1].events.empty());
  CHECK(traced.kept->spans[2].status == trace::SpanStatus::kUnset);
  REQUIRE(traced.kept->spans[2].events.size() == 1);
  CHECK(traced.kept->spans[2].events[0].name == "refused");
}
