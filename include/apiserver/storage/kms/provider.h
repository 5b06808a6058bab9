#pragma once

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/random.h"
#include "apiserver/storage/value/encryption.h"

// KMS v2 providers: values are encrypted under a key that a plugin on this machine holds, over gRPC
// on a unix socket. Follows k8s.io/kms v2 and
// k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2.
namespace apiserver::inline v0::storage::kms {

// The parts of the server that providers use. All must outlive the providers.
struct Options {
  // Required. Runs the plugins' status requests: every minute, every 10 s while one is not healthy.
  // Its tasks must be allowed to block.
  Executor* executor = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// Returns the factory for value::EncryptionOptions. A provider asks its plugin once while it is
// made, for at most the configured timeout; a plugin that does not answer is asked again later.
//
// Values are written under a seed that the plugin has encrypted, one for each key that it names; 3
// minutes after the plugin was last healthy writes fail. Reads go on; a seed that was not seen
// within 24 hours is decrypted by the plugin on the reading thread.
value::NewKmsProvider NewProviders(Options options);

}  // namespace apiserver::inline v0::storage::kms
