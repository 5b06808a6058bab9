#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/base/trace.h"

namespace apiserver::inline v0::client {

// An ExportTraceServiceRequest in OTLP's JSON: ids in hex, 64-bit numbers as strings.
std::string OtlpJson(std::span<const trace::Attribute> resource,
                     std::span<const trace::SpanData> spans);

// What a span takes in a queue, about.
std::size_t BytesOf(const trace::SpanData& span);

// What a collector says to a batch that it has taken.
struct OtlpAnswer {
  std::size_t rejected_spans = 0;
  std::string message;
};
// Nothing rejected, if it cannot be read: then it is no collector's.
OtlpAnswer ReadOtlpAnswer(std::string_view body);

}  // namespace apiserver::inline v0::client
