#include "testing/storage/storage_subject.h"

#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::testing::storage {
namespace {

// Long enough for a loaded machine; no case that passes waits so long.
constexpr std::chrono::seconds kEventPatience{10};
// The wait for a revision that never comes.
constexpr std::chrono::milliseconds kImpatience{50};
// Bookmarks become due by the case's clock, whose advance wakes no thread.
constexpr std::chrono::milliseconds kSubjectLooksAgain{50};

// Waits until a storage that loads its state first has done so: before, the engine may answer a
// read of any state, and the next one a cache with an older state.
Status WaitReady(const apiserver::storage::Interface& storage) {
  const auto deadline = RealClock().Now() + kEventPatience;
  Bell bell;
  Status ready = storage.Ready();
  for (; !ready.ok() && RealClock().Now() < deadline; ready = storage.Ready()) {
    (void)bell.Wait(std::chrono::milliseconds(1));
  }
  return ready;
}

}  // namespace

WatchReader::WatchReader(std::unique_ptr<watch::Stream> stream)
    : bell_(std::make_shared<Bell>()), stream_(std::move(stream)) {}
WatchReader::WatchReader(WatchReader&&) noexcept = default;
WatchReader::~WatchReader() = default;

std::optional<watch::Event> WatchReader::Next() {
  const auto deadline = RealClock().Now() + kEventPatience;
  while (next_ == events_.size()) {
    events_.clear();
    next_ = 0;
    if (over_ || RealClock().Now() > deadline) return std::nullopt;
    const auto state = stream_->Next(events_, 100, Waker(*bell_, bell_));
    over_ = state == watch::Stream::State::kEnd;
    if (events_.empty() && state == watch::Stream::State::kWait)
      (void)bell_->Wait(kSubjectLooksAgain);
  }
  return events_[next_++];
}

std::string WatchReader::NextText() {
  const auto event = Next();
  if (!event) return over_ ? "END" : "NOTHING";
  std::string text(watch::EventTypeWord(event->type));
  if (event->type == watch::EventType::kError) {
    return text + " " + std::string(ReasonWord(event->error.reason()));
  }
  if (event->initial_events_end) text += "-END";
  text += " " + std::string(event->object != nullptr ? event->object->name() : "");
  // The event's revision, which for a deletion by selector is not the object's.
  return text + " " + event->resource_version;
}

std::string WatchReader::NextChange() {
  for (;;) {
    std::string text = NextText();
    if (!text.starts_with("BOOKMARK ")) return text;
  }
}

std::vector<watch::Event> WatchReader::Ready() {
  std::vector<watch::Event> events;
  while (stream_->Next(events, 1000, Waker()) == watch::Stream::State::kMore) {
  }
  return events;
}

Result<std::unique_ptr<StorageSubject>> StorageSubject::Open(const StorageHost& host) {
  std::unique_ptr<StorageSubject> subject(new StorageSubject(host));
  ASSIGN_OR_RETURN(subject->engine, host.open_engine(subject->clock_));
  ASSIGN_OR_RETURN(subject->storage, subject->OpenAnother());
  return subject;
}

StorageSubject::~StorageSubject() {
  // The storage's tasks run in the pool, and its tails in the engine: it stops before both.
  if (storage != nullptr) storage->Stop();
  pool_->Stop();
  storage.reset();
  if (engine != nullptr) engine->Stop();
}

Result<std::unique_ptr<apiserver::storage::Interface>> StorageSubject::OpenAnother() {
  return OpenOver(kEventPatience);
}

Result<std::unique_ptr<apiserver::storage::Interface>> StorageSubject::OpenImpatient() {
  return OpenOver(kImpatience);
}

Result<std::unique_ptr<apiserver::storage::Interface>> StorageSubject::OpenOver(
    std::chrono::milliseconds fresh_wait) {
  StorageSetup setup;
  setup.engine = engine.get();
  setup.kind = kind;
  setup.prefix = prefix;
  // Shared by all storages of the case, as in a server.
  setup.executor = pool_.get();
  setup.clock = &clock_;
  setup.fresh_wait = fresh_wait;
  ASSIGN_OR_RETURN(auto opened, host_.open_storage(setup));
  RETURN_IF_ERROR(WaitReady(*opened));
  return opened;
}

template <class T>
T StorageSubject::Must(Result<T> result) {
  // Keeps the whole status: value() throws its text only.
  if (!result.ok()) failure_ = result.status();
  return std::move(result).value();
}

std::string StorageSubject::KeyOf(std::string_view name, std::string_view space) {
  return "/" + std::string(space) + "/" + std::string(name);
}

runtime::ObjectPtr StorageSubject::Create(std::string_view name, std::string_view space,
                                          std::string_view color) {
  auto object = NewWidget(kind, name, space);
  if (!color.empty()) {
    object->Edit("spec", "color") = color;
    object->Edit("metadata", "labels", "color") = color;
  }
  return Must(storage->Create(ctx, KeyOf(name, space), *object, {}));
}

Result<runtime::ObjectPtr> StorageSubject::Resize(std::string_view name, int size,
                                                  std::string_view color) {
  return storage->GuaranteedUpdate(ctx, KeyOf(name), {},
                                   [&](const runtime::ObjectPtr& current) -> Result<Update> {
                                     Update update;
                                     update.object = current->Clone();
                                     update.object->Edit("spec", "size") = size;
                                     if (!color.empty()) {
                                       update.object->Edit("spec", "color") = color;
                                       update.object->Edit("metadata", "labels", "color") = color;
                                     }
                                     return update;
                                   });
}

Result<runtime::ObjectPtr> StorageSubject::Delete(std::string_view name) {
  return storage->Delete(ctx, KeyOf(name), {}, nullptr);
}

Result<runtime::ObjectPtr> StorageSubject::Get(std::string_view name, std::string rv) {
  GetOptions options;
  options.resource_version = std::move(rv);
  return storage->Get(ctx, KeyOf(name), options);
}

Result<runtime::List> StorageSubject::List(const ListOptions& options, std::string_view key) {
  return storage->GetList(ctx, key, options);
}

WatchReader StorageSubject::Watch(const ListOptions& options, std::string_view key) {
  return WatchReader(Must(storage->Watch(ctx, key, options)));
}

WatchReader StorageSubject::WatchFrom(std::string_view rv) {
  ListOptions options;
  options.resource_version = rv;
  return Watch(options);
}

void StorageSubject::Compact(std::string_view rv) {
  const Status status = engine->Compact(ctx, std::stoll(std::string(rv)));
  if (!status.ok()) (void)Must(Result<bool>(status));
}

Result<Revision> StorageSubject::Put(std::string_view name, std::string bytes) {
  kv::RangeRequest request;
  request.key = prefix + KeyOf(name);
  ASSIGN_OR_RETURN(const kv::RangeResponse now, engine->Range(ctx, request));
  kv::TxnRequest txn;
  txn.key = request.key;
  if (!now.kvs.empty()) txn.expected_mod_revision = now.kvs[0].mod_revision;
  txn.value = std::make_shared<const std::string>(std::move(bytes));
  ASSIGN_OR_RETURN(const kv::TxnResponse response, engine->Txn(ctx, txn));
  if (!response.succeeded) return Status(Reason::kConflict, "another wrote meanwhile");
  return response.revision;
}

std::string NamesOf(const Result<runtime::List>& list) {
  if (!list.ok()) return list.status().ToString();
  std::string names;
  for (const auto& item : list->items) {
    names.append(names.empty() ? "" : " ").append(item->name());
  }
  return names;
}

ListOptions WithLabels(ListOptions options, std::string_view labels) {
  options.predicate.label = *meta::LabelSelector::Parse(labels);
  return options;
}

}  // namespace apiserver::v0::testing::storage
