#include "apiserver/storage/value/transformer.h"

namespace apiserver::v0::storage::value {
namespace {

class Identity final : public Transformer {
 public:
  Result<FromStorage> TransformFromStorage(std::string_view data, std::string_view) const override {
    if (data.starts_with(kEncryptedPrefix)) {
      return Status(Reason::kInternalError, std::string(kReadsEncrypted));
    }
    return FromStorage{std::string(data), false};
  }
  Result<std::string> TransformToStorage(std::string_view data, std::string_view) const override {
    return std::string(data);
  }
};

}  // namespace

TransformerPtr NewIdentity() { return std::make_shared<Identity>(); }

}  // namespace apiserver::v0::storage::value
