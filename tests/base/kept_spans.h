#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/base/trace.h"

namespace apiserver::inline v0::testing {

// Keeps the spans that have ended. Any thread.
class KeptSpans final : public trace::SpanProcessor {
 public:
  void OnEnd(trace::SpanData span) override {
    spans_.Lock()->push_back(std::move(span));
    spans_.NotifyAll();
  }
  void Flush(std::chrono::milliseconds) override { ++*flushes_.Lock(); }

  // All spans, in the order of their ends.
  std::vector<trace::SpanData> all() const { return *spans_.Lock(); }
  int flushes() const { return *flushes_.Lock(); }
  // The spans of the trace whose first span here is called `name`, once that has ended.
  std::vector<trace::SpanData> TraceOf(const std::string& name) {
    auto spans = spans_.Lock();
    const auto called = [&name](const trace::SpanData& span) { return span.name == name; };
    REQUIRE(spans.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                            [&] { return std::any_of(spans->begin(), spans->end(), called); }));
    const auto first = std::find_if(spans->begin(), spans->end(), called)->context.trace_id;
    std::vector<trace::SpanData> found;
    for (const trace::SpanData& span : *spans) {
      if (span.context.trace_id == first) found.push_back(span);
    }
    return found;
  }

  // A tracer that records everything here.
  static std::shared_ptr<const trace::Tracer> Tracer(std::shared_ptr<KeptSpans> kept,
                                                     int rate = 1'000'000) {
    return trace::Tracer::New({.processor = std::move(kept), .sampling_rate_per_million = rate});
  }

 private:
  Guarded<std::vector<trace::SpanData>> spans_;
  Guarded<int> flushes_{0};
};

inline const trace::SpanData& SpanNamed(const std::vector<trace::SpanData>& spans,
                                        const std::string& name) {
  const auto found = std::find_if(spans.begin(), spans.end(),
                                  [&name](const auto& span) { return span.name == name; });
  INFO("no span " << name);
  REQUIRE(found != spans.end());
  return *found;
}

// "Get < GET /api…": every span's name, and its ancestors' behind it, sorted.
inline std::vector<std::string> TreeOf(const std::vector<trace::SpanData>& spans) {
  std::map<trace::SpanId, const trace::SpanData*> by_id;
  for (const auto& span : spans) by_id[span.context.span_id] = &span;
  std::vector<std::string> lines;
  for (const auto& span : spans) {
    std::string line = span.name;
    for (auto parent = by_id.find(span.parent_id); parent != by_id.end();
         parent = by_id.find(parent->second->parent_id)) {
      line += " < " + parent->second->name;
    }
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// The attribute as text; "" if there is none.
inline std::string AttributeOf(const trace::SpanData& span, const std::string& key) {
  for (const trace::Attribute& each : span.attributes) {
    if (each.key != key) continue;
    if (const auto* text = std::get_if<std::string>(&each.value)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&each.value)) return std::to_string(*number);
    if (const auto* yes = std::get_if<bool>(&each.value)) return *yes ? "true" : "false";
  }
  return "";
}

}  // namespace apiserver::inline v0::testing
