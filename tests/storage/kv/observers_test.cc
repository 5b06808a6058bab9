#include "apiserver/storage/kv/observers.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// How an embedded engine keeps its observers. Every engine's are tested by the conformance cases.
namespace apiserver::inline v0::storage::kv {
namespace {

// "2 3; 6": the revisions of each commit.
class Noted final : public Observer {
 public:
  explicit Noted(std::function<void()> act = {}) : act_(std::move(act)) {}
  void OnCommit(std::span<const Event* const> events, Revision) override {
    if (!text.empty()) text += ";";
    for (const Event* event : events) {
      text += (text.empty() ? "" : " ") + std::to_string(event->kv.mod_revision);
    }
    if (act_) act_();
  }
  void OnCompact(Revision compacted) override { text += " below " + std::to_string(compacted); }

  std::string text;

 private:
  const std::function<void()> act_;
};

Event Put(const std::string& key, Revision revision) {
  Event event;
  event.kv.key = key;
  event.kv.mod_revision = revision;
  return event;
}

}  // namespace

TEST_CASE("storage.kv: an observer receives the events after its beginning", "[storage.kv]") {
  Observers observers;
  Noted early;
  Noted late;
  const auto first = observers.Add("a", early, 4);
  // While the commit of 5 and 6 has been shown to readers, and not yet to observers.
  const auto second = observers.Add("a", late, 6);
  observers.Commit(std::vector{Put("a", 5), Put("ab", 6)}, 6);
  CHECK(early.text == "5 6");
  CHECK(late.text.empty());
  CHECK(second->begin() == 6);
  observers.Commit(std::vector{Put("a", 7), Put("b", 8), Put("a", 9)}, 9);
  CHECK(early.text == "5 6; 7 9");
  CHECK(late.text == "7 9");
}

TEST_CASE("storage.kv: an observation has seen what it began with", "[storage.kv]") {
  Observers observers;
  Noted noted;
  const auto observation = observers.Add("a", noted, 6);
  const auto progress = observation->progress();
  CHECK(progress->seen() == 6);
  observers.Commit({}, 5);
  CHECK(progress->seen() == 6);
  int told = 0;
  const auto past = progress->WhenSeen(6, [&told] { ++told; });
  CHECK(told == 1);
  observers.Commit({}, 7);
  CHECK(progress->seen() == 7);
}

TEST_CASE("storage.kv: an engine knows when it has no observers", "[storage.kv]") {
  Observers observers;
  Noted noted;
  CHECK(observers.empty());
  auto observation = observers.Add("a/", noted, 1);
  CHECK_FALSE(observers.empty());
  observation.reset();
  CHECK(observers.empty());
}

TEST_CASE("storage.kv: an observation that ends before its call has not seen the commit",
          "[storage.kv]") {
  Observers observers;
  std::unique_ptr<Observation> ends;
  Noted ending([&ends] { ends.reset(); });
  Noted ended;
  // The first of a prefix is called first.
  const auto stays = observers.Add("a", ending, 1);
  ends = observers.Add("a", ended, 1);
  const auto progress = ends->progress();
  observers.Commit(std::vector{Put("a", 2)}, 2);
  CHECK(ended.text.empty());
  CHECK(progress->seen() == 1);
  CHECK(stays->progress()->seen() == 2);
}

TEST_CASE("storage.kv: an observation may outlive its engine", "[storage.kv]") {
  auto observers = std::make_unique<Observers>();
  Noted noted;
  auto observation = observers->Add("a", noted, 1);
  const auto progress = observation->progress();
  observers->Commit(std::vector{Put("a", 2)}, 2);
  observers->Compact(2);
  auto waits = progress->WhenSeen(3, [] { FAIL("nobody commits any more"); });
  observers.reset();
  CHECK(progress->seen() == 2);
  observation.reset();
  CHECK(progress->seen() == 2);
  CHECK(noted.text == "2 below 2");
}

TEST_CASE("storage.kv: a waiter may go in its own call, and others wait on", "[storage.kv]") {
  Observers observers;
  Noted noted;
  const auto observation = observers.Add("a", noted, 1);
  const auto progress = observation->progress();
  std::string told;
  Context::Registration itself;
  itself = progress->WhenSeen(3, [&] {
    told += "3 ";
    itself = Context::Registration();
  });
  const auto also = progress->WhenSeen(3, [&told] { told += "also "; });
  const auto later = progress->WhenSeen(5, [&told] { told += "5 "; });
  auto gone = progress->WhenSeen(4, [&told] { told += "4 "; });
  observers.Commit({}, 2);
  CHECK(told.empty());
  observers.Commit({}, 3);
  CHECK(told == "3 also ");
  gone = Context::Registration();
  observers.Commit({}, 6);
  CHECK(told == "3 also 5 ");
}

}  // namespace apiserver::inline v0::storage::kv
