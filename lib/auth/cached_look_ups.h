#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "apiserver/auth/look_up.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::auth {

// A cache of answers from another server; the least recently used go first. Requests that ask the
// same at the same time share one look-up. As k8s.io/apiserver/pkg/authentication/token/cache. All
// methods may be called from any thread.
template <class T>
class CachedLookUps {
 public:
  using Answer = Result<T>;
  using Done = UniqueFunction<void(Answer)>;
  // Starts a look-up without waiting; `done` may be called on any thread.
  using Ask = UniqueFunction<void(Done done)>;

  struct Options {
    std::size_t entries_max = 8192;
    const Clock* clock = &RealClock();
    // The time for which an answer is kept. Zero: it is given to the requests that wait, and
    // forgotten.
    std::function<std::chrono::nanoseconds(const Answer&)> lifetime;
  };
  explicit CachedLookUps(Options options) : state_(std::make_shared<State>(std::move(options))) {}

  // kWouldBlock: the look-up was started, here or before, and `ctx`'s Waiting has it; without a
  // Waiting nothing is started, since an answer that is not kept would be lost. Waits if `ctx` may.
  // kTimeout: `ctx` was done first. `from_cache`, if not null, is set to whether the answer was
  // there before any request waited.
  Answer Get(const Context& ctx, const std::string& key, Ask ask, bool* from_cache = nullptr) {
    if (from_cache) *from_cache = false;
    const WaitingPtr* const waiting = ctx.Get<WaitingPtr>();
    if (waiting && *waiting) {
      LookUp* const known = (*waiting)->Find(state_.get(), key);
      if (known && known->done()) return *static_cast<Question*>(known)->answer;
    }
    if (std::optional<Answer> answer = state_->Find(key)) {
      if (from_cache) *from_cache = true;
      return std::move(*answer);
    }
    if (!ctx.may_block() && !(waiting && *waiting)) {
      return Status(Reason::kWouldBlock, "a look-up is needed");
    }
    const std::shared_ptr<Question> question = Join(key, std::move(ask));
    if (!ctx.may_block()) {
      // Answered questions are added too: the request runs again for its next question, and would
      // otherwise ask for an answer that is not cached once more.
      (*waiting)->Add(question);
      if (question->done()) return *question->answer;
      return Status(Reason::kWouldBlock, "a look-up is under way");
    }
    if (Status waited = question->Wait(ctx); !waited.ok()) return waited;
    return *question->answer;
  }

 private:
  struct Question final : LookUp {
    using LookUp::LookUp;
    void Set(Answer value) {
      answer = std::move(value);
      Finish();
    }
    std::optional<Answer> answer;
  };

  struct Entry {
    std::string key;
    Answer answer;
    Clock::Monotonic until;
  };

  // Outlives the cache while a look-up is in flight.
  struct State {
    explicit State(Options given) : options(std::move(given)) {}

    std::optional<Answer> Find(const std::string& key) {
      const auto locked = entries.Lock();
      const auto found = locked->by_key.find(key);
      if (found == locked->by_key.end()) return std::nullopt;
      if (found->second->until <= options.clock->Now()) {
        locked->recent.erase(found->second);
        locked->by_key.erase(found);
        return std::nullopt;
      }
      locked->recent.splice(locked->recent.begin(), locked->recent, found->second);
      return found->second->answer;
    }

    void Store(const std::string& key, const Answer& answer) {
      const auto lifetime = options.lifetime(answer);
      const auto locked = entries.Lock();
      locked->under_way.erase(key);
      if (lifetime <= lifetime.zero()) return;
      if (const auto old = locked->by_key.find(key); old != locked->by_key.end()) {
        locked->recent.erase(old->second);
        locked->by_key.erase(old);
      }
      locked->recent.push_front({key, answer, options.clock->Now() + lifetime});
      locked->by_key.emplace(key, locked->recent.begin());
      if (locked->by_key.size() <= options.entries_max) return;
      locked->by_key.erase(locked->recent.back().key);
      locked->recent.pop_back();
    }

    struct Entries {
      std::list<Entry> recent;
      std::unordered_map<std::string, typename std::list<Entry>::iterator> by_key;
      std::unordered_map<std::string, std::shared_ptr<Question>> under_way;
    };
    const Options options;
    Guarded<Entries> entries;
  };

  // Returns the look-up in flight, or starts one.
  std::shared_ptr<Question> Join(const std::string& key, Ask ask) {
    std::shared_ptr<Question> question;
    {
      const auto locked = state_->entries.Lock();
      auto& under_way = locked->under_way[key];
      if (under_way) return under_way;
      under_way = question = std::make_shared<Question>(state_.get(), key);
    }
    ask([state = state_, question](Answer answer) {
      state->Store(question->key(), answer);
      question->Set(std::move(answer));
    });
    return question;
  }

  std::shared_ptr<State> state_;
};

}  // namespace apiserver::inline v0::auth
