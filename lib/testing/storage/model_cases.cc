#include <map>

#include "apiserver/base/random.h"
#include "base/status_macros.h"
#include "testing/storage/subject.h"

// Compares an engine with a model over random writes, reads and compactions.
namespace apiserver::v0::testing::storage {
namespace {

// The simplest model of an engine: the whole state at every revision.
struct Model {
  using State = std::map<std::string, kv::KeyValue>;
  std::vector<State> states{State(), State()};  // By revision; 0 is not used.
  std::vector<std::string> events{"", ""};
  Revision compacted = 0;

  Revision revision() const { return static_cast<Revision>(states.size()) - 1; }

  void Write(const std::string& key, const std::optional<std::string>& value) {
    State next = states.back();
    kv::Event event;
    event.previous = next[key];
    event.is_create = event.previous.value == nullptr;
    event.kv.key = key;
    event.kv.mod_revision = revision() + 1;
    if (value) {
      event.kv.value = std::make_shared<const std::string>(*value);
      next[key] = event.kv;
    } else {
      event.type = kv::Event::Type::kDelete;
      next.erase(key);
    }
    states.push_back(std::move(next));
    events.push_back(TextOf(event));
  }
  std::string Text(Revision at) const {
    std::vector<kv::KeyValue> kvs;
    for (const auto& [key, kv] : states[static_cast<std::size_t>(at)]) kvs.push_back(kv);
    return TextOf(kvs);
  }
};

Status Step(Subject& s, Model& model, Random& random) {
  const std::string key = "/k/" + std::to_string(random.Below(30));
  const auto& now = model.states.back();
  const auto found = now.find(key);
  const Revision held = found == now.end() ? 0 : found->second.mod_revision;
  // One write in five expects a wrong revision.
  const bool right = random.Below(5) != 0;
  const Revision expected = right ? held : model.revision() + 5;
  const bool erase = held != 0 && random.Below(4) == 0;
  std::optional<std::string> value;
  if (!erase || expected == 0) value = std::to_string(random.Below(1000));
  ASSIGN_OR_RETURN(const auto response, s.Txn(key, expected, value));
  EXPECT_EQ(response.succeeded, right);
  EXPECT_EQ(response.kv.mod_revision, held);
  if (right) model.Write(key, value);
  EXPECT_EQ(response.revision, model.revision());
  return Status::Ok();
}

Status Compare(Subject& s, const Model& model) {
  // Every seventh revision, to keep the case short.
  for (Revision at = std::max<Revision>(model.compacted, 1); at <= model.revision(); at += 7) {
    ASSIGN_OR_RETURN(const std::string text, s.Text("/k/", at));
    EXPECT_EQ(text, model.Text(at));
  }
  const Revision from = std::max<Revision>(model.compacted + (s.host().remote ? 1 : 0), 1);
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "/k/", from));
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(model.revision()));
  std::size_t next = static_cast<std::size_t>(std::max<Revision>(from, 2));
  for (const kv::Event& event : events) {
    // The value before the event at the floor may be gone.
    if (event.kv.mod_revision > model.compacted) EXPECT_EQ(TextOf(event), model.events[next]);
    ++next;
  }
  EXPECT_EQ(next, model.events.size());
  return Status::Ok();
}

Status RandomHistory(Subject& s) {
  auto random = NewSeededRandom(20261121);
  Model model;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 150; ++i) RETURN_IF_ERROR(Step(s, model, *random));
    RETURN_IF_ERROR(Compare(s, model));
    const auto kept = static_cast<std::uint64_t>(model.revision() - model.compacted);
    model.compacted += static_cast<Revision>(random->Below(kept + 1));
    RETURN_IF_ERROR(s.Compact(model.compacted));
    RETURN_IF_ERROR(Compare(s, model));
    if (model.compacted > 1) EXPECT_REASON(s.Text("", model.compacted - 1), Reason::kExpired);
  }
  return Status::Ok();
}

}  // namespace

CaseTable ModelCases() {
  return {{"random writes, reads and compactions agree with a model", RandomHistory}};
}

}  // namespace apiserver::v0::testing::storage
