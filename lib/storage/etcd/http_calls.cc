#include "storage/etcd/http_calls.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::seconds kLeftAside{5};
constexpr std::chrono::seconds kDialMax{5};
// The time that a call without any gives the first dials.
constexpr std::chrono::milliseconds kSearchMin{250};
// The unread bytes of one answer at which a member is held back.
constexpr std::size_t kWindow = 4 << 20;

http::DialOptions DialOptionsOf(const HttpRpcOptions& options, const Endpoint& endpoint) {
  http::DialOptions dial{.host = endpoint.host,
                         .port = endpoint.port,
                         .connect_timeout = kDialMax,
                         .window_bytes = kWindow,
                         .ping_interval = options.keepalive_time,
                         .ping_timeout = options.keepalive_timeout,
                         // etcd closes connections that ask while nothing is in progress.
                         .ping_when_idle = false};
  if (endpoint.tls) dial.tls = options.tls;
  return dial;
}

}  // namespace

HttpCalls::HttpCalls(Executor& loop, http::Dialer& dialer, const HttpRpcOptions& options)
    : loop_(loop), token_(options.token) {
  for (const Endpoint& endpoint : options.endpoints) {
    const http::DialOptions dial = DialOptionsOf(options, endpoint);
    members_.push_back({.calls = std::make_shared<MemberLink>(dialer, dial),
                        .streams = std::make_shared<MemberLink>(dialer, dial)});
  }
}

void HttpCalls::Begin(const UnaryPtr& call) {
  if (call->over()) return;
  call->set_owner(shared_from_this());
  if (call->options().member) return SendTo(*call->options().member, call);
  if (SendToAny(call)) return;
  SetDue(*call, std::max(call->give_up_at(), RealClock().Now() + kSearchMin));
  parked_.push_back(call);
  for (std::size_t i = 0; i < members_.size(); ++i) Search(i);
}

void HttpCalls::OnRefused(UnaryPtr call) {
  loop_.Post([weak = weak_from_this(), call = std::move(call)] {
    if (const auto self = weak.lock()) self->Begin(call);
  });
}

// The turns begin at another member each time, so that calls are spread over all that are
// connected. One that has timed out a moment ago comes last. The others are dialled meanwhile.
bool HttpCalls::SendToAny(const UnaryPtr& call) {
  const std::size_t first = next_call_++;
  const auto now = RealClock().Now();
  std::size_t found = members_.size();
  bool suspect = true;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t at = (first + i) % members_.size();
    Member& member = members_[at];
    if (member.calls->connected() == nullptr) {
      member.calls->Connect();
    } else if (found == members_.size() || (suspect && now >= member.suspect_until)) {
      found = at;
      suspect = now < member.suspect_until;
    }
  }
  if (found == members_.size()) return false;
  Send(call, found, members_[found].calls->connected());
  return true;
}

void HttpCalls::SendTo(std::size_t member, const UnaryPtr& call) {
  SetDue(*call, call->options().deadline);
  members_[member].calls->Await([this, self = shared_from_this(), call, member](auto connection) {
    if (connection.ok()) return Send(call, member, *std::move(connection));
    call->GiveUp({RpcCode::kUnavailable, std::string(connection.status().message()), false});
  });
}

// A call that has waited too long is not sent: its write would happen behind the caller's back.
void HttpCalls::Send(const UnaryPtr& call, std::size_t member,
                     MemberLink::ConnectionPtr connection) {
  if (call->options().deadline <= RealClock().Now()) return call->Expire();
  call->member = member;
  SetDue(*call, call->options().deadline);
  call->Start(std::move(connection), call->options().without_token ? "" : Token());
}

void HttpCalls::OnOver(HttpUnary& call, RpcCode code) {
  due_.erase({call.due, &call});
  if (code == RpcCode::kDeadlineExceeded && call.started()) {
    members_[call.member].suspect_until = RealClock().Now() + kLeftAside;
  }
}

void HttpCalls::Search(std::size_t member) {
  if (std::exchange(members_[member].searched, true)) return;
  members_[member].calls->Await([weak = weak_from_this(), member](const auto& /*connection*/) {
    if (const auto self = weak.lock()) self->OnSearched(member);
  });
}

void HttpCalls::OnSearched(std::size_t member) {
  TryParked();
  members_[member].searched = !parked_.empty();
  if (parked_.empty()) return;
  (void)loop_.PostAfter(members_[member].calls->pause(), [weak = weak_from_this(), member] {
    const auto self = weak.lock();
    if (!self) return;
    self->members_[member].searched = false;
    if (!self->parked_.empty()) self->Search(member);
  });
}

void HttpCalls::TryParked() {
  std::vector<UnaryPtr> kept;
  for (const UnaryPtr& call : std::exchange(parked_, {})) {
    if (!call->over() && !SendToAny(call)) kept.push_back(call);
  }
  parked_.insert(parked_.end(), kept.begin(), kept.end());
}

RpcOutcome HttpCalls::NoneConnected() const {
  RpcOutcome outcome{RpcCode::kUnavailable, "no member is connected", /*sent=*/false};
  for (const Member& member : members_) {
    if (!member.calls->failure().ok()) outcome.message = member.calls->failure().message();
  }
  return outcome;
}

void HttpCalls::SetDue(HttpUnary& call, Clock::Monotonic due) {
  due_.erase({call.due, &call});
  call.due = due;
  if (call.over() || due == Clock::Monotonic::max()) return;
  due_.insert({due, &call});
  SweepAt(due);
}

void HttpCalls::SweepAt(Clock::Monotonic due) {
  if (due >= sweep_at_) return;
  sweep_at_ = due;
  (void)loop_.PostAfter(due - RealClock().Now(), [weak = weak_from_this(), due] {
    const auto self = weak.lock();
    if (!self || self->sweep_at_ != due) return;
    self->sweep_at_ = Clock::Monotonic::max();
    self->Sweep();
  });
}

void HttpCalls::Sweep() {
  const auto now = RealClock().Now();
  while (!due_.empty() && due_.begin()->first <= now) {
    const UnaryPtr call = due_.begin()->second->shared_from_this();
    if (call->started()) {
      call->Expire();
    } else {
      call->GiveUp(NoneConnected());
    }
  }
  if (!due_.empty()) SweepAt(due_.begin()->first);
}

void HttpCalls::Begin(const std::shared_ptr<HttpStream>& stream) {
  members_[MemberForStream()].streams->Await([self = shared_from_this(), stream](auto connection) {
    stream->Start(std::move(connection), self->Token());
  });
}

// A member that answers calls will take a stream, too.
std::size_t HttpCalls::MemberForStream() {
  const std::size_t first = next_stream_++;
  std::size_t found = first % members_.size();
  int best = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t at = (first + i) % members_.size();
    const int rank = members_[at].streams->connected() ? 2
                     : members_[at].calls->connected() ? 1
                                                       : 0;
    if (rank <= best) continue;
    best = rank;
    found = at;
  }
  return found;
}

void HttpCalls::End() {
  for (const UnaryPtr& call : std::exchange(parked_, {})) call->GiveUp(EndedOutcome());
  for (const Member& member : members_) {
    member.calls->End();
    member.streams->End();
  }
}

}  // namespace apiserver::v0::storage::etcd
