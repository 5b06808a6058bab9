#include "storage/etcd/pages.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/status_macros.h"
#include "storage/etcd/call_slot.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/range_message.h"
#include "storage/kv/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

// The calls. The one that is on its way keeps this alive.
class PageCalls final : public std::enable_shared_from_this<PageCalls> {
 public:
  PageCalls(std::shared_ptr<Client> client, const Context& ctx, const PagesOptions& options)
      : client_(std::move(client)),
        end_(kv::PrefixEnd(options.prefix)),
        deadline_(ctx.deadline().value_or(Clock::Monotonic::max())),
        timeout_(options.timeout) {
    auto state = state_.Lock();
    // etcd has no empty key, not even as the beginning of a range.
    state->from = options.prefix.empty() ? std::string(1, '\0') : std::string(options.prefix);
    state->size = options.size;
  }

  // Asks for a page, unless one is on its way or enough have not been taken.
  void Ask();
  void Cancel() { slot_.Cancel(); }
  // Waits for the next answer. nullopt: there is no more.
  Result<std::optional<std::string>> Take();
  Status StatusOf(const RpcOutcome& outcome) const { return client_->StatusOf(outcome); }

 private:
  static constexpr std::size_t kPagesMax = 2;

  struct State {
    std::string from;     // The next page begins here.
    kv::Revision at = 0;  // The revision of all pages; zero: the first has not arrived.
    PageSize size;        // Of the next page.
    bool asking = false;  // A page is on its way.
    bool over = false;    // None follows.
    Status failure;       // The reason why none follows, if it is one.
    std::deque<std::string> arrived;
  };

  Result<std::optional<std::string>> TakeArrived();
  void OnAnswer(const RpcOutcome& outcome, std::string answer);
  void Add(State& state, std::string answer) const;
  Status FailureOf(const RpcOutcome& outcome, kv::Revision at) const;

  const std::shared_ptr<Client> client_;
  const std::string end_;
  const Clock::Monotonic deadline_;
  const std::chrono::milliseconds timeout_;
  CallSlot slot_;
  Guarded<State> state_;
};

void PageCalls::Ask() {
  wire::RangeRequest page;
  std::size_t bytes_max = 0;
  {
    auto state = state_.Lock();
    if (state->over || state->asking || state->arrived.size() >= kPagesMax) return;
    state->asking = true;
    page.set_key(state->from);
    page.set_limit(static_cast<std::int64_t>(state->size.keys()));
    page.set_revision(state->at);
    bytes_max = state->size.limits().bytes_max;
  }
  page.set_range_end(end_);
  slot_.Run([&] {
    return client_->Call(
        kRangeMethod, page.SerializeAsString(),
        {.deadline = std::min(deadline_, RealClock().Now() + timeout_),
         .retry = true,
         .member = {},
         .response_bytes_max = bytes_max},
        [self = shared_from_this()](const RpcOutcome& outcome, std::string answer) {
          self->OnAnswer(outcome, std::move(answer));
        });
  });
}

void PageCalls::OnAnswer(const RpcOutcome& outcome, std::string answer) {
  {
    auto state = state_.Lock();
    state->asking = false;
    if (outcome.ok()) {
      Add(*state, std::move(answer));
    } else if (outcome.code != RpcCode::kDataLoss || !state->size.TooLong()) {
      state->over = true;
      state->failure = FailureOf(outcome, state->at);
    }
  }
  state_.NotifyAll();
  Ask();
}

// Only the last key is looked at: the rest waits for the reader.
void PageCalls::Add(State& state, std::string answer) const {
  auto outline = OutlineOf(answer);
  if (!outline) {
    state.over = true;
    state.failure = StatusOf(NotReadableOutcome());
    return;
  }
  client_->known().SawRevision(outline->revision);
  // All pages are read at the revision of the first, so that they are of one moment.
  if (state.at == 0) state.at = outline->revision;
  state.over = !outline->more || outline->keys == 0;
  state.from = std::move(outline->last_key) + '\0';
  state.size.Took(outline->keys, answer.size(),
                  outline->count - std::min(outline->count, outline->keys));
  state.arrived.push_back(std::move(answer));
}

Status PageCalls::FailureOf(const RpcOutcome& outcome, kv::Revision at) const {
  const Known& known = client_->known();
  if (IsCompacted(outcome)) return kv::NewCompactedError(at, known.compacted());
  if (IsFutureRevision(outcome)) return kv::NewFutureRevisionError(at, known.revision());
  return StatusOf(outcome);
}

Result<std::optional<std::string>> PageCalls::Take() {
  auto taken = TakeArrived();
  Ask();
  return taken;
}

Result<std::optional<std::string>> PageCalls::TakeArrived() {
  auto state = state_.Lock();
  state.Wait([&state] { return state->over || !state->arrived.empty(); });
  std::optional<std::string> answer;
  if (state->arrived.empty()) {
    RETURN_IF_ERROR(state->failure);
    return answer;
  }
  answer = std::move(state->arrived.front());
  state->arrived.pop_front();
  return answer;
}

class EtcdPages final : public kv::Pages {
 public:
  EtcdPages(std::shared_ptr<PageCalls> calls, const Context& ctx)
      : calls_(std::move(calls)),
        ctx_(ctx),
        cancel_(ctx.OnDone([calls = calls_] { calls->Cancel(); })) {
    calls_->Ask();
  }
  ~EtcdPages() override { calls_->Cancel(); }

  Result<std::optional<kv::RangeResponse>> Next() override {
    if (!ctx_.may_block()) return Status(Reason::kWouldBlock, "etcd has to be asked");
    auto answer = calls_->Take();
    if (!answer.ok()) RETURN_IF_ERROR(ctx_.Err());
    ASSIGN_OR_RETURN(const std::optional<std::string> message, std::move(answer));
    if (!message) return std::optional<kv::RangeResponse>();
    return Read(*message);
  }

 private:
  Result<std::optional<kv::RangeResponse>> Read(std::string_view message) const {
    auto page = ReadRange(message, /*with_values=*/true);
    if (!page) return calls_->StatusOf(NotReadableOutcome());
    return page;
  }

  const std::shared_ptr<PageCalls> calls_;
  const Context ctx_;
  const Context::Registration cancel_;
};

}  // namespace

std::unique_ptr<kv::Pages> NewPages(std::shared_ptr<Client> client, const Context& ctx,
                                    const PagesOptions& options) {
  return std::make_unique<EtcdPages>(std::make_shared<PageCalls>(std::move(client), ctx, options),
                                     ctx);
}

}  // namespace apiserver::v0::storage::etcd
