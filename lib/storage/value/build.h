#pragma once

#include <map>
#include <string>
#include <vector>

#include "apiserver/runtime/names.h"
#include "apiserver/storage/value/encryption.h"

namespace apiserver::inline v0::storage::value {

// The transformers of one configuration. Immutable.
struct Transformers {
  std::map<std::string, TransformerPtr> by_resource;  // "flunders.wardle.example.com", "*.*".
  std::vector<KmsProvider> kms;

  // Returns the transformer of the entry that names `resource`. Null: none does.
  TransformerPtr Find(const runtime::GroupResource& resource) const;
  // The same; the identity where none does.
  TransformerPtr For(const runtime::GroupResource& resource) const;
  // Return the errors of all KMS providers in one, as those of Encryption.
  Status Check() const;
  Status Health() const;
};

// Makes the transformers. kInvalid: `config` is valid, but an entry hides a later one, or needs a
// provider that is not available.
Result<Transformers> Build(const EncryptionConfiguration& config, const EncryptionOptions& options);

}  // namespace apiserver::inline v0::storage::value
