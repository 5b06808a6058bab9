#pragma once

#include <map>
#include <string>
#include <vector>

#include "apiserver/runtime/names.h"
#include "apiserver/storage/value/encryption.h"

namespace apiserver::inline v0::storage::value {

// What one configuration amounts to. Immutable.
struct Transformers {
  std::map<std::string, TransformerPtr> by_resource;  // "flunders.wardle.example.com", "*.*".
  std::vector<KmsProvider> kms;

  TransformerPtr For(const runtime::GroupResource& resource) const;
  // Every KMS provider's complaint, in one; as Encryption's.
  Status Check() const;
  Status Health() const;
};

// kInvalid: `config` is valid, but an entry hides a later one, or it asks for what is not there.
Result<Transformers> Build(const EncryptionConfiguration& config, const EncryptionOptions& options);

}  // namespace apiserver::inline v0::storage::value
