#include "apiserver/proxy/pipes.h"

#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::v0::proxy {
namespace {

class PipeSet final : public Pipes, public std::enable_shared_from_this<PipeSet> {
 public:
  explicit PipeSet(const PipeLimits& limits) : limits_(limits) {}

  Result<std::unique_ptr<Place>> Enter(std::string_view user) override;
  std::size_t open() const override { return state_.Lock()->open; }
  void CloseAll() override;
  const PipeLimits& limits() const override { return limits_; }

  void Leave(std::size_t number, const std::string& user);
  // Returns `close` if the pipe must close at once.
  UniqueFunction<void()> SetClose(std::size_t number, UniqueFunction<void()> close);

 private:
  struct State {
    std::size_t open = 0;
    std::size_t next_number = 0;
    bool closing = false;
    std::unordered_map<std::string, std::size_t> by_user;
    std::unordered_map<std::size_t, UniqueFunction<void()>> closers;
  };

  const PipeLimits limits_;
  Guarded<State> state_;
};

class PipePlace final : public Pipes::Place {
 public:
  PipePlace(std::shared_ptr<PipeSet> set, std::size_t number, std::string user)
      : set_(std::move(set)), number_(number), user_(std::move(user)) {}
  ~PipePlace() override { set_->Leave(number_, user_); }
  void OnClose(UniqueFunction<void()> close) override {
    if (auto now = set_->SetClose(number_, std::move(close))) now();
  }

 private:
  const std::shared_ptr<PipeSet> set_;
  const std::size_t number_;
  const std::string user_;
};

Result<std::unique_ptr<Pipes::Place>> PipeSet::Enter(std::string_view user) {
  std::size_t number = 0;
  {
    auto state = state_.Lock();
    if (state->closing) {
      return Status(Reason::kServiceUnavailable, "the server is shutting down");
    }
    if (state->open >= limits_.pipes_max) {
      return Status(Reason::kServiceUnavailable, "too many upgraded connections, please try again")
          .WithDetails({.retry_after_seconds = 1});
    }
    std::size_t& of_user = state->by_user[std::string(user)];
    if (of_user >= limits_.pipes_per_user_max) {
      return Status(Reason::kTooManyRequests,
                    "too many upgraded connections of this user, please try again")
          .WithDetails({.retry_after_seconds = 1});
    }
    ++of_user;
    ++state->open;
    number = state->next_number++;
  }
  return std::make_unique<PipePlace>(shared_from_this(), number, std::string(user));
}

void PipeSet::Leave(std::size_t number, const std::string& user) {
  auto state = state_.Lock();
  --state->open;
  const auto found = state->by_user.find(user);
  if (--found->second == 0) state->by_user.erase(found);
  state->closers.erase(number);
}

UniqueFunction<void()> PipeSet::SetClose(std::size_t number, UniqueFunction<void()> close) {
  auto state = state_.Lock();
  if (state->closing) return close;
  state->closers[number] = std::move(close);
  return nullptr;
}

// The closers are called without the lock: a pipe that ends takes it.
void PipeSet::CloseAll() {
  std::unordered_map<std::size_t, UniqueFunction<void()>> closers;
  {
    auto state = state_.Lock();
    state->closing = true;
    closers.swap(state->closers);
  }
  for (auto& [number, close] : closers) close();
}

}  // namespace

std::shared_ptr<Pipes> NewPipes(const PipeLimits& limits) {
  return std::make_shared<PipeSet>(limits);
}

std::shared_ptr<Pipes> NewUnlimitedPipes() {
  constexpr auto kUnlimited = std::numeric_limits<std::size_t>::max();
  return NewPipes({.pipes_max = kUnlimited, .pipes_per_user_max = kUnlimited});
}

}  // namespace apiserver::v0::proxy
