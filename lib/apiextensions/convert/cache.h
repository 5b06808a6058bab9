#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// The content of an object that a webhook has converted, not pruned yet.
struct ConvertedContent {
  runtime::Arena arena;
  runtime::Value root;
};
using ConvertedContentPtr = std::shared_ptr<const ConvertedContent>;

// The identity of a conversion: a hash over the whole object, with its version, and the version
// wanted. The same object at another revision has another key.
std::string ConversionKey(std::string_view object_json, std::string_view version);

// One conversion of one object. One caller makes it; others that want the same wait for it.
class Conversion final : public EvictingShare::Item {
 public:
  // `share`, which may be null, counts the result.
  explicit Conversion(std::shared_ptr<EvictingShare> share) : share_(std::move(share)) {}
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;
  ~Conversion() override;

  // The outcome that a waiting caller gets.
  using Outcome = Result<ConvertedContentPtr>;
  // Returns the outcome, for which it waits until `ctx` is done. nullopt: the caller that made it
  // has given up, or `ctx` is done by `clock`; the caller has to make it itself.
  std::optional<Outcome> Wait(const Context& ctx, const Clock& clock = RealClock()) const;

 private:
  friend class ConversionCache;
  enum class Step : std::uint8_t { kRunning, kDone, kGivenUp, kEvicted };
  struct State {
    Step step = Step::kRunning;
    Status error;
    ConvertedContentPtr content;  // Set once it is done without an error.
  };
  void Evict() override;
  void Set(State state);
  State Get() const { return *state_.Lock(); }

  const std::shared_ptr<EvictingShare> share_;
  mutable Guarded<State> state_;
};

// The results of one webhook, by the object that was converted. Errors are not kept. All methods
// may be called from any thread.
class ConversionCache {
 public:
  // Results are kept as long as `share` has room for them. Null: none is kept, but callers that
  // want the same at the same time still share a call.
  explicit ConversionCache(std::shared_ptr<EvictingShare> share = nullptr)
      : share_(std::move(share)) {}

  // One caller's part in a conversion.
  struct Claim {
    std::shared_ptr<Conversion> conversion;
    bool leads = false;  // The caller must make it, and then call Finish() or GiveUp().
  };
  // Returns the conversion of `key`, which is finished, is being made, or is the caller's to make.
  Claim Take(const std::string& key);
  // Ends a conversion that the caller leads; waiting callers get the outcome. A content is kept if
  // `keep`.
  void Finish(const std::string& key, const Claim& claim, Conversion::Outcome outcome, bool keep);
  // Ends it without an outcome: a waiting caller makes it itself.
  void GiveUp(const std::string& key, const Claim& claim);

  // The number of conversions that are running or kept.
  std::size_t size() const { return conversions_.Lock()->size(); }

 private:
  using Conversions = std::map<std::string, std::shared_ptr<Conversion>, std::less<>>;
  using Dropped = std::vector<std::shared_ptr<Conversion>>;
  // Forgets evicted conversions once the map has grown to `sweep_at_`.
  void Sweep(Conversions& conversions, Dropped& dropped);
  void Forget(const std::string& key, const std::shared_ptr<Conversion>& conversion);

  static constexpr std::size_t kSweepMin = 256;
  const std::shared_ptr<EvictingShare> share_;
  Guarded<Conversions> conversions_;
  std::size_t sweep_at_ = kSweepMin;  // Changed with conversions_ locked.
};

}  // namespace apiserver::inline v0::apiextensions
