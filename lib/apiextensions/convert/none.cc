#include "apiextensions/convert/none.h"

#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"

namespace apiserver::v0::apiextensions {

namespace {

class NoneConverter final : public runtime::VersionConverter {
 public:
  Status Convert(const Context& /*ctx*/, std::span<runtime::Object* const> objects,
                 std::string_view version) const override {
    for (runtime::Object* const object : objects) {
      object->SetVersion(version);
      // Defaults are those of the stored version: a field that only this version defaults stays
      // absent until the object is written.
      RETURN_IF_ERROR(runtime::Settle(*object, {.defaults = false}));
    }
    return {};
  }
  bool may_wait() const override { return false; }
};

}  // namespace

std::shared_ptr<const runtime::VersionConverter> NewNoneConverter() {
  return std::make_shared<const NoneConverter>();
}

}  // namespace apiserver::v0::apiextensions
