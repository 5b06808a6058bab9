#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/random.h"
#include "apiserver/runtime/names.h"
#include "apiserver/storage/value/config.h"
#include "apiserver/storage/value/transformer.h"

// Encryption at rest as a configuration file describes it.
namespace apiserver::inline v0::storage::value {

// A KMS provider of the configuration, made by whoever speaks with its plugin.
struct KmsProvider {
  // Without the prefix "k8s:enc:kms:v2:<name>:". What it started ends with its last owner.
  TransformerPtr transformer;
  // Whether the plugin is healthy; may wait for calls to it.
  std::function<Status()> check;
  // What was found last, which is not old; never waits.
  std::function<Status()> health;
};
// `config` is valid and of apiVersion v2. Must not fail because a plugin does not answer yet.
using NewKmsProvider = std::function<Result<KmsProvider>(const KmsConfiguration& config)>;

struct EncryptionOptions {
  // Required: the configuration's path.
  std::string path;
  // Whether the file is looked at every `period`, and used from then on when it has changed. A
  // changed file that is wrong, or whose KMS plugins are not healthy, is logged and not used.
  bool reload = false;
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  // For configurations that name a KMS provider; empty: those are refused.
  NewKmsProvider new_kms_provider = nullptr;
  FileSystem* files = &RealFileSystem();
  // Required if `reload`: looks at the file. May block, outlives the Encryption.
  Executor* executor = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// The transformers of one server. Any thread.
class Encryption {
 public:
  virtual ~Encryption() = default;

  // How objects of `resource` are stored: by the first entry of the configuration that names it,
  // else "*.<group>", else "*.*", else the identity. Follows reloads; may outlive this.
  virtual TransformerPtr TransformerFor(const runtime::GroupResource& resource) const = 0;
  // Whether all KMS plugins are healthy: OK when there are none. May wait for them.
  virtual Status Check() const = 0;
  // The same for the health check "kms-providers": what was found last, without waiting.
  virtual Status Health() const = 0;
  // Whether a KMS provider is configured now.
  virtual bool uses_kms() const = 0;
  // Looks at the file now, if `reload`; says why it is not used.
  virtual Status CheckFile() = 0;
};

// kNotFound, kInternalError: the file cannot be read. kInvalid: it is wrong, in Go's words.
Result<std::unique_ptr<Encryption>> LoadEncryption(EncryptionOptions options);

}  // namespace apiserver::inline v0::storage::value
