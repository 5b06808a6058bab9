#include "storage/etcd/pages.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "storage/etcd/call_slot.h"
#include "storage/etcd/convert.h"
#include "storage/etcd/key_stride.h"
#include "storage/etcd/range_message.h"
#include "storage/kv/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

// The calls. Those that are on their way keep this alive.
class PageCalls final : public std::enable_shared_from_this<PageCalls> {
 public:
  PageCalls(std::shared_ptr<Client> client, const Context& ctx, const PagesOptions& options)
      : client_(std::move(client)),
        deadline_(ctx.deadline().value_or(Clock::Monotonic::max())),
        timeout_(options.timeout),
        state_(options) {}

  // Asks for pages, unless enough are on their way or have not been taken.
  void Ask();
  void Cancel() {
    for (CallSlot& slot : slots_) slot.Cancel();
  }
  // Waits for the next answer. nullopt: there is no more.
  Result<std::optional<std::string>> Take();
  Status StatusOf(const RpcOutcome& outcome) const { return client_->StatusOf(outcome); }

 private:
  static constexpr std::size_t kPagesMax = 3;
  static constexpr std::size_t kCallsMax = 2;

  // Keys that have not been read: those of one page, or more if nobody could tell where to cut.
  struct Part {
    std::string from;
    std::string end;
    KeyStride::Part guess;
  };

  struct State {
    explicit State(const PagesOptions& options)
        // etcd has no empty key, not even as the beginning of a range.
        : parts{{options.prefix.empty() ? std::string(1, '\0') : std::string(options.prefix),
                 kv::PrefixEnd(options.prefix),
                 {}}},
          size(options.size),
          stride(options.prefix.size()) {}

    std::vector<Part> parts;               // Not asked for. The last one is the next.
    std::array<bool, kCallsMax> asking{};  // By slot.
    std::size_t on_their_way = 0;
    kv::Revision at = 0;    // The revision of all pages; zero: the first has not arrived.
    std::size_t count = 0;  // All keys in that revision.
    std::size_t keys = 0;   // Those that have arrived.
    PageSize size;          // Of the next page.
    KeyStride stride;
    Status failure;  // The reason why no page follows.
    std::deque<std::string> arrived;

    bool over() const { return !failure.ok() || (parts.empty() && on_their_way == 0); }
  };

  // One call of a slot.
  struct Call {
    std::size_t slot = 0;
    Part part;
    wire::RangeRequest request;
    std::size_t bytes_max = 0;
  };

  std::optional<Call> NextCall();
  static Part TakePart(State& state);
  Result<std::optional<std::string>> TakeArrived();
  void OnAnswer(const Call& call, const RpcOutcome& outcome, std::string answer);
  void Add(State& state, const Part& part, std::string answer) const;
  static void Learn(State& state, const Part& part, const RangeOutline& outline);
  Status FailureOf(const RpcOutcome& outcome, kv::Revision at) const;

  const std::shared_ptr<Client> client_;
  const Clock::Monotonic deadline_;
  const std::chrono::milliseconds timeout_;
  std::array<CallSlot, kCallsMax> slots_;
  Guarded<State> state_;
};

void PageCalls::Ask() {
  while (auto call = NextCall()) {
    const std::size_t slot = call->slot;
    slots_[slot].Run([&] {
      return client_->Call(
          kRangeMethod, call->request.SerializeAsString(),
          {.deadline = std::min(deadline_, RealClock().Now() + timeout_),
           .retry = true,
           .member = {},
           .response_bytes_max = call->bytes_max},
          [self = shared_from_this(), call = *call](const RpcOutcome& outcome, std::string answer) {
            self->OnAnswer(call, outcome, std::move(answer));
          });
    });
  }
}

std::optional<PageCalls::Call> PageCalls::NextCall() {
  auto state = state_.Lock();
  const auto slot = std::find(state->asking.begin(), state->asking.end(), false);
  if (state->parts.empty() || !state->failure.ok() || slot == state->asking.end() ||
      state->on_their_way + state->arrived.size() >= kPagesMax) {
    return std::nullopt;
  }
  *slot = true;
  ++state->on_their_way;
  Call call;
  call.slot = static_cast<std::size_t>(slot - state->asking.begin());
  call.part = TakePart(*state);
  call.request.set_key(call.part.from);
  call.request.set_range_end(call.part.end);
  call.request.set_limit(static_cast<std::int64_t>(state->size.keys()));
  call.request.set_revision(state->at);
  call.bytes_max = state->size.limits().bytes_max;
  return call;
}

// Cuts off a quarter of what fits a page, if that can be guessed: where it holds more than that, it
// still is one page. Few keys are not worth another call.
PageCalls::Part PageCalls::TakePart(State& state) {
  Part part = std::move(state.parts.back());
  state.parts.pop_back();
  part.guess = {};
  if (state.count - std::min(state.count, state.keys) <= state.size.limits().last) return part;
  part.guess = state.stride.Cut(part.from, std::max<std::size_t>(state.size.keys() / 4, 1));
  // "\0": no end.
  const bool before_end = part.end == std::string(1, '\0') || part.guess.end < part.end;
  if (part.guess.end.empty() || !before_end) {
    part.guess = {};
    return part;
  }
  state.parts.push_back({part.guess.end, std::exchange(part.end, part.guess.end), {}});
  return part;
}

void PageCalls::OnAnswer(const Call& call, const RpcOutcome& outcome, std::string answer) {
  {
    auto state = state_.Lock();
    state->asking[call.slot] = false;
    --state->on_their_way;
    if (outcome.ok()) {
      Add(*state, call.part, std::move(answer));
    } else if (outcome.code == RpcCode::kDataLoss && call.request.limit() > 1) {
      // The other call may have told it already.
      if (static_cast<std::int64_t>(state->size.keys()) >= call.request.limit()) {
        (void)state->size.TooLong();
      }
      state->parts.push_back(call.part);
    } else if (state->failure.ok()) {
      state->failure = FailureOf(outcome, state->at);
    }
  }
  state_.NotifyAll();
  Ask();
}

// Only the outermost keys are looked at: the rest waits for the reader.
void PageCalls::Add(State& state, const Part& part, std::string answer) const {
  const auto outline = OutlineOf(answer);
  if (!outline) {
    state.failure = StatusOf(NotReadableOutcome());
    return;
  }
  client_->known().SawRevision(outline->revision);
  // All pages are read at the revision of the first, so that they are of one moment.
  const bool first = state.at == 0;
  if (first) state.at = outline->revision;
  if (first) state.count = outline->count;
  state.keys += outline->keys;
  if (outline->keys > 0) {
    state.size.Took(outline->keys, answer.size(), state.count - std::min(state.count, state.keys));
  }
  Learn(state, part, *outline);
  if (outline->more && outline->keys > 0) {
    state.parts.push_back({outline->last_key + '\0', part.end, {}});
  }
  // Nothing is where no part has been.
  if (state.keys >= state.count) state.parts.clear();
  if (first || outline->keys > 0) state.arrived.push_back(std::move(answer));
}

void PageCalls::Learn(State& state, const Part& part, const RangeOutline& outline) {
  if (!part.guess.end.empty()) state.stride.Learn(part.guess, outline.count);
  // A part with more keys than a page is cut by what is seen of them.
  if (outline.more) state.stride.Learn(outline.first_key, outline.last_key, outline.keys);
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
  state.Wait([&state] { return state->over() || !state->arrived.empty(); });
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
