#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/codec/codec.h"
#include "apiserver/meta/watch.h"
#include "apiserver/runtime/object.h"

// Kubernetes' protobuf: "k8s\0" and a runtime.Unknown around a message, transcoded by Schema. Field
// numbers are those of k8s.io/apimachinery's generated.proto; scalars without presence are always
// written, as gogo does.
namespace apiserver::inline v0::codec {

// Whether every field of this version has a protobuf number, metadata the number 1, so that the
// kind can be sent so.
bool HasProtobuf(const runtime::Kind& kind, std::string_view version);

// Whole answers, envelope included. kNotAcceptable: the kind has no protobuf form.
// What is made on the way is kept as EncodingOf keeps it.
Result<std::string> EncodeProtobuf(const Context& ctx, const runtime::Object& object,
                                   std::string_view version, const EncodingShare& share = {});
Result<std::string> EncodeListProtobuf(const Context& ctx, const runtime::List& list,
                                       const runtime::Kind& kind, std::string_view version,
                                       const EncodingShare& share = {});
// The same of a kind that has a protobuf form, from the encodings of the list's items, in order.
std::string JoinListProtobuf(const runtime::List& list, const runtime::Kind& kind,
                             std::string_view version,
                             std::span<const runtime::EncodingPtr> encodings);
Result<std::string> EncodePartialObjectMetadataProtobuf(const runtime::Object& object,
                                                        std::string_view meta_version);
// In v1beta1 the fields `items` and `metadata` have each other's numbers.
Result<std::string> EncodePartialObjectMetadataListProtobuf(const runtime::List& list,
                                                            std::string_view meta_version);
std::string EncodeStatusProtobuf(const Status& status);
std::string EncodeSuccessProtobuf(const StatusDetails& details, int code);
// A document of meta/v1 that has kind and apiVersion: an APIGroupList, an APIResourceList, ….
// kNotAcceptable: its kind has no message.
Result<std::string> EncodeMetaProtobuf(const runtime::Value& document);

// What a watch shows: objects of `kind` in `version`, or as PartialObjectMetadata if `meta_version`
// is not empty.
struct WatchForm {
  const runtime::Kind& kind;
  std::string_view version;
  std::string_view meta_version = {};
  EncodingShare share = {};
  runtime::EncodingPtr made = nullptr;  // The encoding of the event's object; null: it is made.
};
// Appends one watch event: a four byte big-endian length, then a WatchEvent whose object is a whole
// enveloped message.
Status AppendWatchEventProtobuf(const Context& ctx, const watch::Event& event,
                                const WatchForm& form, std::string& out);

// The envelope of a body, taken off; kind and apiVersion are its TypeMeta. kBadRequest: not one.
struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view raw;  // Into the body.
};
Result<ProtobufEnvelope> OpenProtobufEnvelope(std::string_view body);
// A DeleteOptions of any group version.
Result<DecodedBody> DecodeDeleteOptionsProtobuf(std::shared_ptr<const std::string> body);

}  // namespace apiserver::inline v0::codec
