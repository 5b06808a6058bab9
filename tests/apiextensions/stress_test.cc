// Clients write and watch while definitions change: tests/e2e/crd_stress.py in one process and two
// seconds, for ThreadSanitizer.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiextensions/fixture.h"
#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Answer;
using testing::CustomServer;
using testing::Eventually;
using testing::kDefinitions;

namespace {

constexpr int kStressKinds = 3;
constexpr int kStressWriters = 6;
constexpr int kStressWatchers = 6;
constexpr int kStressChanges = 20;
constexpr std::size_t kStressObjects = 3;

// The objects of a kind by name, each with the count in its spec.
using Counts = std::map<std::string, std::int64_t>;

// Returns the versions of a definition. All generations have a count and an owner in common.
std::string StressVersions(int generation) {
  const std::string number = std::to_string(generation);
  return R"([{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
"type":"object","description":"generation )" +
         number + R"(","properties":{"spec":{"type":"object","required":["count"],"properties":{
"count":{"type":"integer","minimum":0,"maximum":)" +
         std::to_string(100'000 + generation) + R"(},"owner":{"type":"string"},"field)" +
         std::to_string(generation % 5) + R"(":{"type":"string"},
"generation":{"type":"integer","default":)" +
         number + R"(}},"x-kubernetes-validations":[{"rule":
"!has(oldSelf.owner) || self.owner == oldSelf.owner"}]}}}}}])";
}

std::string StressName(int kind) { return "things" + std::to_string(kind) + ".example.com"; }

std::string StressPath(int kind) {
  return "/apis/example.com/v1/namespaces/default/things" + std::to_string(kind);
}

std::string StressDefinition(int kind) {
  const std::string number = std::to_string(kind);
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":")" +
         StressName(kind) + R"("},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"things)" +
         number + R"(","kind":"Thing)" + number + R"("},"versions":)" + StressVersions(0) + "}}";
}

// The state that the threads share.
struct Stress {
  void Fail(std::string text) { errors.Lock()->push_back(std::move(text)); }

  CustomServer server;
  std::atomic<bool> writing = true;
  std::atomic<bool> watching = true;
  std::atomic<int> events = 0;
  Guarded<std::vector<std::string>> errors;
};

// Writes objects of its own, and knows what they are.
class StressWriter {
 public:
  StressWriter(Stress& stress, int number)
      : stress_(stress), number_(number), path_(StressPath(number % kStressKinds)) {}

  void Run() {
    for (int turn = 0; stress_.writing; ++turn) Step(turn);
  }
  const std::string& path() const { return path_; }
  const Counts& known() const { return known_; }

 private:
  void Step(int turn) {
    if (known_.size() < kStressObjects) {
      const std::string name = "w" + std::to_string(number_) + "-" + std::to_string(++next_);
      known_[name] = 0;
      Check(name, stress_.server.Call("POST", path_, Object(name)), 201);
      return;
    }
    const auto object = std::next(known_.begin(), turn % static_cast<int>(kStressObjects));
    const std::string name = object->first;
    const std::string path = path_ + "/" + name;
    switch (turn % 4) {
      case 0:
        ++object->second;
        return Check(name, stress_.server.Patch(path, R"({"spec":{"count":)" + Count(name) + "}}"),
                     200);
      case 1:
        ++object->second;
        return Check(name, stress_.server.Apply(path, Object(name), "fieldManager=m&force=true"),
                     200);
      case 2:
        return Check(name, stress_.server.Get(path), 200);
      default:
        if (stress_.server.Call("DELETE", path).code != 200) stress_.Fail("delete of " + name);
        known_.erase(object);
    }
  }

  std::string Count(const std::string& name) const { return std::to_string(known_.at(name)); }

  std::string Object(const std::string& name) const {
    return R"({"apiVersion":"example.com/v1","kind":"Thing)" +
           std::to_string(number_ % kStressKinds) + R"(","metadata":{"name":")" + name +
           R"("},"spec":{"count":)" + Count(name) + R"(,"owner":"w)" + std::to_string(number_) +
           R"("}})";
  }

  void Check(const std::string& name, const Answer& answer, int code) {
    if (answer.code != code || answer["spec"]["count"].AsInt() != known_.at(name)) {
      stress_.Fail(name + " is to have count " + Count(name) + ": " + answer.body);
    }
  }

  Stress& stress_;
  const int number_;
  const std::string path_;
  int next_ = 0;
  Counts known_;
};

// Follows one kind, and resumes where a watch ended.
class StressWatcher {
 public:
  StressWatcher(Stress& stress, int kind) : stress_(stress), path_(StressPath(kind)) {}

  void Run() {
    while (stress_.watching) {
      if (revision_.empty()) List();
      Watch();
    }
  }
  Counts held() { return *held_.Lock(); }
  const std::string& path() const { return path_; }

 private:
  void List() {
    const Answer list = stress_.server.Get(path_);
    if (list.code != 200) return stress_.Fail("list: " + list.body);
    revision_ = std::string(list["metadata"]["resourceVersion"].AsString());
    auto held = held_.Lock();
    held->clear();
    for (const runtime::Value& each : list["items"].items()) {
      (*held)[std::string(each["metadata"]["name"].AsString())] = each["spec"]["count"].AsInt();
    }
  }

  void Watch() {
    const Context context =
        Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));
    auto connection = stress_.server.server->server().LoopbackConnection();
    auto stream = connection->Open({.target = path_ +
                                              "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true"
                                              "&resourceVersion=" +
                                              revision_});
    if (!stream.ok()) return stress_.Fail("watch: " + stream.status().ToString());
    auto head = (*stream)->Head(context);
    if (!head.ok() || head->code != 200) return Refused(head.ok() ? head->code : 0);
    std::string text;
    while (true) {
      auto more = (*stream)->Read(context);
      if (!more.ok() || more->empty()) return;
      text += *more;
      for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        if (!Event(text.substr(0, end))) return;
        text.erase(0, end + 1);
      }
    }
  }

  // A revision that is too old is listed anew.
  void Refused(int code) {
    if (code != 410) stress_.Fail("a watch answers " + std::to_string(code));
    revision_.clear();
  }

  // Takes one event; false ends the watch.
  bool Event(const std::string& line) {
    runtime::Arena arena;
    auto parsed = codec::ParseJson(line, arena);
    if (!parsed.ok()) {
      stress_.Fail("no JSON: " + line);
      return false;
    }
    const std::string type((*parsed)["type"].AsString());
    const runtime::Value object = (*parsed)["object"];
    if (type == "ERROR") {
      Refused(static_cast<int>(object["code"].AsInt()));
      return false;
    }
    revision_ = std::string(object["metadata"]["resourceVersion"].AsString());
    if (type == "BOOKMARK") return true;
    ++stress_.events;
    const std::string name(object["metadata"]["name"].AsString());
    const std::int64_t count = object["spec"]["count"].AsInt();
    auto held = held_.Lock();
    const auto before = held->find(name);
    const bool known = before != held->end();
    const bool right = type == "ADDED"     ? !known && count == 0
                       : type == "DELETED" ? known && count == before->second
                                           : known && count == before->second + 1;
    if (!right) stress_.Fail("an event comes twice, late or not at all: " + line);
    if (type == "DELETED") {
      held->erase(name);
    } else {
      (*held)[name] = count;
    }
    return true;
  }

  Stress& stress_;
  const std::string path_;
  std::string revision_;
  Guarded<Counts> held_;
};

// Changes the definitions one after the other, ten times a second.
void ChangeDefinitions(Stress& stress) {
  for (int generation = 1; generation <= kStressChanges; ++generation) {
    const Answer changed =
        stress.server.Patch(std::string(kDefinitions) + "/" + StressName(generation % kStressKinds),
                            R"({"spec":{"versions":)" + StressVersions(generation) + "}}");
    if (changed.code != 200) stress.Fail("change: " + changed.body);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Counts StressListed(const Answer& list) {
  Counts found;
  for (const runtime::Value& each : list["items"].items()) {
    found[std::string(each["metadata"]["name"].AsString())] = each["spec"]["count"].AsInt();
  }
  return found;
}

}  // namespace

TEST_CASE("apiextensions: nothing is lost while schemas change ten times a second",
          "[apiextensions]") {
  Stress stress;
  for (int kind = 0; kind < kStressKinds; ++kind) {
    stress.server.Define(StressDefinition(kind), StressName(kind));
  }
  std::vector<std::unique_ptr<StressWriter>> writers;
  std::vector<std::unique_ptr<StressWatcher>> watchers;
  std::vector<Thread> writing;
  std::vector<Thread> watching;
  for (int number = 0; number < kStressWatchers; ++number) {
    watchers.push_back(std::make_unique<StressWatcher>(stress, number % kStressKinds));
    watching.emplace_back("watcher", [&one = *watchers.back()] { one.Run(); });
  }
  for (int number = 0; number < kStressWriters; ++number) {
    writers.push_back(std::make_unique<StressWriter>(stress, number));
    writing.emplace_back("writer", [&one = *writers.back()] { one.Run(); });
  }
  ChangeDefinitions(stress);
  stress.writing = false;
  for (Thread& each : writing) each.Join();

  std::map<std::string, Counts> wanted;
  for (const auto& writer : writers) {
    wanted[writer->path()].insert(writer->known().begin(), writer->known().end());
  }
  for (const auto& [path, counts] : wanted) CHECK(StressListed(stress.server.Get(path)) == counts);
  for (const auto& watcher : watchers) {
    CHECK(Eventually([&] { return watcher->held() == wanted[watcher->path()]; }));
  }
  stress.watching = false;
  for (Thread& each : watching) each.Join();
  CHECK(*stress.errors.Lock() == std::vector<std::string>());
  CHECK(stress.events > 0);
}
