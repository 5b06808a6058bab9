#include "apiextensions/convert/cache.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace apiserver::v0::apiextensions {

namespace {

// How long a caller waits before it looks again whether its deadline has passed. The conversion
// that it waits for ends in time of its own.
constexpr auto kLookAgain = std::chrono::seconds(31);

}  // namespace

// A cryptographic hash, since clients choose the content: nobody can make two objects that share a
// result.
std::string ConversionKey(std::string_view object_json, std::string_view version) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(object_json.data()), object_json.size(),
         digest.data());
  std::string key(reinterpret_cast<const char*>(digest.data()), digest.size());
  key += version;
  return key;
}

Conversion::~Conversion() {
  if (share_ != nullptr) share_->Remove(*this);
}

// Runs under the lock of the share.
void Conversion::Evict() {
  State evicted{.step = Step::kEvicted, .error = {}, .content = nullptr};
  std::swap(*state_.Lock(), evicted);
}

void Conversion::Set(State state) {
  *state_.Lock() = std::move(state);
  state_.NotifyAll();
}

std::optional<Conversion::Outcome> Conversion::Wait(const Context& ctx, const Clock& clock) const {
  // Takes the lock, so that the wake-up cannot fall between the check and the wait.
  const auto registration = ctx.OnDone([this] {
    { const auto state = state_.Lock(); }
    const_cast<Guarded<State>&>(state_).NotifyAll();
  });
  auto state = state_.Lock();
  Clock::Monotonic::duration left = kLookAgain;
  if (const auto deadline = ctx.deadline()) left = std::min(left, *deadline - clock.Now());
  state.WaitUntil(RealClock().Now() + left,
                  [&] { return state->step != Step::kRunning || ctx.done(); });
  if (state->step != Step::kDone) return std::nullopt;
  if (!state->error.ok()) return Outcome(state->error);
  return Outcome(state->content);
}

ConversionCache::Claim ConversionCache::Take(const std::string& key) {
  Dropped dropped;  // Destroyed after the lock is released.
  auto conversions = conversions_.Lock();
  std::shared_ptr<Conversion>& there = (*conversions)[key];
  if (there != nullptr) {
    const Conversion::Step step = there->Get().step;
    if (step == Conversion::Step::kDone) there->Touch();
    if (step == Conversion::Step::kDone || step == Conversion::Step::kRunning) return {there};
  }
  dropped.push_back(std::exchange(there, std::make_shared<Conversion>(share_)));
  Claim claim{there, /*leads=*/true};
  if (conversions->size() >= sweep_at_) Sweep(*conversions, dropped);
  return claim;
}

// The size of the map doubles before it is swept again, so that adding one costs the same on
// average.
void ConversionCache::Sweep(Conversions& conversions, Dropped& dropped) {
  std::erase_if(conversions, [&](auto& entry) {
    if (entry.second->Get().step != Conversion::Step::kEvicted) return false;
    dropped.push_back(std::move(entry.second));
    return true;
  });
  sweep_at_ = std::max(kSweepMin, 2 * conversions.size());
}

void ConversionCache::Forget(const std::string& key,
                             const std::shared_ptr<Conversion>& conversion) {
  auto conversions = conversions_.Lock();
  const auto at = conversions->find(key);
  if (at != conversions->end() && at->second == conversion) conversions->erase(at);
}

// The result is counted after it is there for others: the share may evict it at once.
void ConversionCache::Finish(const std::string& key, const Claim& claim,
                             Conversion::Outcome outcome, bool keep) {
  Conversion& conversion = *claim.conversion;
  keep = keep && outcome.ok() && share_ != nullptr;
  if (!keep) Forget(key, claim.conversion);
  const std::size_t bytes =
      keep ? (*outcome)->arena.bytes_reserved() + key.size() + sizeof(Conversion) : 0;
  conversion.Set({.step = Conversion::Step::kDone,
                  .error = outcome.status(),
                  .content = outcome.ok() ? *std::move(outcome) : nullptr});
  if (keep) share_->Add(conversion, bytes);
}

void ConversionCache::GiveUp(const std::string& key, const Claim& claim) {
  Forget(key, claim.conversion);
  claim.conversion->Set({.step = Conversion::Step::kGivenUp, .error = {}, .content = nullptr});
}

}  // namespace apiserver::v0::apiextensions
