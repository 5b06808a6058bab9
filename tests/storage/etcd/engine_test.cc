#include <stdlib.h>

#include "apiserver/base/file_system.h"
#include "apiserver/base/progress.h"
#include "apiserver/base/sync.h"
#include "storage/etcd/fixture.h"

// What a connection to etcd may meet; the pitfalls that were found in etcd and in gRPC.
namespace apiserver::inline v0::storage::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("storage.etcd: a value over etcd's limit is refused and changes nothing",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  // The first is refused by etcd, the second by its transport.
  for (const std::size_t mebibytes : {2, 4}) {
    const Status status = s->Create("a", std::string(mebibytes << 20, 'x')).status();
    INFO(status.ToString());
    CHECK(status.reason() == Reason::kRequestEntityTooLarge);
  }
  CHECK(Must(s->Current()) == 1);
}

TEST_CASE("storage.etcd: an answer of more than 4 MiB is read", "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  for (int i = 0; i < 6; ++i) Must(s->Create(std::to_string(i), std::string(1 << 20, 'x')));
  CHECK(Must(s->List("", 0, 6)).kvs.size() == 6);
}

TEST_CASE("storage.etcd: the figures tell the bytes of etcd's file", "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  const kv::Stats stats = s->engine().GetStats();
  CHECK(stats.bytes > 0);
  CHECK(stats.file_bytes >= stats.bytes);
  CHECK(s->engine().name() == "etcd");
}

TEST_CASE("storage.etcd: a log of many MiB arrives whole, in pieces of whole revisions",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  for (int i = 0; i < 12; ++i) Must(s->Update("a", std::string(1 << 20, 'a' + i)));
  const auto reader = Must(TailReader::Open(s->engine(), "", 2));
  const auto events = Must(reader->ReadTo(13));
  REQUIRE(events.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(events[i].kv.mod_revision == static_cast<Revision>(i) + 2);
    CHECK(events[i].kv.value->size() == 1 << 20);
    CHECK((*events[i].kv.value)[0] == static_cast<char>('a' + i));
  }
}

TEST_CASE("storage.etcd: many keys are read in pages of one revision", "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  std::vector<Thread> writers;
  for (int t = 0; t < 8; ++t) {
    writers.emplace_back("writer", [&s, t] {
      for (int i = t; i < 1201; i += 8) (void)s->Create("/k/" + std::to_string(10000 + i), "v");
    });
  }
  for (Thread& writer : writers) writer.Join();
  const auto list = Must(s->List("/k/"));
  CHECK(list.kvs.size() == 1201);
  CHECK(list.count == 1201);
  CHECK_FALSE(list.more);
  CHECK(list.revision == 1202);
  CHECK(list.kvs.front().key == "/k/10000");
  CHECK(list.kvs[500].key == "/k/10500");
  CHECK(list.kvs.back().key == "/k/11200");
}

TEST_CASE("storage.etcd: a tail from below another's compaction ends as expired",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto one = OpenSubject(OptionsFor(server->urls()));
  const auto two = OpenSubject(OptionsFor(server->urls()));
  for (int i = 0; i < 9; ++i) Must(one->Tick());
  REQUIRE(two->Compact(8).ok());
  const auto reader = Must(TailReader::Open(one->engine(), "", 3));
  CHECK(reader->ReadToEnd().reason() == Reason::kExpired);
  CHECK(reader->tail().compacted_revision() == 8);
  CHECK(one->engine().CompactedRevision() == 8);
}

TEST_CASE("storage.etcd: what a lease ends at once comes in one batch", "[storage.etcd]") {
  const auto server =
      StartEtcd(1, {.arguments = {"--heartbeat-interval=10", "--election-timeout=100"}});
  const auto s = OpenSubject(OptionsFor(server->urls()));
  const auto lease = Must(s->engine().GrantLease(Context::Background(), seconds(3)));
  for (const char* key : {"a", "b", "c"}) Must(s->Create(key, "1", lease));
  const auto reader = Must(TailReader::Open(s->engine(), "", 5));
  kv::EventBatch batch;
  while (reader->Poll(batch) == kv::Tail::State::kWait) REQUIRE(reader->WaitForWake());
  CHECK(TextOf(batch.events) == "delete a@5 was 1@2, delete b@5 was 1@3, delete c@5 was 1@4");
  CHECK(batch.complete_up_to == 5);
}

TEST_CASE("storage.etcd: a killed etcd is missed, and used again as soon as it is back",
          "[storage.etcd][slow]") {
  const auto server = StartEtcd();
  auto options = OptionsFor(server->urls());
  options.health_timeout = milliseconds(500);
  const auto s = OpenSubject(options);
  const auto reader = Must(TailReader::Open(s->engine(), "", 1));
  Must(s->Create("a", "1"));
  CHECK(TextOf(Must(reader->ReadTo(2))) == "create a=1@2");
  // A busy machine may have kept one look at it waiting.
  CHECK(Eventually([&s] { return s->engine().Ready().ok(); }));
  server->Kill(0);
  REQUIRE(Eventually([&s] { return !s->engine().Ready().ok(); }));
  // Asked while it is down, answered when it is back: nobody has to ask again.
  Result<Revision> waited = Status(Reason::kUnknown, "");
  Thread caller("caller", [&] { waited = s->Current(); });
  std::this_thread::sleep_for(milliseconds(1500));
  REQUIRE(server->Restart(0).ok());
  caller.Join();
  CHECK(Must(waited) == 2);
  CHECK(Must(s->Update("a", "2")) == 3);
  CHECK(TextOf(Must(reader->ReadTo(3))) == "put a=2@3 was 1@2");
  CHECK(Eventually([&s] { return s->engine().Ready().ok(); }));
}

TEST_CASE("storage.etcd: a write to an etcd that is away fails and says so",
          "[storage.etcd][slow]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  server->Kill(0);
  // The first may meet the end of the connection and cannot know.
  const Context soon = Context::Child(Context::Background(), RealClock().Now() + milliseconds(500));
  kv::TxnRequest request;
  request.key = "a";
  request.value = std::make_shared<const std::string>("1");
  (void)s->engine().Txn(soon, request);
  const Status status = s->Txn("a", 0, "1").status();
  INFO(status.ToString());
  CHECK(status.reason() == Reason::kServiceUnavailable);
  CHECK(status.message().find(server->urls()[0]) != std::string::npos);
}

TEST_CASE("storage.etcd: one that stops answering makes the engine unready until it answers",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  auto options = OptionsFor(server->urls());
  options.health_timeout = milliseconds(300);
  const auto s = OpenSubject(options);
  server->Pause(0);
  CHECK(Eventually([&s] { return !s->engine().Ready().ok(); }));
  CHECK(s->engine().Ready().reason() == Reason::kTimeout);
  server->Resume(0);
  CHECK(Eventually([&s] { return s->engine().Ready().ok(); }));
}

TEST_CASE("storage.etcd: a server that nobody listens at costs nothing beside one that answers",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const std::string dead = "http://127.0.0.1:1";
  const bool first = GENERATE(true, false);
  const auto s = OpenSubject(OptionsFor(first ? std::vector{dead, server->urls()[0]}
                                              : std::vector{server->urls()[0], dead}));
  for (int i = 0; i < 20; ++i) CHECK(s->Tick().ok());
  const auto reader = Must(TailReader::Open(s->engine(), "", 2));
  CHECK(Must(reader->ReadTo(21)).size() == 20);
}

TEST_CASE("storage.etcd: a proxy in the environment is not for etcd", "[storage.etcd]") {
  const auto server = StartEtcd();
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("https_proxy", "http://127.0.0.1:1", 1);
  const auto s = OpenSubject(OptionsFor(server->urls()));
  CHECK(Must(s->Create("a", "1")) == 2);
  unsetenv("http_proxy");
  unsetenv("https_proxy");
}

TEST_CASE("storage.etcd: opening without any server there says which and what to do",
          "[storage.etcd]") {
  auto options = OptionsFor({"http://127.0.0.1:1", "http://127.0.0.1:2"});
  options.dial_timeout = milliseconds(300);
  const Status status = Open(options).status();
  CHECK(status.reason() == Reason::kServiceUnavailable);
  CHECK(status.message().starts_with(
      "etcd (http://127.0.0.1:1, http://127.0.0.1:2) cannot be reached: "));
  CHECK(
      status.message().ends_with("check that it runs, its addresses, and for https the "
                                 "certificates"));
}

TEST_CASE("storage.etcd: opening where nobody answers in time says what to do as well",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  server->Pause(0);
  auto options = OptionsFor(server->urls());
  options.dial_timeout = milliseconds(300);
  const Status status = Open(options).status();
  server->Resume(0);
  INFO(status.ToString());
  CHECK(status.reason() == Reason::kServiceUnavailable);
  CHECK(status.message().ends_with("and for https the certificates"));
}

TEST_CASE("storage.etcd: an engine may begin before its etcd", "[storage.etcd]") {
  const auto server = StartEtcd();
  server->Kill(0);
  auto options = OptionsFor(server->urls());
  options.require_contact = false;
  options.health_timeout = milliseconds(300);
  const auto s = OpenSubject(options);
  CHECK_FALSE(s->engine().Ready().ok());
  const auto reader = Must(TailReader::Open(s->engine(), "", 1));
  REQUIRE(server->Restart(0).ok());
  CHECK(Eventually([&s] { return s->engine().Ready().ok(); }));
  CHECK(Must(s->Create("a", "1")) == 2);
  CHECK(TextOf(Must(reader->ReadTo(2))) == "create a=1@2");
}

TEST_CASE("storage.etcd: an engine stops while its etcd is away", "[storage.etcd]") {
  const auto server = StartEtcd();
  const auto s = OpenSubject(OptionsFor(server->urls()));
  const auto reader = Must(TailReader::Open(s->engine(), "", 0));
  server->Kill(0);
  Status outcome;
  Thread caller("caller", [&] { outcome = s->Current().status(); });
  std::this_thread::sleep_for(milliseconds(50));
  s->engine().Stop();
  caller.Join();
  CHECK_FALSE(outcome.ok());
  CHECK(reader->ReadToEnd().reason() == Reason::kServiceUnavailable);
}

TEST_CASE("storage.etcd: a tail that is not read holds little and loses nothing",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  auto options = OptionsFor(server->urls());
  options.tail_bytes_max = 20'000;
  const auto s = OpenSubject(options);
  const auto reader = Must(TailReader::Open(s->engine(), "/x/", 1));
  const auto other = Must(TailReader::Open(s->engine(), "", 1));
  for (int i = 0; i < 300; ++i) Must(s->Update("/x/a", std::string(1000, 'x')));
  Must(s->Create("/x/b", "last"));
  Must(other->ReadTo(302));
  // Had it held all, this would not have expired it.
  REQUIRE(s->Compact(250).ok());
  kv::EventBatch batch;
  CHECK(reader->Poll(batch) == kv::Tail::State::kEvents);
  CHECK(reader->ReadToEnd().reason() == Reason::kExpired);

  const auto again = Must(TailReader::Open(s->engine(), "/x/", 251));
  const auto events = Must(again->ReadTo(302));
  REQUIRE(events.size() == 52);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].kv.mod_revision == static_cast<Revision>(i) + 251);
  }
}

TEST_CASE("storage.etcd: where progress can be asked for a tail watches its prefix only",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server, "3.5.13");
  Subject& s = *lossy.subject;
  const auto reader = Must(TailReader::Open(s.engine(), "/x/", 1));
  for (int i = 0; i < 5; ++i) Must(s.Tick());
  Must(s.Create("/x/a", "1"));
  // This etcd is one of those whose progress lies while a watch catches up: no asking before.
  CHECK(TextOf(Must(reader->ReadTo(7))) == "create /x/a=1@7");
  Must(s.Tick());
  REQUIRE(s.engine().RequestProgress(Context::Background()).ok());
  CHECK(TextOf(Must(reader->ReadTo(8))) == "");
  // And after the connection was lost.
  server->Kill(0);
  REQUIRE(server->Restart(0).ok());
  Must(s.Update("/x/a", "2"));
  CHECK(TextOf(Must(reader->ReadTo(9))) == "put /x/a=2@9 was 1@7");
  Must(s.Tick());
  REQUIRE(s.engine().RequestProgress(Context::Background()).ok());
  CHECK(TextOf(Must(reader->ReadTo(10))) == "");
}

TEST_CASE("storage.etcd: progress is asked for again after somebody asked who had it all",
          "[storage.etcd]") {
  const auto server = StartEtcd();
  const Lossy lossy = OpenLossy(*server, "3.5.13");
  Subject& s = *lossy.subject;
  const auto reader = Must(TailReader::Open(s.engine(), "/x/", 1));
  Must(s.Create("/x/a", "1"));
  Must(reader->ReadTo(2));
  for (Revision revision = 3; revision < 6; ++revision) {
    REQUIRE(s.engine().RequestProgress(Context::Background()).ok());
    // Its revision is read before the next one is written.
    CHECK(Must(s.Current()) == revision - 1);
    Must(s.Tick());
    REQUIRE(s.engine().RequestProgress(Context::Background()).ok());
    CHECK(TextOf(Must(reader->ReadTo(revision))) == "");
  }
}

// Keeps the texts of finished jobs.
class JobEnds final : public ProgressSink {
 public:
  void Report(const Progress& progress) override {
    if (progress.finished) ends_.Lock()->push_back(progress.ToString());
  }
  std::vector<std::string> Get() const { return *ends_.Lock(); }

 private:
  Guarded<std::vector<std::string>> ends_;
};

TEST_CASE("storage.etcd: engines compact in turns at what was there an interval ago",
          "[storage.etcd][slow]") {
  const auto server = StartEtcd();
  ManualClock clock;
  auto options = OptionsFor(server->urls());
  options.compaction_interval = seconds(300);
  const auto jobs = std::make_shared<JobEnds>();
  Options with_clock{.servers = options.servers,
                     .compaction_interval = seconds(300),
                     .progress = jobs,
                     .clock = clock};
  const auto one = OpenSubject(with_clock);
  const auto reader = OpenSubject(OptionsFor(server->urls()));
  const auto value = [&reader] {
    const auto kv = reader->Get("compact_rev_key");
    return kv.ok() && kv->value != nullptr ? *kv->value : "";
  };
  Must(one->Create("a", "1"));
  clock.Advance(seconds(301));
  // 3: the first round writes that it knows nothing, and compacts nothing.
  REQUIRE(Eventually([&] { return value() == "0"; }));
  CHECK(one->engine().CompactedRevision() == 0);
  Must(one->Update("a", "2"));
  clock.Advance(seconds(301));
  // It had seen revision 3.
  REQUIRE(Eventually([&] { return value() == "3"; }));
  REQUIRE(Eventually([&] { return one->engine().CompactedRevision() == 3; }));
  // The engine may know it from the key, which is written before etcd compacts.
  CHECK(Eventually([&] { return reader->Get("a", 2).status().reason() == Reason::kExpired; }));
  CHECK(*Must(reader->Get("a", 3)).value == "1");
  // Who does not compact learns it from the key.
  CHECK(Eventually([&] { return reader->engine().CompactedRevision() == 3; }));
  // 4 was the update, and 5 the second round. Now it is known where the last compaction was.
  clock.Advance(seconds(301));
  REQUIRE(Eventually([&] { return jobs->Get().size() == 2; }));
  CHECK(jobs->Get() ==
        std::vector<std::string>{"compaction of etcd", "compaction of etcd: 2 of 2 revisions"});
  CHECK(one->engine().CompactedRevision() == 5);

  // Another server's turn: it finds a clock it has not seen, and only looks.
  ManualClock other_clock;
  Options other_options{
      .servers = options.servers, .compaction_interval = seconds(300), .clock = other_clock};
  const auto two = OpenSubject(other_options);
  other_clock.Advance(seconds(301));
  CHECK(Eventually([&] { return two->engine().CompactedRevision() == 5; }));
  CHECK(value() == "5");
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
