#pragma once

#include <memory>

#include "storage/kms/probe.h"

namespace apiserver::inline v0::storage::kms {

// Wraps values with what `probe` keeps ready, and unwraps them with the help of `service`.
value::TransformerPtr NewEnvelopeTransformer(std::shared_ptr<Service> service,
                                             std::shared_ptr<const Probe> probe,
                                             const Options& options);

// A provider over `service`, started.
value::KmsProvider NewProvider(const std::string& name, std::shared_ptr<Service> service,
                               const Options& options);

}  // namespace apiserver::inline v0::storage::kms
