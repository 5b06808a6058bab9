#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apiserver/base/status.h"
#include "storage/kms/messages.h"

namespace apiserver::inline v0::storage::kms {

// A plugin. Any thread may call it; calls wait, at most for the configured timeout.
class Service {
 public:
  virtual ~Service() = default;
  virtual Result<StatusResponse> GetStatus() = 0;
  virtual Result<EncryptResponse> Encrypt(const EncryptRequest& request) = 0;
  virtual Result<DecryptResponse> Decrypt(const DecryptRequest& request) = 0;
};

// Returns the target for gRPC: "unix:///run/kms.sock" -> "unix:/run/kms.sock", "unix:///@name" ->
// "unix-abstract:name". kInvalid: not such an endpoint.
Result<std::string> TargetOf(const std::string& endpoint);

// Returns the plugin at `endpoint` over gRPC. It connects on the first call, and again when it has
// to.
Result<std::shared_ptr<Service>> NewGrpcService(const std::string& endpoint,
                                                std::chrono::nanoseconds timeout);

}  // namespace apiserver::inline v0::storage::kms
