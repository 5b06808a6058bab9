#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "apiserver/base/random.h"
#include "apiserver/storage/rocks/engine.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0::storage::rocks {
namespace {

using kv::Revision;

const kv::HistoryOptions kKeepAll{.window = {}, .events_max = 0, .bytes_max = 0};

struct Acknowledged {
  std::string key;
  std::string value;  // "-": a deletion.
};
using Acknowledgements = std::map<Revision, Acknowledged>;

// Runs the writer on `path`, kills it after `lines` answers and adds them all to `seen`.
void RunAndKill(const std::string& path, std::size_t lines, Acknowledgements& seen) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(CRASH_WRITER, CRASH_WRITER, path.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[65536];
  bool killed = false;
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
    if (!killed && static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= lines) {
      kill(child, SIGKILL);
      killed = true;
    }
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  std::istringstream in(text);
  Revision revision = 0;
  Acknowledged one;
  while (in >> revision >> one.key >> one.value) {
    REQUIRE(seen.emplace(revision, one).second);
  }
}

// What the log of the store says, which must be gapless, and agree with what is there.
Acknowledgements ReadAll(kv::Engine& engine) {
  const Revision last = engine.CurrentRevision(Context::Background()).value();
  auto tail = engine.NewTail("", 1).value();
  Acknowledgements log;
  std::map<std::string, std::string> state;
  for (Revision complete = 1; complete < last;) {
    kv::EventBatch batch;
    REQUIRE(tail->Next(batch, Waker()) == kv::Tail::State::kEvents);
    complete = batch.complete_up_to;
    for (const kv::Event& event : batch.events) {
      const std::string value = event.kv.value == nullptr ? "-" : *event.kv.value;
      log[event.kv.mod_revision] = {event.kv.key, value};
      if (event.kv.value == nullptr) {
        state.erase(event.kv.key);
      } else {
        state[event.kv.key] = value;
      }
    }
  }
  REQUIRE(log.size() == static_cast<std::size_t>(last - 1));
  if (!log.empty()) REQUIRE(log.rbegin()->first == last);
  kv::RangeRequest all;
  all.key = "/";
  all.end = kv::PrefixEnd("/");
  const auto response = engine.Range(Context::Background(), all).value();
  std::map<std::string, std::string> found;
  for (const kv::KeyValue& kv : response.kvs) found[kv.key] = *kv.value;
  REQUIRE(found == state);
  return log;
}

TEST_CASE("storage.rocks: what was acknowledged survives kill -9", "[storage.rocks]") {
  TempDirectory directory;
  Acknowledgements seen;
  for (std::size_t round = 1; round <= 5; ++round) {
    const std::size_t before = seen.size();
    RunAndKill(directory.path(), 150 * round, seen);
    REQUIRE(seen.size() > before);
    auto engine = Open({.path = directory.path(), .history = kKeepAll});
    REQUIRE(engine.ok());
    const Acknowledgements log = ReadAll(**engine);
    for (const auto& [revision, one] : seen) {
      const auto found = log.find(revision);
      REQUIRE(found != log.end());
      REQUIRE(found->second.key == one.key);
      REQUIRE(found->second.value == one.value);
    }
    // What was written but not answered counts from now on.
    seen = log;
  }
}

// The newest of RocksDB's write-ahead logs.
std::filesystem::path NewestLog(const std::string& path) {
  std::filesystem::path newest;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".log") newest = std::max(newest, entry.path());
  }
  return newest;
}

TEST_CASE("storage.rocks: a log cut at its tail opens to a gapless state", "[storage.rocks]") {
  auto random = NewSeededRandom(3);
  for (int cut = 0; cut < 3; ++cut) {
    TempDirectory directory;
    Acknowledgements seen;
    RunAndKill(directory.path(), 300, seen);
    const auto log = NewestLog(directory.path());
    const auto size = std::filesystem::file_size(log);
    REQUIRE(size > 0);
    std::filesystem::resize_file(log, random->Below(size));
    auto engine = Open({.path = directory.path(), .history = kKeepAll});
    INFO(engine.status().ToString());
    REQUIRE(engine.ok());
    const Acknowledgements left = ReadAll(**engine);
    for (const auto& [revision, one] : left) {
      if (auto found = seen.find(revision); found != seen.end()) {
        REQUIRE(found->second.value == one.value);
      }
    }
    kv::TxnRequest request;
    request.key = "/after";
    request.value = std::make_shared<const std::string>("1");
    const auto response = (*engine)->Txn(Context::Background(), request).value();
    REQUIRE(response.revision == static_cast<Revision>(left.size()) + 2);
    (void)ReadAll(**engine);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::storage::rocks
