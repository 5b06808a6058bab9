#include <array>
#include <utility>

#include "testing/storage/history_world.h"

namespace apiserver::v0::testing::storage {
namespace {

using apiserver::storage::GetOptions;
using apiserver::storage::ListOptions;
using apiserver::storage::Update;
using apiserver::storage::UpdateOptions;
using meta::ResourceVersionMatch;
using Mode = ReadRecord::Mode;
using Outcome = Operation::Outcome;
using Verb = Operation::Verb;

// One client: does random operations on random keys, and records each with its result. For one
// thread.
class Client {
 public:
  Client(World& world, std::uint64_t seed)
      : world_(world),
        random_(NewSeededRandom(seed)),
        known_(static_cast<std::size_t>(world.options.keys)) {}

  ~Client() {
    auto history = world_.history.Lock();
    for (Operation& op : operations_) history->operations.push_back(std::move(op));
    for (ReadRecord& read : reads_) history->reads.push_back(std::move(read));
  }

  void Run(int operations) {
    for (int i = 0; i < operations; ++i) {
      slot_ = random_->Below(known_.size());
      key_ = world_.KeyIn(slot_);
      Act(random_->Below(100));
    }
  }

  Status WriteLast() {
    for (const char* space : {"odd", "even"}) {
      slot_ = 0;
      key_ = {space, "last"};
      Create(/*red=*/true);
      if (key_.space == "odd") world_.last_odd_revision = operations_.back().revision;
      if (operations_.back().outcome != Outcome::kOk) {
        return {Reason::kServiceUnavailable, "the storage does not take the last write"};
      }
    }
    world_.last_revision = operations_.back().revision;
    return {};
  }
  Status ReadLast() {
    List(Mode::kConsistent, 0, {}, 0);
    if (reads_.back().failure != Reason::kUnknown) {
      return {Reason::kServiceUnavailable, "the storage does not answer the last list"};
    }
    const std::int64_t last = reads_.back().revision;
    List(Mode::kConsistent, 0, {}, 3);
    List(Mode::kExact, last, {}, 0);
    List(Mode::kNotOlderThan, last, {.red_only = true}, 0);
    // No writes follow, so a storage that has shown the last revision must not show an older state.
    List(Mode::kAny, 0, {}, 0);
    if (reads_.back().mode == Mode::kAny) {
      reads_.back().mode = Mode::kNotOlderThan;
      reads_.back().asked = last;
    }
    return {};
  }

 private:
  bool Chance(std::uint64_t percent) { return random_->Below(100) < percent; }

  void Act(std::uint64_t dice) {
    // The weights keep most keys alive, so that updates and conflicts are frequent.
    if (dice < 18) return Create(Chance(50));
    if (dice < 48) return Change();
    if (dice < 52) return ChangeNothing();
    if (dice < 64) return Delete();
    if (dice < 78) return Get();
    if (dice < 84) return OldGet();
    ListSomething(dice);
  }

  Operation Begin(Verb verb) {
    Operation op;
    op.verb = verb;
    op.key = key_.relative();
    op.invoked = world_.Moment();
    return op;
  }
  // Records `op` with its `result`.
  void End(Operation op, const Result<runtime::ObjectPtr>& result) {
    op.returned = world_.Moment();
    if (result.ok()) {
      const Facts facts = FactsOf(result->get());
      if (op.verb != Verb::kUpdate && op.verb != Verb::kCreate) op.value = facts.value;
      op.uid = facts.uid;
      op.revision = facts.revision;
      known_[slot_] = op.verb == Verb::kDelete ? nullptr : *result;
      Saw(facts.revision);
    } else {
      op.reason = result.status().reason();
      const bool definite = op.reason == Reason::kNotFound || op.reason == Reason::kConflict ||
                            op.reason == Reason::kAlreadyExists;
      op.outcome = definite ? Outcome::kFailed : Outcome::kUnknown;
      if (definite && op.verb == Verb::kGet && op.reason != Reason::kNotFound) return;
      // A read that failed shows no state.
      if (!definite && op.verb == Verb::kGet) return;
      if (!definite) {
        op.returned = kNever;
        world_.SpoilKeyIn(slot_);
      }
    }
    operations_.push_back(std::move(op));
  }
  void Saw(std::int64_t revision) {
    seen_ = std::max(seen_, revision);
    world_.Learn(revision);
  }

  void Create(bool red) {
    const std::int64_t value = world_.NewValue();
    Operation op = Begin(Verb::kCreate);
    // Every value is unique, which identifies the write in the log.
    op.value = op.uid = value;
    End(std::move(op),
        world_.storage.Create(world_.ctx, key_.path(), *world_.NewObject(key_, value, red), {}));
  }

  // The client's last state of the key. Null: it has none.
  const runtime::Object* Known() const {
    const auto& known = known_[slot_];
    return known != nullptr && known->name() == key_.name ? known.get() : nullptr;
  }
  UpdateOptions Preconditions(Operation& op) {
    UpdateOptions options;
    const runtime::Object* known = Known();
    if (known == nullptr) return options;
    // Often stale by now, since other clients use the same keys.
    if (Chance(30)) options.suggestion = known_[slot_];
    if (Chance(25)) {
      options.preconditions.uid = std::string(known->uid());
      op.wanted_uid = NumberOf(known->uid());
    }
    if (Chance(25)) {
      options.preconditions.resource_version = std::string(known->resource_version());
      op.wanted_revision = NumberOf(known->resource_version());
    }
    return options;
  }

  void Change() {
    const std::int64_t value = world_.NewValue();
    const bool red = Chance(50);
    Operation op = Begin(Verb::kUpdate);
    op.value = value;
    const UpdateOptions options = Preconditions(op);
    std::int64_t based_on = 0;
    auto result = world_.storage.GuaranteedUpdate(
        world_.ctx, key_.path(), options, [&](const runtime::ObjectPtr& current) -> Result<Update> {
          based_on = FactsOf(current.get()).revision;
          Update update;
          update.object = current->Clone();
          update.object->Edit("spec", "size") = value;
          update.object->Edit("metadata", "labels", "color") = red ? "red" : "blue";
          return update;
        });
    // A failed update has no base that the check could use.
    if (result.ok()) op.based_on = based_on;
    End(std::move(op), result);
  }

  // Updates an object to itself, which writes nothing: recorded as a get.
  void ChangeNothing() {
    Operation op = Begin(Verb::kGet);
    End(std::move(op),
        world_.storage.GuaranteedUpdate(world_.ctx, key_.path(), {},
                                        [](const runtime::ObjectPtr& current) -> Result<Update> {
                                          Update update;
                                          update.object = current->Clone();
                                          return update;
                                        }));
  }

  void Delete() {
    Operation op = Begin(Verb::kDelete);
    const UpdateOptions options = Preconditions(op);
    std::int64_t based_on = 0;
    auto result =
        world_.storage.Delete(world_.ctx, key_.path(), options,
                              [&](const Context&, const runtime::Object& object) -> Status {
                                based_on = FactsOf(&object).revision;
                                return {};
                              });
    if (result.ok()) op.based_on = based_on;
    End(std::move(op), result);
  }

  void Get() {
    Operation op = Begin(Verb::kGet);
    End(std::move(op), world_.storage.Get(world_.ctx, key_.path(), {}));
  }

  void OldGet() {
    ReadRecord read;
    read.is_list = false;
    read.scope = {key_.relative(), true};
    read.mode = Chance(30) ? Mode::kAny : Mode::kNotOlderThan;
    // The client's own last revision: it must never see older data after that.
    if (read.mode == Mode::kNotOlderThan) read.asked = seen_;
    GetOptions options;
    options.resource_version = std::to_string(read.asked);
    read.invoked = world_.Moment();
    const auto result = world_.storage.Get(world_.ctx, key_.path(), options);
    read.returned = world_.Moment();
    if (result.ok()) {
      read.items.push_back(Seen(**result));
    } else if (result.status().reason() != Reason::kNotFound) {
      read.failure = result.status().reason();
    }
    reads_.push_back(std::move(read));
  }

  static SeenObject Seen(const runtime::Object& object) {
    Facts facts = FactsOf(&object);
    return {std::move(facts.key), facts.revision, facts.value};
  }

  void ListSomething(std::uint64_t dice) {
    Scope scope;
    if (Chance(40)) scope.prefix = Chance(50) ? "even/" : "odd/";
    scope.red_only = Chance(30);
    const std::int64_t limit = Chance(40) ? 1 + static_cast<std::int64_t>(random_->Below(4)) : 0;
    if (dice < 91) return List(Mode::kConsistent, 0, scope, limit);
    if (dice < 93) return List(Mode::kAny, 0, scope, 0);
    if (dice < 96) return List(Mode::kNotOlderThan, seen_, scope, limit);
    // Some of these revisions are behind the last compaction.
    const auto back = static_cast<std::int64_t>(random_->Below(150));
    List(Mode::kExact, std::max<std::int64_t>(world_.latest() - back, 1), scope, limit);
  }

  void List(Mode mode, std::int64_t asked, const Scope& scope, std::int64_t limit) {
    constexpr std::array kMatches = {ResourceVersionMatch::kUnset, ResourceVersionMatch::kUnset,
                                     ResourceVersionMatch::kNotOlderThan,
                                     ResourceVersionMatch::kExact};
    ReadRecord read;
    read.mode = mode;
    read.scope = scope;
    read.asked = asked;
    read.invoked = world_.Moment();
    ListOptions options;
    options.limit = limit;
    options.match = kMatches[static_cast<std::size_t>(mode)];
    if (mode != Mode::kConsistent) options.resource_version = std::to_string(asked);
    if (scope.red_only) options.predicate.label = *meta::LabelSelector::Parse("color=red");
    std::string rest = ReadPages(read, options);
    read.returned = world_.Moment();
    reads_.push_back(std::move(read));
    // An expired continue token comes with one that continues at the current revision.
    if (!rest.empty()) ReadRest(scope, std::move(options), std::move(rest));
  }

  void ReadRest(const Scope& scope, ListOptions options, std::string token) {
    const auto decoded = apiserver::storage::DecodeContinueToken(token);
    if (!decoded.ok()) return;
    ReadRecord read;
    read.scope = scope;
    // Tokens are relative to the prefix of their list.
    read.start_key = scope.prefix + decoded->start_key;
    options.resource_version.clear();
    options.match = ResourceVersionMatch::kUnset;
    options.continue_token = std::move(token);
    read.invoked = world_.Moment();
    (void)ReadPages(read, options);
    read.returned = world_.Moment();
    reads_.push_back(std::move(read));
  }

  // Reads all pages into `read`. Returns the token of a list that expired, otherwise an empty one.
  std::string ReadPages(ReadRecord& read, ListOptions& options) {
    const std::string path = "/" + read.scope.prefix;
    for (;;) {
      const auto page = world_.storage.GetList(world_.ctx, path, options);
      if (!page.ok()) {
        read.failure = page.status().reason();
        read.complete = false;
        return std::string(page.status().continue_token());
      }
      const std::int64_t revision = NumberOf(page->resource_version);
      if (read.revision == 0) read.revision = revision;
      if (read.revision != revision) read.one_revision = false;
      Saw(revision);
      for (const auto& item : page->items) read.items.push_back(Seen(*item));
      if (page->continue_token.empty()) return {};
      options.continue_token = page->continue_token;
      options.resource_version.clear();
      options.match = ResourceVersionMatch::kUnset;
    }
  }

  World& world_;
  std::unique_ptr<Random> random_;
  std::vector<runtime::ObjectPtr> known_;
  std::size_t slot_ = 0;
  KeyName key_;
  std::int64_t seen_ = 1;
  std::vector<Operation> operations_;
  std::vector<ReadRecord> reads_;
};

}  // namespace

void RunClient(World& world, std::uint64_t seed, int operations) {
  Client(world, seed).Run(operations);
}

Status WriteLast(World& world) { return Client(world, 0).WriteLast(); }

Status ReadLast(World& world) { return Client(world, 0).ReadLast(); }

}  // namespace apiserver::v0::testing::storage
