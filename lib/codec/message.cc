#include "apiserver/codec/message.h"

#include "apiserver/codec/protobuf.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/settle.h"

#include "base/status_macros.h"
#include "codec/encode.h"
#include "codec/protobuf_message.h"
#include "codec/type_meta.h"

namespace apiserver::v0::codec {
namespace {

Status CheckHasProtobuf(const runtime::Object& object) {
  if (HasProtobuf(object.kind(), object.version())) return {};
  return Status(Reason::kNotAcceptable, NoProtobufMessage(object.kind(), object.version()));
}

}  // namespace

Result<std::string> ToMessageBytes(const runtime::Object& object) {
  RETURN_IF_ERROR(CheckHasProtobuf(object));
  // The version stays the same, so nothing is converted and nothing waits.
  ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Object> view,
                   CanonicalView(Context::Background(), object, object.version()));
  std::string bytes;
  RETURN_IF_ERROR(
      AppendMessage(view->root(), *object.kind().FindVersion(object.version())->schema, bytes));
  return bytes;
}

Status FromMessageBytes(std::string_view bytes, runtime::Object& object) {
  RETURN_IF_ERROR(CheckHasProtobuf(object));
  // The content borrows from the copy.
  const std::string_view kept = object.arena().Copy(bytes);
  ASSIGN_OR_RETURN(
      const runtime::Value root,
      DecodeMessage(kept, *object.kind().FindVersion(object.version())->schema, object.arena()));
  const runtime::Value before = object.root();
  object.SetRoot(root);
  Status fits = runtime::Settle(object, {.defaults = false});
  if (!fits.ok()) object.SetRoot(before);
  return fits;
}

}  // namespace apiserver::v0::codec
