#include "faults/history.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <set>

#include "apiserver/base/context.h"

namespace apiserver::inline v0::faults {
namespace {

namespace kv = storage::kv;

struct Source {
  unsigned long life = 0;
  std::size_t writer = 0;
  std::size_t index = 0;
};

std::optional<Source> SourceOf(const std::string& value) {
  Source source;
  if (std::sscanf(value.c_str(), "%lu.%zu.%zu:", &source.life, &source.writer, &source.index) !=
      3) {
    return std::nullopt;
  }
  if (ValueOf(source.life, source.writer, source.index) != value) return std::nullopt;
  return source;
}

// What one life may have left of one key.
struct Expected {
  std::set<std::optional<std::string>> states;
};

std::map<std::string, Expected> ExpectedStates(const History& history, std::uint64_t life,
                                               const Known& known) {
  std::map<std::string, Expected> expected;
  for (const auto& [key, value] : known.state) expected[key].states = {value};
  for (std::size_t writer = 0; writer < History::kWriters; ++writer) {
    for (std::size_t i = 0; const History::Entry* entry = history.Find(writer, i); ++i) {
      if (entry->outcome == History::Outcome::kRefused) continue;
      const std::string key = KeyOf(writer, entry->slot);
      auto [of_key, is_new] = expected.try_emplace(key);
      if (is_new) of_key->second.states = {std::nullopt};
      std::optional<std::string> state;
      if (entry->kind == History::Kind::kPut) state = ValueOf(life, writer, i);
      if (entry->outcome == History::Outcome::kAcknowledged) of_key->second.states.clear();
      of_key->second.states.insert(std::move(state));
    }
  }
  return expected;
}

std::string CheckState(const Contents& found, const History& history, std::uint64_t life,
                       const Known& known) {
  const auto expected = ExpectedStates(history, life, known);
  for (const auto& [key, of_key] : expected) {
    const auto at = found.state.find(key);
    std::optional<std::string> is;
    if (at != found.state.end()) is = at->second;
    if (of_key.states.count(is) > 0) continue;
    std::string text = "key " + key + " is " + (is ? is->substr(0, 20) : "absent") + ", not";
    for (const auto& state : of_key.states) text += " " + (state ? state->substr(0, 20) : "absent");
    return text;
  }
  for (const auto& [key, value] : found.state) {
    if (expected.count(key) == 0) return "key " + key + " was written by nobody";
  }
  return "";
}

std::string CheckAcknowledged(const Contents& found, const History& history, std::uint64_t life,
                              const Known& known) {
  std::set<Revision> revisions;
  for (std::size_t writer = 0; writer < History::kWriters; ++writer) {
    for (std::size_t i = 0; const History::Entry* entry = history.Find(writer, i); ++i) {
      const Revision revision = entry->revision;
      if (entry->outcome != History::Outcome::kAcknowledged || revision == 0) continue;
      const std::string name = "revision " + std::to_string(revision);
      if (revision <= known.revision || !revisions.insert(revision).second) {
        return name + " was given twice";
      }
      if (revision > found.revision) return name + " was acknowledged and is lost";
      if (!found.has_log) continue;
      const auto at = found.log.find(revision);
      if (at == found.log.end()) continue;  // Compacted, or CheckLog() says what is missing.
      std::optional<std::string> value;
      if (entry->kind == History::Kind::kPut) value = ValueOf(life, writer, i);
      if (at->second.key != KeyOf(writer, entry->slot) || at->second.value != value) {
        return name + " is not what was acknowledged";
      }
    }
  }
  return "";
}

std::string CheckLog(const Contents& found, const History& history, std::uint64_t life,
                     const Known& known) {
  if (!found.has_log) return "";
  if (found.revision < known.revision) return "the revision went back";
  if (found.log.empty()) return found.revision == 1 ? "" : "the log is empty";
  if (found.log.rbegin()->first != found.revision) return "the last revision is not in the log";
  const Revision first = found.log.begin()->first;
  if (found.log.size() != static_cast<std::size_t>(found.revision - first + 1)) {
    return "the log has gaps";
  }
  std::map<std::string, std::optional<std::string>> last;
  for (const auto& [revision, change] : found.log) {
    last[change.key] = change.value;
    if (!change.value) continue;
    const auto source = SourceOf(*change.value);
    if (!source) return "revision " + std::to_string(revision) + " has a damaged value";
    if (source->life != life) continue;
    if (source->writer >= History::kWriters) return "a value of no writer";
    const History::Entry* entry = history.Find(source->writer, source->index);
    if (entry == nullptr) return "revision " + std::to_string(revision) + " was written by nobody";
  }
  for (const auto& [key, value] : last) {
    const auto at = found.state.find(key);
    const bool same =
        value ? at != found.state.end() && at->second == *value : at == found.state.end();
    if (!same) return "the log and the state differ in " + key;
  }
  // From the first revision on the log is all there is.
  if (first > 2) return "";
  for (const auto& [key, value] : found.state) {
    if (last.count(key) == 0) return "the log does not know " + key;
  }
  return "";
}

}  // namespace

History::History(std::size_t writes_max, const std::string& file) : writes_max_(writes_max) {
  const std::size_t bytes = writes_max * kWriters * sizeof(Entry);
  int descriptor = -1;
  if (!file.empty()) {
    descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
      throw std::bad_alloc();
    }
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (descriptor < 0 ? MAP_ANONYMOUS : 0), descriptor, 0);
  if (descriptor >= 0) close(descriptor);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  entries_ = static_cast<Entry*>(memory);  // All zeros is an empty one.
}

History::~History() { munmap(entries_, writes_max_ * kWriters * sizeof(Entry)); }

History::Entry* History::Begin(std::size_t writer, std::uint16_t slot, Kind kind) {
  if (next_[writer] == writes_max_) return nullptr;
  Entry* entry = Part(writer) + next_[writer]++;
  entry->slot = slot;
  entry->kind = kind;
  return entry;
}

std::size_t History::Index(std::size_t writer, const Entry* entry) const {
  return static_cast<std::size_t>(entry - Part(writer));
}

const History::Entry* History::Find(std::size_t writer, std::size_t index) const {
  if (index >= writes_max_) return nullptr;
  const Entry* entry = Part(writer) + index;
  return entry->kind == Kind::kNone ? nullptr : entry;
}

std::size_t History::acknowledged() const {
  std::size_t count = 0;
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    for (std::size_t i = 0; const Entry* entry = Find(writer, i); ++i) {
      if (entry->outcome == Outcome::kAcknowledged) ++count;
    }
  }
  return count;
}

void History::Clear() {
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    for (std::size_t i = 0; i < writes_max_; ++i) {
      Entry& entry = Part(writer)[i];
      if (entry.kind == Kind::kNone) break;
      entry.kind = Kind::kNone;
      entry.outcome = Outcome::kUnknown;
      entry.slot = 0;
      entry.revision = 0;
    }
    next_[writer] = 0;
  }
}

std::string KeyOf(std::size_t writer, std::uint16_t slot) {
  return "/k/" + std::to_string(writer) + "/" + std::to_string(slot);
}

std::string ValueOf(std::uint64_t life, std::size_t writer, std::size_t index) {
  std::string value =
      std::to_string(life) + "." + std::to_string(writer) + "." + std::to_string(index) + ":";
  const std::size_t n = index * 7919 + writer * 104729 + life;
  const std::size_t size = n % 23 == 0 ? 20'000 : n % 5 == 0 ? 3000 : n % 700;
  for (std::size_t i = 0; value.size() < size; ++i) value += static_cast<char>('a' + (n + i) % 26);
  return value;
}

Result<Contents> Read(kv::Engine& engine) {
  const Context ctx = Context::Background();
  Contents contents;
  auto revision = engine.CurrentRevision(ctx);
  if (!revision.ok()) return revision.status();
  contents.revision = *revision;
  const Revision from = std::max<Revision>(engine.CompactedRevision(), 1);
  auto tail = engine.NewTail("", from);
  if (!tail.ok()) return tail.status();
  for (Revision complete = from == 1 ? 1 : 0; complete < contents.revision;) {
    kv::EventBatch batch;
    const auto state = (*tail)->Next(batch, Waker());
    if (state == kv::Tail::State::kEnd) return (*tail)->status();
    if (state == kv::Tail::State::kWait) break;
    complete = batch.complete_up_to;
    for (const kv::Event& event : batch.events) {
      Contents::Change change{event.kv.key, std::nullopt};
      if (event.kv.value != nullptr) change.value = *event.kv.value;
      contents.log[event.kv.mod_revision] = std::move(change);
    }
  }
  kv::RangeRequest all;
  all.key = "/";
  all.end = kv::PrefixEnd("/");
  auto response = engine.Range(ctx, all);
  if (!response.ok()) return response.status();
  for (const kv::KeyValue& kv : response->kvs) contents.state[kv.key] = *kv.value;
  return contents;
}

std::string Verify(const Contents& found, const History& history, std::uint64_t life,
                   Known& known) {
  std::string wrong = CheckAcknowledged(found, history, life, known);
  if (wrong.empty()) wrong = CheckState(found, history, life, known);
  if (wrong.empty()) wrong = CheckLog(found, history, life, known);
  if (wrong.empty()) known = {found.revision, found.state};
  return wrong;
}

}  // namespace apiserver::inline v0::faults
