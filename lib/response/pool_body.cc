#include "response/pool_body.h"

#include <exception>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::v0::response {

namespace {

// Collects a turn's bytes as they are.
class PlainPacker final : public Packer {
 public:
  explicit PlainPacker(std::size_t turn_bytes) : turn_bytes_(turn_bytes) {}
  std::size_t room() const override { return turn_bytes_; }
  void Write(std::string_view copied) override { made_ += copied; }
  void Take(std::string owned) override {
    if (made_.empty()) {
      made_ = std::move(owned);
    } else {
      made_ += owned;
    }
  }
  void Write(std::shared_ptr<const void>, std::string_view shared) override { made_ += shared; }
  void Flush() override {}
  bool enough() const override { return made_.size() >= turn_bytes_; }
  bool failed() const override { return false; }
  std::string TakeMade() override { return std::exchange(made_, {}); }

 private:
  const std::size_t turn_bytes_;
  std::string made_;
};

// The state shared by the loop, which asks for bytes, and the pool, which makes them.
// Invariant: while `running`, only the pool uses body_ and packer_; otherwise only the loop does.
class PoolTurns final : public Wakeable, public std::enable_shared_from_this<PoolTurns> {
 public:
  PoolTurns(http::Exchange& exchange, std::unique_ptr<http::BodySource> body,
            std::unique_ptr<Packer> packer)
      : exchange_(exchange.Share()), body_(std::move(body)), packer_(std::move(packer)) {}

  // Called on the loop.
  http::Pull Next(http::ChunkWriter& out, const Waker& waker);
  void Abandon();
  void OnWake() override {
    Waker waker;
    {
      auto state = state_.Lock();
      state->news = true;
      waker = state->waker;
    }
    waker.Wake();
  }

 private:
  struct State {
    Waker waker;
    std::string ready;
    http::Pull pulled = http::Pull::kMore;  // The body's last result.
    std::exception_ptr thrown = nullptr;
    bool running = false;
    bool news = false;  // The body has woken this since the last turn began.
    bool abandoned = false;
  };

  http::Pull Work();
  void Run();

  // Kept as long as the pool may pull the body, which may use it.
  std::shared_ptr<http::Exchange> exchange_;
  Guarded<State> state_;
  // Used by the turn while one runs, else by the loop.
  std::unique_ptr<http::BodySource> body_;
  const std::unique_ptr<Packer> packer_;
};

// Hands over what is ready and starts the next turn, so that the pool works while the loop sends.
http::Pull PoolTurns::Next(http::ChunkWriter& out, const Waker& waker) {
  std::string ready;
  {
    auto state = state_.Lock();
    state->waker = waker;
    ready = std::exchange(state->ready, {});
  }
  if (!ready.empty()) out.Take(std::move(ready));
  {
    auto state = state_.Lock();
    if (state->running) return http::Pull::kWait;
    if (!state->ready.empty()) return http::Pull::kMore;
    if (state->thrown) std::rethrow_exception(state->thrown);
    if (state->pulled == http::Pull::kEnd || state->pulled == http::Pull::kAbort) {
      return state->pulled;
    }
    // The body had nothing and has not woken this since: a turn would find nothing either.
    if (state->pulled == http::Pull::kWait && !state->news) return http::Pull::kWait;
    state->running = true;
    state->news = false;
  }
  exchange_->pool().Post([self = shared_from_this()] { self->Run(); });
  return http::Pull::kWait;
}

// The body's owner is gone. A turn that runs destroys the body when it ends.
void PoolTurns::Abandon() {
  {
    auto state = state_.Lock();
    state->abandoned = true;
    if (state->running) return;
  }
  body_.reset();
  exchange_.reset();
}

// Runs on the pool, without the lock. Flushes before a pause, so that the client gets every event
// at once.
http::Pull PoolTurns::Work() {
  const Waker waker(exchange_->loop(), weak_from_this());
  http::Pull pulled = http::Pull::kAbort;
  do {
    pulled = body_->Next(*packer_, waker);
  } while (pulled == http::Pull::kMore && !packer_->enough());
  if (pulled != http::Pull::kMore) packer_->Flush();
  return packer_->failed() ? http::Pull::kAbort : pulled;
}

void PoolTurns::Run() {
  http::Pull pulled = http::Pull::kAbort;
  std::exception_ptr thrown;
  try {
    pulled = Work();
  } catch (...) {
    thrown = std::current_exception();
  }
  // The loop may have given up the body meanwhile; then this turn is its last owner.
  Waker waker;
  bool abandoned = false;
  {
    auto state = state_.Lock();
    state->ready += packer_->TakeMade();
    state->pulled = pulled;
    state->thrown = thrown;
    state->running = false;
    waker = state->waker;
    abandoned = state->abandoned;
  }
  if (!abandoned) return waker.Wake();
  // Bodies are destroyed on the loop.
  Executor& loop = exchange_->loop();
  loop.Post([body = std::move(body_), exchange = std::move(exchange_)]() mutable {
    body.reset();
    exchange.reset();
  });
}

class PoolBody final : public http::BodySource {
 public:
  explicit PoolBody(std::shared_ptr<PoolTurns> turns) : turns_(std::move(turns)) {}
  ~PoolBody() override { turns_->Abandon(); }
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    return turns_->Next(out, waker);
  }

 private:
  std::shared_ptr<PoolTurns> turns_;
};

}  // namespace

std::unique_ptr<http::BodySource> NewPoolBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body,
                                              std::unique_ptr<Packer> packer) {
  return std::make_unique<PoolBody>(
      std::make_shared<PoolTurns>(exchange, std::move(body), std::move(packer)));
}

std::unique_ptr<http::BodySource> NewPoolBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body,
                                              std::size_t turn_bytes) {
  return NewPoolBody(exchange, std::move(body), std::make_unique<PlainPacker>(turn_bytes));
}

}  // namespace apiserver::v0::response
