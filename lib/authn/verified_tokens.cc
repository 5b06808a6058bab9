#include "authn/verified_tokens.h"

#include <utility>

namespace apiserver::v0::authn {

std::shared_ptr<const Jwt> VerifiedTokens::Find(const Keys& keys, const std::string& hash) {
  const auto state = state_.Lock();
  if (state->keys != keys) return nullptr;
  if (const auto found = state->newer.find(hash); found != state->newer.end()) {
    return found->second;
  }
  const auto found = state->older.find(hash);
  if (found == state->older.end()) return nullptr;
  std::shared_ptr<const Jwt> token = found->second;
  Add(*state, hash, token);
  return token;
}

void VerifiedTokens::Store(const Keys& keys, const std::string& hash,
                           std::shared_ptr<const Jwt> token) {
  const auto state = state_.Lock();
  // A token of keys that were replaced meanwhile makes the next ones be verified again, no more.
  if (state->keys != keys) *state = State{.keys = keys};
  Add(*state, hash, std::move(token));
}

void VerifiedTokens::Add(State& state, const std::string& hash,
                         std::shared_ptr<const Jwt> token) const {
  if (state.newer.size() >= generation_max_) state.older = std::exchange(state.newer, {});
  state.newer.insert_or_assign(hash, std::move(token));
}

}  // namespace apiserver::v0::authn
