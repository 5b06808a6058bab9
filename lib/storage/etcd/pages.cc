#include "storage/etcd/pages.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/status_macros.h"
#include "storage/etcd/call_slot.h"
#include "storage/etcd/convert.h"
#include "storage/kv/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

using google::protobuf::internal::WireFormatLite;

// All of a wire::RangeResponse but its key-values.
struct Outline {
  kv::Revision revision = 0;
  bool more = false;
  std::size_t count = 0;
};

bool Parse(std::string_view bytes, google::protobuf::MessageLite& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Walks through a wire::RangeResponse; `see` gets the bytes of each key-value, and says whether to
// go on. nullopt: it cannot be read.
template <class See>
std::optional<Outline> Walk(std::string_view message, See see) {
  constexpr auto kBytes = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                                            static_cast<int>(message.size()));
  const auto take = [&](std::string_view& bytes) {
    std::uint32_t size = 0;
    if (!in.ReadVarint32(&size)) return false;
    bytes = message.substr(static_cast<std::size_t>(in.CurrentPosition()), size);
    return in.Skip(static_cast<int>(size)) && bytes.size() == size;
  };
  wire::ResponseHeader header;
  std::uint64_t more = 0;
  std::uint64_t count = 0;
  while (const std::uint32_t tag = in.ReadTag()) {
    bool read = false;
    std::string_view bytes;
    switch (tag) {
      case WireFormatLite::MakeTag(wire::RangeResponse::kKvsFieldNumber, kBytes):
        read = take(bytes) && see(bytes);
        break;
      case WireFormatLite::MakeTag(wire::RangeResponse::kHeaderFieldNumber, kBytes):
        read = take(bytes) && Parse(bytes, header);
        break;
      case WireFormatLite::MakeTag(wire::RangeResponse::kMoreFieldNumber, kVarint):
        read = in.ReadVarint64(&more);
        break;
      case WireFormatLite::MakeTag(wire::RangeResponse::kCountFieldNumber, kVarint):
        read = in.ReadVarint64(&count);
        break;
      default:
        read = WireFormatLite::SkipField(&in, tag);
    }
    if (!read) return std::nullopt;
  }
  if (!in.ConsumedEntireMessage()) return std::nullopt;
  return Outline{header.revision(), more != 0, static_cast<std::size_t>(count)};
}

RpcOutcome NotReadable() { return {RpcCode::kDataLoss, "the answer cannot be read"}; }

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
  std::size_t keys = 0;
  std::string_view last;
  const auto outline = Walk(answer, [&](std::string_view bytes) {
    ++keys;
    last = bytes;
    return true;
  });
  wire::KeyValue kv;
  if (!outline || !Parse(last, kv)) {
    state.over = true;
    state.failure = StatusOf(NotReadable());
    return;
  }
  client_->known().SawRevision(outline->revision);
  // All pages are read at the revision of the first, so that they are of one moment.
  if (state.at == 0) state.at = outline->revision;
  state.over = !outline->more || keys == 0;
  state.from = std::move(*kv.mutable_key()) + '\0';
  state.size.Took(keys, answer.size(), outline->count - std::min(outline->count, keys));
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
    kv::RangeResponse page;
    wire::KeyValue kv;
    const auto outline = Walk(message, [&](std::string_view bytes) {
      if (!Parse(bytes, kv)) return false;
      page.kvs.push_back(ToKeyValue(kv, /*with_value=*/true));
      return true;
    });
    if (!outline) return calls_->StatusOf(NotReadable());
    page.more = outline->more;
    page.count = outline->count;
    page.revision = outline->revision;
    return std::optional(std::move(page));
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
