#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apiserver/base/sync.h"
#include "apiserver/storage/kms/provider.h"
#include "storage/kms/envelope.h"
#include "storage/kms/service.h"

namespace apiserver::inline v0::storage::kms {

// Checks the health of one plugin, and keeps the state that values are written with up to date: a
// new seed whenever the plugin names another key, more time for the one in use otherwise.
class Probe : public std::enable_shared_from_this<Probe> {
 public:
  static constexpr std::chrono::seconds kHealthyInterval{60};
  static constexpr std::chrono::seconds kUnhealthyInterval{10};
  static constexpr std::chrono::minutes kWriteTtl{3};
  // The time for which the outcome of Check() is reused.
  static constexpr std::chrono::seconds kHealthyTtl{20};
  static constexpr std::chrono::seconds kUnhealthyTtl{3};

  Probe(std::string name, std::shared_ptr<Service> service, const Options& options)
      : name_(std::move(name)), service_(std::move(service)), options_(options) {}

  // Checks now and from then on, for as long as this has an owner.
  void Start();
  // Asks the plugin: one call, two when it names another key. One caller at a time; the others
  // wait.
  Status Check();
  // Returns the outcome of the last Check(), without waiting; starts the next one when it is due.
  Status Health();
  // Returns the state to write with, which read values are compared to. kInternalError: there is
  // none yet.
  Result<WriteStatePtr> Current() const;

 private:
  struct State {
    bool busy = false;  // A caller asks the plugin, without the lock.
    bool asked = false;
    Status outcome;
    Clock::Monotonic outcome_until;
    std::string version;  // The version that the plugin reported first.
    WriteStatePtr write;
  };

  void Poll();
  Status Ask();
  Status CheckVersion(const std::string& version);
  Status Rotate(const std::string& key_id);
  // Makes a new seed, encrypted by the plugin.
  Result<WriteState> Generate(const std::string& uid) const;

  const std::string name_;
  const std::shared_ptr<Service> service_;
  const Options options_;
  mutable Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::kms
