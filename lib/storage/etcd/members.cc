#include "storage/etcd/members.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "storage/etcd/convert.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::seconds kBetweenRounds{30};
constexpr std::chrono::seconds kRoundMax{5};

struct VersionNumbers {
  int major = 0;
  int minor = 0;
  int patch = 0;
};

// Parses "3.5.13". nullopt: it is no version.
std::optional<VersionNumbers> NumbersOf(std::string_view version) {
  VersionNumbers numbers;
  for (int* const number : {&numbers.major, &numbers.minor, &numbers.patch}) {
    const auto [end, error] =
        std::from_chars(version.data(), version.data() + version.size(), *number);
    if (error != std::errc()) return std::nullopt;
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (version.starts_with('.')) version.remove_prefix(1);
  }
  // A pre-release of a version is older than the release.
  if (version.starts_with('-')) --numbers.patch;
  return numbers;
}

}  // namespace

bool IsSupported(std::string_view version) {
  const auto numbers = NumbersOf(version);
  return numbers && (numbers->major > 3 || (numbers->major == 3 && numbers->minor >= 4));
}

bool TellsTrueProgress(std::string_view version) {
  const auto numbers = NumbersOf(version);
  if (!numbers) return false;
  const auto [major, minor, patch] = *numbers;
  // Earlier releases may promise events that are still to come (kubernetes #123192); the versions
  // are those of FeatureSupportChecker in k8s.io/apiserver.
  if (major != 3) return major > 3;
  if (minor == 4) return patch >= 31;
  if (minor == 5) return patch >= 13;
  return minor > 5;
}

void Members::Ask(Clock::Monotonic deadline, UniqueFunction<void(Status)> done) {
  const std::size_t members = client_->rpc().members();
  const auto round = std::make_shared<Guarded<Round>>();
  round->Lock()->left = members;
  round->Lock()->done = std::move(done);
  for (std::size_t i = 0; i < members; ++i) {
    client_->Call<wire::StatusResponse>(
        kStatusMethod, wire::StatusRequest(), {.deadline = deadline, .retry = false, .member = i},
        [self = shared_from_this(), i, round](const RpcOutcome& outcome,
                                              const wire::StatusResponse& response) {
          // A member that does not report the bytes in use counts with its whole file.
          const std::int64_t used =
              response.db_size_in_use() > 0 ? response.db_size_in_use() : response.db_size();
          self->OnAnswer(i, round, outcome, response.version(),
                         {.used = static_cast<std::size_t>(used),
                          .file = static_cast<std::size_t>(response.db_size())});
        });
  }
}

void Members::OnAnswer(std::size_t member, const std::shared_ptr<Guarded<Round>>& round,
                       const RpcOutcome& outcome, std::string_view version, const Bytes& bytes) {
  // A member that is away keeps its figures: it will not have become older.
  if (outcome.ok()) {
    auto state = state_.Lock();
    (*state)[member] = {TellsTrueProgress(version), bytes};
  }
  UniqueFunction<void(Status)> done;
  Status status;
  {
    auto now = round->Lock();
    if (outcome.ok()) {
      now->answered = true;
    } else {
      now->failure = client_->StatusOf(outcome);
    }
    if (--now->left > 0) return;
    done = std::move(now->done);
    if (!now->answered) status = now->failure;
  }
  // Only if all members are trusted: a stream may be opened on any of them.
  bool all = false;
  {
    auto state = state_.Lock();
    all = std::all_of(state->begin(), state->end(), [](const Member& m) { return m.trusted; });
  }
  on_trust_(all);
  done(status);
}

void Members::Watch() {
  client_->timers().After(kBetweenRounds, [self = shared_from_this()] {
    if (self->client_->stopped()) return;
    self->Ask(RealClock().Now() + kRoundMax, [self](const Status&) { self->Watch(); });
  });
}

Members::Bytes Members::bytes() const {
  auto state = state_.Lock();
  Bytes most;
  for (const Member& member : *state) {
    most.used = std::max(most.used, member.bytes.used);
    most.file = std::max(most.file, member.bytes.file);
  }
  return most;
}

}  // namespace apiserver::v0::storage::etcd
