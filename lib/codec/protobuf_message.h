#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema.h"

// Messages without their envelope, transcoded by Schema.
namespace apiserver::inline v0::codec {

inline constexpr std::string_view kProtobufPrefix{"k8s\0", 4};
// The field number of the items in a list that is a message of its own.
inline constexpr int kListItemsNumber = 1;

// Appends `value` (canonical, of `schema`, which has a protobuf form) as a message. kInternalError:
// a value does not fit its schema.
Status AppendMessage(const runtime::Value& value, const runtime::Schema& schema, std::string& out);
// Decodes a message; text and bytes are borrowed from `bytes`. Not normalized. kBadRequest, in
// gogo's words: malformed, or it would take more memory than JsonLimits allows for a text of this
// length.
Result<runtime::Value> DecodeMessage(std::string_view bytes, const runtime::Schema& schema,
                                     runtime::Arena& arena);

// The protobuf body of a canonical object.
Result<runtime::EncodedBody> EncodeProtobufBody(const runtime::Object& object);
// Returns `message` in its envelope.
std::string Envelope(std::string_view api_version, std::string_view kind, std::string_view message);

// The schemas of the meta/v1 messages that are sent on their own ("Status", "DeleteOptions", …);
// null: none of this name.
runtime::SchemaPtr MetaMessageSchema(std::string_view kind);

}  // namespace apiserver::inline v0::codec
