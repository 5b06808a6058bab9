#include "apiextensions/control/controller.h"

#include <algorithm>
#include <utility>

#include "apiextensions/control/status.h"
#include "apiserver/runtime/convert.h"
#include "base/status_macros.h"

namespace apiserver::v0::apiextensions {
namespace {

constexpr std::size_t kEventsAtOnce = 256;
constexpr std::chrono::milliseconds kOpenAgain{1000};

// Returned by an update that has nothing to change.
Status Unchanged() { return {Reason::kUnknown, "nothing to change"}; }

}  // namespace

Controller::Controller(Needs needs)
    : needs_(std::move(needs)),
      ctx_(Context::Child(Context::Background())),
      owner_(*needs_.clock),
      // Counted under the name of one of upstream's controllers, whose work is done together here.
      queue_(controller::NewWorkQueue(
          {.name = "crd_naming_condition_controller", .metrics = needs_.metrics.get()})),
      emptying_(NewEmptying()) {}

void Controller::Start() {
  emptying_->Start({});
  Kick();
}

void Controller::Stop() {
  ctx_.Cancel(Status(Reason::kServiceUnavailable, "the server stops"));
  emptying_->Stop();
  {
    auto work = work_.Lock();
    work->stopped = true;
    work.Wait([&work] { return work->calls == 0; });
  }
  const auto intake = intake_.Lock();
  intake->stopped = true;
  intake->stream = nullptr;
}

void Controller::OnWake() { Run(); }

void Controller::Kick() {
  needs_.pool->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Run();
  });
}

// The thread that finds nobody at work does the work of all that come meanwhile, so that none of
// their wake-ups is lost and only one works.
void Controller::Run() {
  {
    const auto work = work_.Lock();
    if (work->stopped) return;
    if (++work->calls > 1) return;
  }
  for (std::size_t served = 1;;) {
    CatchUp();
    WorkThrough();
    const auto work = work_.Lock();
    work->calls = work->stopped ? 0 : work->calls - served;
    if (work->calls == 0) break;
    served = work->calls;
  }
  work_.NotifyAll();
}

// --- The intake.

void Controller::CatchUp() {
  const auto intake = intake_.Lock();
  if (!intake->stopped) TakeAll(*intake);
}

bool Controller::Open(Intake& intake) {
  storage::ListOptions options;
  options.resource_version = "0";
  options.match = meta::ResourceVersionMatch::kNotOlderThan;
  options.send_initial_events = true;
  options.allow_bookmarks = true;
  auto stream = needs_.definitions->storage().Watch(ctx_, "/", options);
  if (!stream.ok()) {
    Log(*needs_.log, LogLevel::kWarning, "CustomResourceDefinitions cannot be followed",
        {{"why", stream.status().ToString()}});
    return false;
  }
  intake.stream = *std::move(stream);
  intake.seen.clear();
  intake.reading = true;
  return true;
}

void Controller::TakeAll(Intake& intake) {
  const Waker waker(*needs_.pool, weak_from_this());
  std::vector<watch::Event> events;
  while (!ctx_.done()) {
    if (intake.stream == nullptr && !Open(intake)) return RunLater();
    events.clear();
    const watch::Stream::State state = intake.stream->Next(events, kEventsAtOnce, waker);
    for (const watch::Event& event : events) Take(event, intake);
    if (state == watch::Stream::State::kWait) return;
    if (state == watch::Stream::State::kEnd) {
      intake.stream = nullptr;
      return RunLater();
    }
  }
}

// The timer is the pool's; it does nothing once this is gone.
void Controller::RunLater() {
  (void)needs_.pool->PostAfter(kOpenAgain, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Run();
  });
}

void Controller::Take(const watch::Event& event, Intake& intake) {
  if (event.type == watch::EventType::kBookmark) {
    if (!event.initial_events_end || !intake.reading) return;
    intake.reading = false;
    std::vector<std::string> gone;
    {
      const auto state = state_.Lock();
      for (const auto& [name, facts] : state->known) {
        if (!intake.seen.contains(name)) gone.push_back(name);
      }
    }
    for (const std::string& name : gone) Forget(name);
    intake.seen.clear();
    return synced_.Notify();
  }
  if (event.object == nullptr) return;
  if (event.type == watch::EventType::kDeleted) {
    return Forget(std::string(ReadOnce(*event.object)->name()));
  }
  auto read = FactsOf(event.object, [this](const std::string& name) { return Find(name); });
  if (!read.ok()) {
    Log(*needs_.log, LogLevel::kWarning, "a CustomResourceDefinition cannot be read",
        {{"why", read.status().ToString()}});
    return;
  }
  const FactsPtr& facts = read->facts;
  if (intake.reading) intake.seen.insert(facts->name);
  std::vector<std::string> waiting = names_.Lock()->Set(*facts);
  state_.Lock()->known[facts->name] = facts;
  for (DefinitionUser* const user : needs_.users) user->Set(facts, *read->content);
  waiting.push_back(facts->name);
  Enqueue(waiting);
}

void Controller::Forget(const std::string& name) {
  std::vector<std::string> waiting = names_.Lock()->Remove(name);
  state_.Lock()->known.erase(name);
  for (DefinitionUser* const user : needs_.users) user->Remove(name);
  Enqueue(waiting);
}

void Controller::Enqueue(const std::vector<std::string>& names) {
  for (const std::string& name : names) queue_->Add({"", name});
}

FactsPtr Controller::Find(const std::string& name) const {
  const auto state = state_.Lock();
  const auto found = state->known.find(name);
  return found == state->known.end() ? nullptr : found->second;
}

// --- The work.

// Nothing is judged before all definitions are known, for a name may belong to one that is still to
// come.
void Controller::WorkThrough() {
  while (synced() && !ctx_.done()) {
    const auto key = queue_->TryGet();
    if (!key) return;
    Sync(key->name);
    queue_->Done(*key);
  }
}

bool Controller::SyncNames(const FactsPtr& facts) {
  const NameIndex::Verdict verdict = names_.Lock()->Judge(*facts);
  const bool same = facts->judged && facts->names_accepted == verdict.all &&
                    facts->names_reason == verdict.reason &&
                    facts->names_message == verdict.message && facts->accepted == verdict.accepted;
  if (same) return false;
  if (verdict.all) Announce(facts, verdict);
  const Now now = needs_.clock->WallNow();
  return Write(*facts, [&](runtime::Object& definition) {
    bool changed = SetNames(definition, verdict, now);
    if (!IsConditionTrue(definition, kEstablished)) changed |= Establish(definition, now);
    return changed;
  });
}

// Runs before the write, since a client that reads Established may use the definition at once. If
// something has changed, or the write fails for it, the event of that change corrects what is
// served.
void Controller::Announce(const FactsPtr& facts, const NameIndex::Verdict& verdict) {
  const auto accepted = std::make_shared<Facts>(*facts);
  accepted->names_accepted = true;
  accepted->accepted = verdict.accepted;
  const auto intake = intake_.Lock();
  if (intake->stopped || Find(facts->name) != facts) return;
  for (DefinitionUser* const user : needs_.users) user->Announce(accepted);
}

bool Controller::Establish(runtime::Object& definition, Now now) const {
  if (needs_.may_establish && !needs_.may_establish(definition)) return false;
  return SetEstablished(definition, now);
}

// False: there is nothing to say about such a definition.
bool Controller::Judged(const Facts& facts) const {
  return IsProtectedGroup(facts.group) || facts.structure != facts.structure_told ||
         !needs_.judges.empty();
}

// Each write is followed by what it has caused, so that the next step sees it: its event is taken
// in before the next definition's turn.
void Controller::Sync(const std::string& name) {
  FactsPtr facts = Find(name);
  if (facts == nullptr) return;
  const Now now = needs_.clock->WallNow();
  if (SyncNames(facts)) return CatchUp();
  if (facts->names_accepted && !facts->established) {
    const auto establish = [&](runtime::Object& definition) { return Establish(definition, now); };
    if (Write(*facts, establish)) return CatchUp();
  }
  const bool judged = Judged(*facts) && Write(*facts, [&](runtime::Object& definition) {
                        bool changed = SetApproval(definition, now);
                        if (definition.generation() == facts->generation) {
                          changed |= SetStructure(definition, facts->structure, now);
                        }
                        for (const auto& judge : needs_.judges) changed |= judge(definition);
                        return changed;
                      });
  if (judged) return CatchUp();
  if (!facts->deleting) return;
  if (facts->cleanup) return BeginEmptying(facts);
  if (!facts->finalizers) Delete(*facts);
}

// Without the checks and the admission of the status subresource.
bool Controller::Write(const Facts& facts, const Edit& edit) {
  storage::UpdateOptions options;
  options.preconditions.uid = facts.uid;
  options.suggestion = facts.object;
  const auto change = [&](const runtime::ObjectPtr& stored) -> Result<storage::Update> {
    std::unique_ptr<runtime::Object> definition = ReadOnce(*stored);
    RETURN_IF_ERROR(definition->load_status());
    runtime::Arena arena;
    const runtime::Value status = runtime::Copy((*definition)["status"], arena);
    if (!edit(*definition)) return Unchanged();
    owner_.Note(ctx_, status, *definition);
    return storage::Update{.object = std::move(definition), .ttl = std::nullopt};
  };
  const auto written =
      needs_.definitions->storage().GuaranteedUpdate(ctx_, "/" + facts.name, options, change);
  if (written.ok()) return true;
  // Whatever has changed meanwhile is still to come as an event.
  const Reason reason = written.status().reason();
  const bool expected = written.status() == Unchanged() || reason == Reason::kNotFound ||
                        reason == Reason::kConflict || ctx_.done();
  if (!expected) {
    Log(*needs_.log, LogLevel::kWarning, "the status of a definition cannot be written",
        {{"name", facts.name}, {"why", written.status().ToString()}});
  }
  return false;
}

void Controller::Delete(const Facts& facts) {
  storage::UpdateOptions options;
  options.preconditions.uid = facts.uid;
  const auto without_finalizers = [](const Context&, const runtime::Object& stored) -> Status {
    const bool ready = ReadOnce(stored)->finalizers().size() == 0;
    return ready ? Status() : Unchanged();
  };
  (void)needs_.definitions->storage().Delete(ctx_, "/" + facts.name, options, without_finalizers);
  CatchUp();
}

}  // namespace apiserver::v0::apiextensions
