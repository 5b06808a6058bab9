#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/storage/value/transformer.h"
#include "require.h"

// Stored values: whatever stands in the engine is read or refused. What an authenticating provider
// reads, it must have written, and nothing here was written with these keys.
namespace {

namespace value = apiserver::storage::value;
using apiserver_fuzz::Require;

const value::TransformerPtr& AllProviders() {
  static const value::TransformerPtr all = [] {
    const std::string key(32, 'k');
    const auto keyed = [](value::TransformerPtr transformer) {
      return value::NewPrefixTransformers("no key", {{"a:", std::move(transformer)}});
    };
    return value::NewPrefixTransformers(
        "no matching prefix found", {{"k8s:enc:aescbc:v1:", keyed(*value::NewAesCbc(key))},
                                     {"k8s:enc:aesgcm:v1:", keyed(*value::NewAesGcm(key))},
                                     {"k8s:enc:secretbox:v1:", keyed(*value::NewSecretbox(key))},
                                     {"xnonce:", keyed(*value::NewExtendedNonceGcm(key))},
                                     {"", value::NewIdentity()}});
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = AllProviders()->TransformFromStorage(text, "/registry/one");
  if (!read.ok()) {
    Require(!read.status().message().empty());
    return 0;
  }
  Require(read->bytes.size() <= text.size());
  const bool plain = !text.starts_with(value::kEncryptedPrefix);
  Require(plain == (read->bytes == text));
  return 0;
}
