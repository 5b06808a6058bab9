#include <optional>
#include <utility>

#include "testing/storage/history_world.h"

namespace apiserver::v0::testing::storage {
namespace {

using apiserver::storage::ListOptions;
using End = WatchRecord::End;

constexpr std::chrono::milliseconds kLookAgain{20};

// Opens one watch after another, until the history ends and the last one has come to its end.
class Watcher {
 public:
  Watcher(World& world, std::uint64_t seed) : world_(world), random_(NewSeededRandom(seed)) {}

  ~Watcher() {
    auto history = world_.history.Lock();
    for (WatchRecord& record : records_) history->watches.push_back(std::move(record));
    auto report = world_.report.Lock();
    report->resumes += resumes_;
  }

  void Run() {
    do {
      if (last() > 0 && !give_up_) give_up_ = RealClock().Now() + world_.options.patience;
      Choose();
      if (!Open()) {
        done_ = give_up_ && RealClock().Now() > *give_up_;
        if (done_) RecordHung();
        (void)bell_->Wait(kLookAgain);
        continue;
      }
      Read();
      stream_.reset();
      records_.push_back(std::move(record_));
    } while (!done_);
  }

 private:
  void RecordHung() {
    record_.end = End::kHung;
    record_.ended = world_.Moment();
    records_.push_back(std::move(record_));
  }
  bool Chance(std::uint64_t percent) { return random_->Below(100) < percent; }
  std::int64_t last() const { return world_.last_revision.load(); }

  // Chooses the next watch: a resumption of the last one, or another.
  void Choose() {
    const bool resume = resumable_ && (last() > 0 || Chance(60));
    record_ = {};
    if (resume) {
      record_.scope = scope_;
      record_.after = position_;
      ++resumes_;
      return;
    }
    scope_ = {};
    const std::uint64_t dice = random_->Below(100);
    if (last() == 0 && dice < 15) {
      const KeyName key =
          world_.KeyIn(random_->Below(static_cast<std::uint64_t>(world_.options.keys)));
      scope_ = {key.relative(), true};
    } else if (dice < 45) {
      scope_.prefix = dice < 30 ? "even/" : "odd/";
    }
    scope_.red_only = !scope_.exact && Chance(40);
    record_.scope = scope_;
    const std::int64_t now = world_.latest();
    if (Chance(25)) {
      record_.initial = true;
      record_.consistent = Chance(50);
      if (!record_.consistent) record_.after = Chance(50) ? now : 0;
      return;
    }
    const auto shift = static_cast<std::int64_t>(random_->Below(last() > 0 ? 100 : 200)) - 100;
    record_.after = std::max<std::int64_t>(now + shift, 1);
  }

  bool Open() {
    ListOptions options;
    if (!record_.consistent) options.resource_version = std::to_string(record_.after);
    if (record_.scope.red_only) options.predicate.label = *meta::LabelSelector::Parse("color=red");
    options.recursive = !record_.scope.exact;
    options.allow_bookmarks = record_.initial || Chance(60);
    if (record_.initial) options.send_initial_events = true;
    // The storage sends a bookmark two seconds before a watch's deadline: here after up to 40 ms.
    if (options.allow_bookmarks) {
      options.deadline = RealClock().Now() + std::chrono::seconds(2) +
                         std::chrono::milliseconds(random_->Below(40));
    }
    record_.invoked = world_.Moment();
    auto stream = world_.storage.Watch(world_.ctx, "/" + record_.scope.prefix, options);
    if (!stream.ok()) return false;
    stream_ = std::move(*stream);
    position_ = record_.initial ? 0 : record_.after;
    in_state_ = record_.initial;
    resumable_ = !record_.initial;
    return true;
  }

  // Returns how the watch ended. Nullopt: it goes on.
  std::optional<End> EndAfter(watch::Stream::State state, std::size_t events_max) {
    if (failed_) return *std::exchange(failed_, std::nullopt);
    if (state == watch::Stream::State::kEnd) return End::kEnded;
    const bool caught_up = last() > 0 && (record_.scope.exact || position_ >= LastOf());
    if (caught_up) {
      done_ = true;
      return End::kClosed;
    }
    if (last() == 0 && record_.events.size() >= events_max) return End::kClosed;
    return std::nullopt;
  }

  // The revision of the last event of the scope.
  std::int64_t LastOf() const {
    return record_.scope.prefix == "odd/" ? world_.last_odd_revision.load() : last();
  }

  void Read() {
    const std::size_t events_max = 1 + random_->Below(400);
    for (;;) {
      if (last() > 0 && !give_up_) give_up_ = RealClock().Now() + world_.options.patience;
      std::vector<watch::Event> events;
      const auto state = stream_->Next(events, 64, Waker(*bell_, bell_));
      for (const watch::Event& event : events) Append(event);
      if (const auto end = EndAfter(state, events_max)) {
        record_.end = *end;
        break;
      }
      if (give_up_ && RealClock().Now() > *give_up_) {
        record_.end = End::kHung;
        done_ = true;
        break;
      }
      if (events.empty() && state == watch::Stream::State::kWait) {
        // Wakes up in between, since the end of the history rings no bell.
        (void)bell_->Wait(kLookAgain);
        // A key that was replaced by another one gets no more events.
        if (record_.scope.exact && Chance(30)) break;
      }
    }
    record_.ended = world_.Moment();
  }

  void Append(const watch::Event& event) {
    if (event.type == watch::EventType::kError) {
      const bool expired = event.error.reason() == Reason::kExpired;
      failed_ = expired ? End::kExpired : End::kFailed;
      resumable_ = false;
      return;
    }
    const Facts facts = FactsOf(event.object.get());
    const std::int64_t revision = NumberOf(event.resource_version);
    record_.events.push_back(
        {event.type, facts.key, facts.value, revision, facts.revision, event.initial_events_end});
    // Initial events come in the order of their keys, so only the bookmark at their end gives the
    // revision to resume from.
    if (event.initial_events_end) in_state_ = false;
    if (!in_state_) position_ = revision;
    resumable_ = !in_state_;
    world_.Learn(revision);
  }

  World& world_;
  std::unique_ptr<Random> random_;
  std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  std::unique_ptr<watch::Stream> stream_;
  Scope scope_;
  std::int64_t position_ = 0;
  bool resumable_ = false;
  bool in_state_ = false;  // The end of the initial events has not come.
  bool done_ = false;
  std::optional<Clock::Monotonic> give_up_;
  std::optional<End> failed_;
  WatchRecord record_;
  std::vector<WatchRecord> records_;
  std::uint64_t resumes_ = 0;
};

}  // namespace

void RunWatcher(World& world, std::uint64_t seed) { Watcher(world, seed).Run(); }

}  // namespace apiserver::v0::testing::storage
