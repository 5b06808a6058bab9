#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/value.h"

// The ConversionReview of apiextensions.k8s.io, v1 and v1beta1: the request to a conversion webhook
// and its answer, which is not trusted. Follows webhook_converter.go of
// apiextensions-apiserver/pkg/apiserver/conversion, whose texts errors have.
namespace apiserver::inline v0::apiextensions {

// The causes of a failed conversion, as metrics tell them apart.
enum class ConversionFailure : std::uint8_t {
  kCall,
  kMalformedResponse,
  kPartialResponse,
  kInvalidConvertedObject,
};
// Returns upstream's label value: "conversion_webhook_call_failure".
std::string_view FailureTypeName(ConversionFailure failure);

// The objects of one call.
struct ConversionBatch {
  runtime::GroupVersionKind from;  // The kind of the first object, in the version it was sent in.
  runtime::GroupVersion to;
  std::size_t count = 1;

  // Returns `conversion webhook for example.com/v1, Kind=Foo` and then `rest`, as an error that
  // reaches the client as a 500 without reason, as upstream's.
  Status Error(std::string_view rest) const;
};

// A review to send.
struct ConversionReview {
  std::string uid;
  std::string version;  // "v1" or "v1beta1".
  std::string json = {};
};

// Returns the first of `versions`, which are in the webhook's order of preference, that is known
// here. kUnknown, "no supported conversion review versions": none is.
Result<std::string> ReviewVersionOf(std::span<const std::string> versions);

// Makes the review that asks to convert `objects`, each the JSON of a whole object.
ConversionReview NewConversionReview(std::string version, std::string uid,
                                     const runtime::GroupVersion& to,
                                     std::span<const std::string_view> objects);

// Returns the converted objects of an answer to `review`. kUnknown: the answer is malformed, is
// for another request, or reports a failure; the error has no prefix.
Result<std::vector<runtime::Value>> ConvertedObjectsOf(const ConversionReview& review,
                                                       const runtime::Value& answer);

// Checks the object at `index` of an answer and returns its content: without kind and apiVersion,
// with the metadata of `original`, a whole object, but for labels and annotations. The content
// lives in `arena` and in both objects. kUnknown: it is no object, another one, or one in another
// version.
Result<runtime::Value> AcceptConverted(const ConversionBatch& batch, std::size_t index,
                                       const runtime::Value& original,
                                       const runtime::Value& converted, runtime::Arena& arena);

}  // namespace apiserver::inline v0::apiextensions
