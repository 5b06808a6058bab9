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

// Converts objects to bytes and back, in each media type of a server.
namespace apiserver::inline v0::codec {

// The media types of requests and responses.
enum class MediaType : std::uint8_t { kJson, kYaml, kProtobuf, kCbor };
// Returns "application/json", "application/yaml", "application/vnd.kubernetes.protobuf" or
// "application/cbor".
std::string_view MediaTypeName(MediaType type);
// Returns the type that a Content-Type header names; empty means JSON. nullopt: unknown, or
// malformed.
std::optional<MediaType> MediaTypeOfContentType(std::string_view content_type);
inline constexpr std::string_view kAcceptedMediaTypes =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

// A parsed request body, not yet normalized, defaulted or converted.
struct DecodedBody {
  runtime::Arena arena;
  runtime::Value root;      // Without kind and apiVersion.
  std::string api_version;  // As sent; may be empty.
  std::string kind;
  // `duplicate field "spec.a"`, Go's strict decoding words without the prefix.
  std::vector<std::string> strict_errors;
};
// Parses a body. kBadRequest: malformed. `body` is pinned in the arena, and strings of the result
// point into it.
Result<DecodedBody> DecodeBody(MediaType type, std::shared_ptr<const std::string> body,
                               const JsonLimits& limits = {});

// The kind and version that a request is about.
struct DecodeOptions {
  // A body without kind or apiVersion is taken for this kind and version.
  runtime::KindPtr kind;
  std::string version;
  // A custom resource in a version that the kind does not have is returned in that version, with
  // all of its members but metadata among the strict errors, for the caller to refuse: as upstream
  // does.
  bool unknown_versions = false;
  // The strict errors are not wanted, as with fieldValidation=Ignore. Upstream words the refusal of
  // a custom resource in JSON that does not say its kind otherwise then.
  bool lenient = false;
};
// A request's object.
struct DecodedObject {
  std::unique_ptr<runtime::Object> object;  // In the version it was sent in; a version of `kind`.
  std::vector<std::string> strict_errors;   // Duplicate and unknown fields.
};
// Decodes a body, reports unknown fields, then normalizes or prunes and sets defaults. Does not
// convert. kBadRequest with Kubernetes' words: malformed, another kind (`<Kind> in version "v"
// cannot be handled as a <Kind>: …`), or a version in the data that the kind does not have.
Result<DecodedObject> DecodeObject(MediaType type, std::shared_ptr<const std::string> body,
                                   const DecodeOptions& options);

// The memory share that counts encodings with bytes of their own. Null: they stay as long as their
// objects.
using EncodingShare = std::shared_ptr<EvictingShare>;
// Returns the body of `object` in `version`, made once and kept with the object. An object in
// another version is converted (runtime::Convert, with its errors; it may wait). kBadRequest: no
// such version; kNotAcceptable: the kind has no protobuf form; kInternalError: the object cannot be
// read.
Result<runtime::EncodingPtr> EncodingOf(const Context& ctx, const runtime::Object& object,
                                        std::string_view version, runtime::Format format,
                                        const EncodingShare& share = {});
// The encodings that are wanted.
struct EncodingForm {
  std::string_view version;
  runtime::Format format = runtime::Format::kJson;
  EncodingShare share = {};
};
// The same as EncodingOf() for each of `objects` whose place in `encodings` is null; all are of one
// kind. A converter that may wait is called once for all of them.
Status FillEncodings(const Context& ctx, std::span<const runtime::ObjectPtr> objects,
                     const EncodingForm& form, std::span<runtime::EncodingPtr> encodings);
// An object's stored form: JSON with TypeMeta, in the storage version, without resourceVersion,
// ending in a newline as Go's encoder does.
struct StorageEncoding {
  std::shared_ptr<const std::string> bytes;
  // The positions of the parts of its body, for StoreAnswer. Absent if reading `bytes` back gives
  // more than they hold, because defaults are added.
  std::optional<runtime::BodyMarks> answer;
  // The object that reading `bytes` back gives, but for the revision, if it was wished. Its strings
  // are in `bytes`, which it keeps, unless they are escaped there. Null: it was not wished, or only
  // reading them tells.
  std::unique_ptr<runtime::Object> content;
};
// Tells EncodeForStorage() what its caller needs.
struct StorageWishes {
  std::size_t bytes = 0;  // About what the encoding will take; zero: not known.
  bool content = false;   // To have StorageEncoding::content.
};
// Encodes an object for storage. Converts it if needed, with the errors of runtime::Convert.
// kInternalError: it cannot be read, or does not fit its kind.
Result<StorageEncoding> EncodeForStorage(const Context& ctx, const runtime::Object& object,
                                         const StorageWishes& wishes = {});
// Returns what reading the bytes that were stored as `revision` gives, from their
// StorageEncoding::content. It has no stored_bytes().
runtime::ObjectPtr ReadBack(std::unique_ptr<runtime::Object> content, std::int64_t revision);
// Attaches the encoding in the storage version to an object that was just written and is backed by
// its bytes, so that a response need not parse and encode it again.
void StoreAnswer(const runtime::Object& object, const runtime::BodyMarks& answer,
                 std::int64_t revision);
// Returns an object that is parsed lazily from `bytes`, in whichever version of its kind they hold,
// with `resource_version`. It is not converted: a caller that reads its content converts it to the
// version it wants (runtime::Convert). kInternalError: the bytes are no object.
Result<runtime::ObjectPtr> DecodeFromStorage(const runtime::KindPtr& kind,
                                             std::shared_ptr<const std::string> bytes,
                                             std::int64_t resource_version);

// Returns metadata.labels. For an object that is not loaded only they are parsed, into `arena`.
// `object` and `arena` must outlive the result.
runtime::Value LabelsOf(const runtime::Object& object, runtime::Arena& arena);

// Encodes `status` as metav1.Status. JSON ends with a newline unless pretty.
std::string StatusToJson(const Status& status, bool pretty = false);
// EncodeStatusProtobuf() in codec/protobuf.h returns its protobuf form.

}  // namespace apiserver::inline v0::codec
