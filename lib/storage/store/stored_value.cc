#include "storage/store/stored_value.h"

#include <memory>
#include <utility>

#include "apiserver/codec/codec.h"
#include "base/status_macros.h"
#include "storage/corrupt_objects.h"

namespace apiserver::v0::storage::store {
namespace {

// Fails to load an object with the error text that stands in for the object's bytes.
class Refusal final : public runtime::ContentLoader {
 public:
  Status Load(const runtime::Object& object, runtime::Arena&, runtime::Value&) const override {
    return Status(Reason::kInternalError, *object.stored_bytes());
  }
};
const Refusal kRefusal;

}  // namespace

Result<Opened> Open(const Options& options, std::string_view key, const kv::Bytes& stored) {
  if (stored == nullptr) return Status(Reason::kInternalError, "no bytes to decode");
  if (options.transformer == nullptr) {
    // Does what value::NewIdentity() does, but copies nothing.
    if (!stored->starts_with(value::kEncryptedPrefix)) return Opened{stored, false};
    return NewNotTransformable(Status(Reason::kInternalError, std::string(value::kReadsEncrypted)));
  }
  auto read = options.transformer->TransformFromStorage(*stored, key);
  if (!read.ok()) return NewNotTransformable(read.status());
  return Opened{std::make_shared<const std::string>(std::move(read->bytes)), read->stale};
}

Result<kv::Bytes> Close(const Options& options, std::string_view key, const kv::Bytes& plain) {
  if (options.transformer == nullptr) return plain;
  ASSIGN_OR_RETURN(std::string stored, options.transformer->TransformToStorage(*plain, key));
  return std::make_shared<const std::string>(std::move(stored));
}

Result<runtime::ObjectPtr> DecodeStored(const Options& options, std::string_view key,
                                        const kv::Bytes& stored, kv::Revision revision) {
  ASSIGN_OR_RETURN(const Opened opened, Open(options, key, stored));
  return codec::DecodeFromStorage(options.kind, opened.plain, revision);
}

runtime::ObjectPtr NewUnusableObject(const runtime::KindPtr& kind, const Status& why) {
  return std::make_shared<const runtime::Object>(
      kind, kind->hub_version(),
      runtime::Object::Source{std::make_shared<const std::string>(why.message()), 0, &kRefusal});
}

}  // namespace apiserver::v0::storage::store
