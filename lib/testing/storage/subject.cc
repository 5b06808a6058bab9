#include "testing/storage/subject.h"

#include <deque>
#include <thread>
#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::testing::storage {
namespace {

// Long enough for a loaded machine; no case that passes waits so long.
constexpr std::chrono::seconds kPatience{10};

Revision Must(const kv::TxnResponse& response) { return response.revision; }

Result<Revision> RevisionOf(Result<kv::TxnResponse> response) {
  RETURN_IF_ERROR(response.status());
  if (!response->succeeded) return Status(Reason::kConflict, "the comparison failed");
  return Must(*response);
}

}  // namespace

Result<std::unique_ptr<Subject>> Subject::Open(const EngineHost& host) {
  std::unique_ptr<Subject> subject(new Subject(host));
  ASSIGN_OR_RETURN(subject->engine_, host.open(subject->clock_));
  return subject;
}

Subject::~Subject() {
  if (engine_ != nullptr) engine_->Stop();
}

Status Subject::Reopen() {
  engine_->Stop();
  // Destroyed before the next one opens: two engines must not share a store's files.
  engine_.reset();
  ASSIGN_OR_RETURN(engine_, host_.reopen(clock_));
  return Status::Ok();
}

Result<kv::TxnResponse> Subject::Txn(const std::string& key, Revision expected,
                                     std::optional<std::string> value, kv::LeaseId lease) {
  kv::TxnRequest request;
  request.key = key;
  request.expected_mod_revision = expected;
  if (value) request.value = std::make_shared<const std::string>(*std::move(value));
  request.lease = lease;
  return engine_->Txn(Context::Background(), request);
}

Result<Revision> Subject::Create(const std::string& key, const std::string& value,
                                 kv::LeaseId lease) {
  return RevisionOf(Txn(key, 0, value, lease));
}

Result<Revision> Subject::Update(const std::string& key, const std::string& value,
                                 kv::LeaseId lease) {
  ASSIGN_OR_RETURN(const kv::KeyValue now, Get(key));
  return RevisionOf(Txn(key, now.mod_revision, value, lease));
}

Result<Revision> Subject::Delete(const std::string& key) {
  // Not atomic: a write by another thread in between is a kConflict.
  ASSIGN_OR_RETURN(const kv::KeyValue now, Get(key));
  return RevisionOf(Txn(key, now.mod_revision, std::nullopt));
}

// No case has a prefix of this key, except the empty one.
Result<Revision> Subject::Tick() { return Update("~tick", "x"); }

Result<kv::KeyValue> Subject::Get(const std::string& key, Revision at) {
  kv::RangeRequest request;
  request.key = key;
  request.at_revision = at;
  ASSIGN_OR_RETURN(kv::RangeResponse response, engine_->Range(Context::Background(), request));
  // Not an error: cases ask for absent keys often.
  if (response.kvs.empty()) return kv::KeyValue{};
  return std::move(response.kvs.front());
}

Result<kv::RangeResponse> Subject::List(const std::string& prefix, Revision at, std::size_t limit) {
  kv::RangeRequest request;
  request.key = prefix;
  request.end = kv::PrefixEnd(prefix);
  request.at_revision = at;
  request.limit = limit;
  return engine_->Range(Context::Background(), request);
}

Result<std::string> Subject::Text(const std::string& prefix, Revision at) {
  ASSIGN_OR_RETURN(const kv::RangeResponse response, List(prefix, at));
  return TextOf(response.kvs);
}

Result<Revision> Subject::Current() { return engine_->CurrentRevision(Context::Background()); }

Status Subject::Compact(Revision revision) {
  return engine_->Compact(Context::Background(), revision);
}

std::string TextOf(const std::vector<kv::KeyValue>& kvs) {
  std::string text;
  for (const kv::KeyValue& kv : kvs) {
    if (!text.empty()) text += ' ';
    text += kv.key;
    if (kv.value != nullptr) text += "=" + *kv.value;
  }
  return text;
}

std::string TextOf(const kv::Event& event) {
  const bool deleted = event.type == kv::Event::Type::kDelete;
  std::string text = deleted ? "delete " : event.is_create ? "create " : "put ";
  text += event.kv.key;
  if (event.kv.value != nullptr) text += "=" + *event.kv.value;
  text += "@" + std::to_string(event.kv.mod_revision);
  if (event.previous.value != nullptr) {
    text += " was " + *event.previous.value + "@" + std::to_string(event.previous.mod_revision);
  }
  return text;
}

std::string TextOf(const std::vector<kv::Event>& events) {
  std::string text;
  for (const kv::Event& event : events) {
    if (!text.empty()) text += ", ";
    text += TextOf(event);
  }
  return text;
}

Result<std::unique_ptr<TailReader>> TailReader::Open(kv::Engine& engine, std::string_view prefix,
                                                     Revision from) {
  std::unique_ptr<TailReader> reader(new TailReader);
  reader->bell_ = std::make_shared<Bell>();
  ASSIGN_OR_RETURN(reader->tail_, engine.NewTail(prefix, from));
  return reader;
}

kv::Tail::State TailReader::Poll(kv::EventBatch& batch) {
  return tail_->Next(batch, Waker(*bell_, bell_));
}

bool TailReader::WaitForWake() { return bell_->Wait(kPatience); }

Result<std::vector<kv::Event>> TailReader::ReadTo(Revision revision) {
  std::vector<kv::Event> events;
  Revision complete = 0;
  while (complete < revision) {
    kv::EventBatch batch;
    switch (Poll(batch)) {
      case kv::Tail::State::kEvents:
        // Not the last event's revision: the tail may be further than its prefix has events.
        complete = batch.complete_up_to;
        for (kv::Event& event : batch.events) events.push_back(std::move(event));
        break;
      case kv::Tail::State::kWait:
        if (!WaitForWake()) return Status(Reason::kTimeout, "the tail has not woken its reader");
        break;
      case kv::Tail::State::kEnd:
        return tail_->status();
    }
  }
  return events;
}

Status TailReader::ReadToEnd() {
  for (;;) {
    kv::EventBatch batch;
    const kv::Tail::State state = Poll(batch);
    if (state == kv::Tail::State::kEnd) return tail_->status();
    if (state == kv::Tail::State::kWait && !WaitForWake()) {
      return Status(Reason::kTimeout, "the tail has neither ended nor woken its reader");
    }
  }
}

bool Eventually(const std::function<bool()>& holds) {
  // The real clock: an engine's own threads need real time after the case's clock has advanced.
  const auto deadline = RealClock().Now() + kPatience;
  while (!holds()) {
    if (RealClock().Now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

Status Broken(const char* file, int line, const std::string& what) {
  return Status(Reason::kInternalError,
                std::string(file) + ":" + std::to_string(line) + ": " + what);
}

}  // namespace apiserver::v0::testing::storage
