#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/watch.h"
#include "apiserver/runtime/object.h"

// Objects to bytes and back, in each media type a server speaks.
namespace apiserver::inline v0::codec {

enum class MediaType : std::uint8_t { kJson, kYaml, kProtobuf, kCbor };
// "application/json", "application/yaml", "application/vnd.kubernetes.protobuf",
// "application/cbor".
std::string_view MediaTypeName(MediaType type);
// The type of a Content-Type header; empty means JSON. nullopt: unknown, or malformed.
std::optional<MediaType> MediaTypeOfContentType(std::string_view content_type);
inline constexpr std::string_view kAcceptedMediaTypes =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

// A request body, taken apart but not yet normalized, defaulted or converted.
struct DecodedBody {
  runtime::Arena arena;
  runtime::Value root;      // Without kind and apiVersion.
  std::string api_version;  // As sent; may be empty.
  std::string kind;
  // `duplicate field "spec.a"`, Go's strict decoding words without the prefix.
  std::vector<std::string> strict_errors;
};
// kBadRequest: malformed. `body` is pinned, so that strings point into it.
Result<DecodedBody> DecodeBody(MediaType type, std::shared_ptr<const std::string> body,
                               const JsonLimits& limits = {});

struct DecodeOptions {
  // What the request is about: a body without kind or apiVersion is taken for this.
  runtime::KindPtr kind;
  std::string version;
};
struct DecodedObject {
  std::unique_ptr<runtime::Object> object;  // In the version it was sent in; a version of `kind`.
  std::vector<std::string> strict_errors;   // Duplicate and unknown fields.
};
// Body -> object: decode, report unknown fields, Normalize or Prune, SetDefaults. Not converted.
// kBadRequest with Kubernetes' words: malformed, another kind (`<Kind> in version "v" cannot be
// handled as a <Kind>: …`), a version in the data the kind does not have.
Result<DecodedObject> DecodeObject(MediaType type, std::shared_ptr<const std::string> body,
                                   const DecodeOptions& options);

// Where encodings count that have bytes of their own; null: they stay as long as their objects.
using EncodingShare = std::shared_ptr<EvictingShare>;
// The body of `object` in `version`, made once and kept with the object, which is converted for it
// if it is in another version (runtime::Convert, with its errors). kBadRequest: no such version;
// kNotAcceptable: the kind has no protobuf form; kInternalError: the object cannot be read.
Result<runtime::EncodingPtr> EncodingOf(const Context& ctx, const runtime::Object& object,
                                        std::string_view version, runtime::Format format,
                                        const EncodingShare& share = {});
// Which encodings are wanted.
struct EncodingForm {
  std::string_view version;
  runtime::Format format = runtime::Format::kJson;
  EncodingShare share = {};
};
// As EncodingOf for each of `objects`, which are of one kind, whose place in `encodings` is null.
// A converter that may wait is called once for all of them.
Status FillEncodings(const Context& ctx, std::span<const runtime::ObjectPtr> objects,
                     const EncodingForm& form, std::span<runtime::EncodingPtr> encodings);
// Bytes as storage keeps them: JSON with TypeMeta, in the storage version, without resourceVersion,
// ending in a newline as Go's encoder does.
struct StorageEncoding {
  std::string bytes;
  // Where the parts of its body stand, for StoreAnswer. Absent when reading `bytes` back gives more
  // than they hold, because defaults are added.
  std::optional<runtime::BodyMarks> answer;
};
// Converts the object for it, with the errors of runtime::Convert. kInternalError: it cannot be
// read, or does not fit its kind.
Result<StorageEncoding> EncodeForStorage(const Context& ctx, const runtime::Object& object);
// Gives an object that was just written, and is backed by its bytes, the encoding that it has in
// the storage version, so that answering need not parse and encode it again.
void StoreAnswer(const runtime::Object& object, const runtime::BodyMarks& answer,
                 std::int64_t revision);
// The inverse: an object in the version that the bytes are of, whichever of its kind's that is,
// lazily parsed, carrying `resource_version`. It is not converted: whoever looks at its content
// turns it into the version wanted (runtime::Convert). kInternalError: the bytes are no object.
Result<runtime::ObjectPtr> DecodeFromStorage(const runtime::KindPtr& kind,
                                             std::shared_ptr<const std::string> bytes,
                                             std::int64_t resource_version);

// metadata.labels; of an object that is not loaded they alone are parsed, into `arena`. `object`
// and `arena` must outlive what is returned.
runtime::Value LabelsOf(const runtime::Object& object, runtime::Arena& arena);

// metav1.Status, meta Table rows and everything else that is not a stored object is written from
// Values; these wrap them. JSON ends with a newline unless pretty.
std::string StatusToJson(const Status& status, bool pretty = false);
// The `k8s\0` envelope around a Status or any meta/v1 message: see codec/protobuf.h.

}  // namespace apiserver::inline v0::codec
