#include "faults/members_clients.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/random.h"

namespace apiserver::inline v0::faults {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using WriteOutcome = MemberWrite::Outcome;

constexpr milliseconds kWatchGlance{50};
constexpr milliseconds kBeforeReopening{100};
constexpr std::int64_t kValuesOfWriter = 1'000'000'000;
// Of a hundred writes to a key that is believed to be there.
constexpr std::uint64_t kDeletes = 12;

class Writer {
 public:
  Writer(WriteTarget& target, Scoreboard& scores, const WriterOptions& options)
      : target_(target),
        scores_(scores),
        options_(options),
        random_(NewSeededRandom(options.seed * 100 + options.writer)),
        there_(options.keys),
        value_(static_cast<std::int64_t>(options.writer + 1) * kValuesOfWriter) {}

  MemberWrite Write() {
    const std::size_t slot = random_->Below(options_.keys);
    const bool erase = there_[slot] && random_->Below(100) < kDeletes;
    const std::string key = (slot % 2 == 0 ? "even/k" : "odd/k") + std::to_string(slot);
    MemberWrite write;
    write.change = {0, key, erase ? 0 : ++value_};
    const auto result = erase          ? target_.Delete(key)
                        : there_[slot] ? target_.Update(key, value_)
                                       : target_.Create(key, value_);
    if (result.ok()) {
      write.outcome = WriteOutcome::kAcknowledged;
      write.change.revision = *result;
      scores_.Acknowledged(*result);
      there_[slot] = !erase;
      return write;
    }
    const Reason reason = result.status().reason();
    if (reason == Reason::kNotFound || reason == Reason::kAlreadyExists ||
        reason == Reason::kConflict) {
      write.outcome = WriteOutcome::kRefused;
      there_[slot] = reason != Reason::kNotFound;
    } else {
      scores_.Failed("write", result.status());
    }
    return write;
  }

 private:
  WriteTarget& target_;
  Scoreboard& scores_;
  const WriterOptions options_;
  const std::unique_ptr<Random> random_;
  std::vector<bool> there_;  // As far as this writer knows.
  std::int64_t value_;
};

}  // namespace

void Scoreboard::Acknowledged(Revision revision) {
  ++acknowledged_;
  Revision last = last_revision_.load();
  while (last < revision && !last_revision_.compare_exchange_weak(last, revision)) {
  }
  EndOfWrites();
}

void Scoreboard::EndOfWrites() {
  const auto now = steady_clock::now();
  auto pauses = pauses_.Lock();
  const auto pause = std::chrono::duration_cast<milliseconds>(now - pauses->last);
  if (pause > kOutage) pauses->long_ones.push_back(pause);
  pauses->last = now;
}

void Scoreboard::Failed(const std::string& what, const Status& why) {
  auto failures = failures_.Lock();
  Failures& entry = (*failures)[what + " " + std::string(ReasonWord(why.reason()))];
  if (entry.count++ == 0) entry.example = why.message();
}

std::vector<milliseconds> Scoreboard::outages() const {
  std::vector<milliseconds> outages = pauses_.Lock()->long_ones;
  std::sort(outages.begin(), outages.end());
  return outages;
}

std::vector<MemberWrite> WriteUntil(const Notification& stop, WriteTarget& target,
                                    Scoreboard& scores, const WriterOptions& options) {
  std::vector<MemberWrite> writes;
  Writer writer(target, scores, options);
  while (!stop.HasBeenNotified()) {
    writes.push_back(writer.Write());
    (void)stop.WaitFor(options.pause);
  }
  return writes;
}

WatchClient::WatchClient(Options options, OpenWatch open, Scoreboard& scores)
    : options_(std::move(options)), open_(std::move(open)), scores_(scores) {
  seen_.name = options_.name;
  seen_.prefix = options_.prefix;
  seen_.resumes_where_it_was = options_.resumes_where_it_was;
  thread_ = Thread("watch", [this] { Run(); });
}

MemberWatch WatchClient::Finish(Revision last, milliseconds patience) {
  {
    auto wish = wish_.Lock();
    wish->asked = true;
    wish->last = last;
    wish->give_up = steady_clock::now() + patience;
  }
  if (thread_.joinable()) thread_.Join();
  return std::move(seen_);
}

bool WatchClient::Done() const {
  auto wish = wish_.Lock();
  return wish->asked && (last_ >= wish->last || steady_clock::now() > wish->give_up);
}

void WatchClient::Run() {
  bool first = true;
  while (!Done()) {
    auto source = open_(first || options_.resumes_where_it_was ? last_ + 1 : 0);
    if (!source.ok()) {
      scores_.Failed("watch", source.status());
      (void)Notification().WaitFor(kBeforeReopening);
      continue;
    }
    if (!std::exchange(first, false)) ++seen_.resumes;
    Read(**source);
  }
}

void WatchClient::Read(WatchSource& source) {
  const auto opened = steady_clock::now();
  while (!Done()) {
    const Status status = source.Next(seen_.changes, kWatchGlance);
    if (!seen_.changes.empty()) last_ = std::max(last_, seen_.changes.back().revision);
    if (!status.ok()) {
      scores_.Failed("watch", status);
      (void)Notification().WaitFor(kBeforeReopening);
      return;
    }
    const bool hops = options_.hop.count() > 0 && steady_clock::now() > opened + options_.hop;
    if (hops) return;
  }
}

}  // namespace apiserver::inline v0::faults
