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

// The approximate size of a span in the queue.
std::size_t BytesOf(const trace::SpanData& span);

// The response of a collector that has accepted a batch.
struct OtlpAnswer {
  std::size_t rejected_spans = 0;
  std::string message;
};
// Reads a response. One that cannot be read rejects nothing: it is not a collector's.
OtlpAnswer ReadOtlpAnswer(std::string_view body);

}  // namespace apiserver::inline v0::client
