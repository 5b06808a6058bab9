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

// Encryption at rest, as a configuration file describes it.
namespace apiserver::inline v0::storage::value {

// A KMS provider of the configuration, made by the room that talks to its plugin.
struct KmsProvider {
  // The transformer, without the prefix "k8s:enc:kms:v2:<name>:". The provider's threads end with
  // its last owner.
  TransformerPtr transformer;
  // Checks that the plugin is healthy. It may block for a call to it. It is called on the thread of
  // Encryption::Check() or, for a changed file, on the executor's or that of CheckFile().
  std::function<Status()> check;
  // Returns the last result, which is recent. Must not block: health checks call it on any thread.
  std::function<Status()> health;
};
// Makes the provider of `config`, which is valid and of apiVersion v2. A plugin that does not
// answer yet must not make it fail. LoadEncryption() calls it on its own thread; for a changed file
// it is called on the executor's thread or that of CheckFile(). It may block.
using NewKmsProvider = std::function<Result<KmsProvider>(const KmsConfiguration& config)>;

// The configuration file and the parts of the server that it is used with.
struct EncryptionOptions {
  // Required. The path of the configuration.
  std::string path;
  // If set, the file is checked every `period` and a changed one is used from then on. A changed
  // file that is wrong, or whose KMS plugins are not healthy, is logged and not used.
  bool reload = false;
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  // Makes the KMS providers that a configuration names. Empty: such configurations are refused.
  NewKmsProvider new_kms_provider = nullptr;
  FileSystem* files = &RealFileSystem();
  // Required if `reload`. Runs the checks of the file, which may block. Must outlive the
  // Encryption.
  Executor* executor = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  // Called after a changed configuration has come into use, on the executor's thread or that of
  // CheckFile(); must not block. It may come after the Encryption has ended, while a transformer of
  // it is left. Null: nothing is called.
  std::function<void()> on_change = nullptr;
  LogSink* log = &NullLogSink();
};

// The transformers of one server. Any thread may call its methods.
class Encryption {
 public:
  virtual ~Encryption() = default;

  // Returns the transformer for objects of `resource`: that of the first entry of the configuration
  // that names it, else of "*.<group>", else of "*.*", else the identity. It follows reloads and
  // may outlive this.
  virtual TransformerPtr TransformerFor(const runtime::GroupResource& resource) const = 0;
  // Returns a function that says whether the configuration names a resource, by itself or by a "*".
  // It never blocks, follows reloads and may outlive this.
  virtual std::function<bool(const runtime::GroupResource&)> Naming() const = 0;
  // Asks all KMS plugins if they are healthy; OK when there are none. May wait for them.
  virtual Status Check() const = 0;
  // Returns the last result of Check() without waiting, for the health check "kms-providers".
  virtual Status Health() const = 0;
  // True if a KMS provider is configured now.
  virtual bool uses_kms() const = 0;
  // Checks the file now, if `reload`; returns the reason why it is not used.
  virtual Status CheckFile() = 0;
};

// Loads the configuration. kNotFound, kInternalError: the file cannot be read. kInvalid: it is
// wrong, in Go's words.
Result<std::unique_ptr<Encryption>> LoadEncryption(EncryptionOptions options);

}  // namespace apiserver::inline v0::storage::value
