#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apiserver/base/sync.h"
#include "apiserver/storage/kms/provider.h"
#include "storage/kms/envelope.h"
#include "storage/kms/service.h"

namespace apiserver::inline v0::storage::kms {

// Asks one plugin how it is, and keeps the state that values are written with up to date: a new
// seed whenever the plugin names another key, more time for the one in use otherwise.
class Probe : public std::enable_shared_from_this<Probe> {
 public:
  static constexpr std::chrono::seconds kHealthyInterval{60};
  static constexpr std::chrono::seconds kUnhealthyInterval{10};
  static constexpr std::chrono::minutes kWriteTtl{3};
  // How long the outcome of Check() is repeated rather than found out anew.
  static constexpr std::chrono::seconds kHealthyTtl{20};
  static constexpr std::chrono::seconds kUnhealthyTtl{3};

  Probe(std::string name, std::shared_ptr<Service> service, const Options& options)
      : name_(std::move(name)), service_(std::move(service)), options_(options) {}

  // Checks now and from then on, for as long as somebody owns this.
  void Start();
  // One call to the plugin, two when it names another key; one caller at a time.
  Status Check();
  // The outcome of the last Check(), without waiting; has the next one made when it is due.
  Status Health();
  // What to write with, and what read values are compared to. kInternalError: there is none yet.
  Result<WriteStatePtr> Current() const;

 private:
  struct State {
    bool busy = false;  // Somebody asks the plugin, without the lock.
    bool asked = false;
    Status outcome;
    Clock::Monotonic outcome_until;
    std::string version;  // What the plugin said first.
    WriteStatePtr write;
  };

  void Poll();
  Status Ask();
  Status CheckVersion(const std::string& version);
  Status Rotate(const std::string& key_id);
  // A new seed, encrypted by the plugin.
  Result<WriteState> Generate(const std::string& uid) const;

  const std::string name_;
  const std::shared_ptr<Service> service_;
  const Options options_;
  mutable Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::kms
