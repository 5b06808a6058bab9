#include "codec/proto_rules.h"

#include <utility>

#include "base/status_macros.h"
#include "codec/protobuf_wire.h"

namespace apiserver::v0::codec {
namespace {

using wire::Token;

// The number of each extension in apiserver/codec/schema.proto.
constexpr int kExtensionNumber = 52110;

// Calls `take` with each field of the extension.
template <class Take>
Status ForEach(std::string_view options, Take take) {
  for (wire::Reader reader(options); !reader.done();) {
    ASSIGN_OR_RETURN(const Token outer, reader.Next());
    if (outer.number != kExtensionNumber || outer.type != wire::Type::kLength) continue;
    for (wire::Reader inner(outer.bytes); !inner.done();) {
      ASSIGN_OR_RETURN(const Token token, inner.Next());
      take(token);
    }
  }
  return {};
}

}  // namespace

Result<FieldRules> ReadFieldRules(std::string_view options) {
  FieldRules rules;
  RETURN_IF_ERROR(ForEach(options, [&](const Token& token) {
    if (token.number == 1) rules.pointer = token.scalar != 0;
    if (token.number == 2 && token.scalar <= FieldRules::kWhenZero) {
      rules.omit = static_cast<FieldRules::Omit>(token.scalar);
    }
    if (token.number == 3) rules.inlined = token.scalar != 0;
    if (token.number == 4) rules.json_place = static_cast<int>(token.scalar);
  }));
  return rules;
}

Result<MessageRules> ReadMessageRules(std::string_view options) {
  MessageRules rules;
  RETURN_IF_ERROR(ForEach(options, [&](const Token& token) {
    if (token.number == 1) rules.list = token.scalar != 0;
    if (token.number == 2) rules.openapi_name = token.bytes;
    if (token.number == 3) rules.type_meta = token.scalar != 0;
    if (token.number == 4) rules.any = token.scalar != 0;
  }));
  return rules;
}

Result<FileRules> ReadFileRules(std::string_view options) {
  FileRules rules;
  RETURN_IF_ERROR(ForEach(options, [&](const Token& token) {
    if (token.number == 1) rules.openapi_package = token.bytes;
  }));
  return rules;
}

}  // namespace apiserver::v0::codec
