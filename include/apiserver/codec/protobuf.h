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

// True if the kind can be sent as protobuf in this version: every field has a protobuf number, and
// metadata has the number 1.
bool HasProtobuf(const runtime::Kind& kind, std::string_view version);

// Encodes whole responses, envelope included. Encodings made for them are kept as EncodingOf()
// keeps them. kNotAcceptable: the kind has no protobuf form.
Result<std::string> EncodeProtobuf(const Context& ctx, const runtime::Object& object,
                                   std::string_view version, const EncodingShare& share = {});
// The same for a list.
Result<std::string> EncodeListProtobuf(const Context& ctx, const runtime::List& list,
                                       const runtime::Kind& kind, std::string_view version,
                                       const EncodingShare& share = {});
// The same for a kind that has a protobuf form, from the encodings of the list's items, in order.
std::string JoinListProtobuf(const runtime::List& list, const runtime::Kind& kind,
                             std::string_view version,
                             std::span<const runtime::EncodingPtr> encodings);
// The same for the metadata alone, as a PartialObjectMetadata of this version of meta.k8s.io.
Result<std::string> EncodePartialObjectMetadataProtobuf(const runtime::Object& object,
                                                        std::string_view meta_version);
// The same for a list. In v1beta1 the fields `items` and `metadata` have each other's numbers.
Result<std::string> EncodePartialObjectMetadataListProtobuf(const runtime::List& list,
                                                            std::string_view meta_version);
// The same for a metav1.Status that reports an error.
std::string EncodeStatusProtobuf(const Status& status);
// The same for `status: Success`.
std::string EncodeSuccessProtobuf(const StatusDetails& details, int code);
// The same for a document of meta/v1 that has kind and apiVersion: an APIGroupList, an
// APIResourceList, …. kNotAcceptable: its kind has no message.
Result<std::string> EncodeMetaProtobuf(const runtime::Value& document);

// The form of a watch's objects: objects of `kind` in `version`, or PartialObjectMetadata if
// `meta_version` is not empty.
struct WatchForm {
  const runtime::Kind& kind;
  std::string_view version;
  std::string_view meta_version = {};
  EncodingShare share = {};
  runtime::EncodingPtr made = nullptr;  // The encoding of the event's object. Null: it is made.
};
// Appends one watch event: a four byte big-endian length, then a WatchEvent whose object is a whole
// enveloped message.
Status AppendWatchEventProtobuf(const Context& ctx, const watch::Event& event,
                                const WatchForm& form, std::string& out);

// A body without its envelope; kind and apiVersion are its TypeMeta.
struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view raw;  // Into the body.
};
// Removes the envelope of a body, which the result borrows from. kBadRequest: it has none.
Result<ProtobufEnvelope> OpenProtobufEnvelope(std::string_view body);
// Decodes a DeleteOptions of any group version.
Result<DecodedBody> DecodeDeleteOptionsProtobuf(std::shared_ptr<const std::string> body);

}  // namespace apiserver::inline v0::codec
