#pragma once

#include <memory>

#include "storage/kms/probe.h"

namespace apiserver::inline v0::storage::kms {

// Returns the transformer that wraps values with the state of `probe`, and unwraps them by asking
// `service`.
value::TransformerPtr NewEnvelopeTransformer(std::shared_ptr<Service> service,
                                             std::shared_ptr<const Probe> probe,
                                             const Options& options);

// Returns a provider over `service`, whose checks have started.
value::KmsProvider NewProvider(const std::string& name, std::shared_ptr<Service> service,
                               const Options& options);

}  // namespace apiserver::inline v0::storage::kms
