#include "apiserver/audit/log_backend.h"

#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "apiserver/audit/context.h"
#include "apiserver/audit/request.h"
#include "audit/fakes.h"
#include "gunzip.h"

namespace apiserver::inline v0::audit {
namespace {

// Lines in memory; may be stopped, or fail.
class Page final : public LineWriter {
 public:
  struct State {
    std::string text;
    bool stopped = false;
    bool entered = false;
    Status result;
  };
  using Shared = std::shared_ptr<Guarded<State>>;

  explicit Page(Shared shared) : shared_(std::move(shared)) {}
  Status Write(std::string_view lines) override {
    auto state = shared_->Lock();
    state->entered = true;
    shared_->NotifyAll();
    state.Wait([&] { return !state->stopped; });
    if (state->result.ok()) state->text += lines;
    shared_->NotifyAll();
    return state->result;
  }

 private:
  Shared shared_;
};

std::vector<std::string> NamesIn(FileSystem& files, const std::string& folder) {
  auto names = files.List(folder);
  REQUIRE(names.ok());
  return *names;
}

constexpr std::string_view kLegacyOfOne =
    R"(0001-01-01T00:00:00Z AUDIT: id="1" stage="RequestReceived" ip="<unknown>" method="" )"
    R"(user="<none>" groups="<none>" as="<self>" asgroups="<lookup>" user-agent="" )"
    R"(namespace="<none>" uri="" response="<deferred>")";

}  // namespace

// TestLogEventsJson, TestLogEventsLegacy: what a line says is tested with Event.
TEST_CASE("audit: the log writes a line an event, and all of them before it stops", "[audit]") {
  for (const LogFormat format : {LogFormat::kJson, LogFormat::kLegacy}) {
    auto page = std::make_shared<Guarded<Page::State>>();
    Counted counted;
    const BackendPtr log =
        NewLogBackend(std::make_unique<Page>(page), {.format = format, .strict = false});
    REQUIRE(log->Run(counted.environment()).ok());
    log->ProcessEvents({EventNamed("1")}, nullptr);
    log->ProcessEvents({EventNamed("2"), EventNamed("3")}, nullptr);
    log->Shutdown(kSoon);
    const std::string text = page->Lock()->text;
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
    const std::string first = text.substr(0, text.find('\n'));
    if (format == LogFormat::kLegacy) {
      CHECK(first == kLegacyOfOne);
    } else {
      CHECK(first ==
            R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"1",)"
            R"("stage":"RequestReceived","requestURI":"","verb":"","user":{},)"
            R"("requestReceivedTimestamp":null,"stageTimestamp":null})");
    }
  }
}

TEST_CASE("audit: what nobody waits for is written although no more comes", "[audit]") {
  auto page = std::make_shared<Guarded<Page::State>>();
  Counted counted;
  const BackendPtr log = NewLogBackend(std::make_unique<Page>(page));
  REQUIRE(log->Run(counted.environment()).ok());
  for (const std::ptrdiff_t lines : {1, 2}) {  // The second after the writer has rested.
    log->ProcessEvents({EventNamed("1")}, nullptr);
    auto state = page->Lock();
    CHECK(state.WaitUntil(RealClock().Now() + kSoon, [&] {
      return std::count(state->text.begin(), state->text.end(), '\n') == lines;
    }));
  }
}

TEST_CASE("audit: the log takes a small event at once, and leaves a large one to its writer",
          "[audit]") {
  const auto page = std::make_shared<Guarded<Page::State>>();
  const auto log =
      NewIgnoreErrors(NewLogBackend(std::make_unique<Page>(page), {.format = LogFormat::kLegacy}));
  REQUIRE(log->Run({}).ok());
  const Event small{.audit_id = "1"};
  Event large{.audit_id = "2"};
  large.request_object = std::make_shared<const std::string>(std::string(1 << 20, 'x'));

  RequestJson kept;
  CHECK(log->ProcessAtOnce(small, kept));
  CHECK_FALSE(log->ProcessAtOnce(large, kept));
  CHECK_FALSE(FakeBackend().ProcessAtOnce(small, kept));
  log->Shutdown(std::chrono::milliseconds(0));

  CHECK(page->Lock()->text == std::string(kLegacyOfOne) + "\n");
}

// The log writes the fields that all events of a request share once, and keeps their JSON.
TEST_CASE("audit: each line of a request in the log is that of its event", "[audit]") {
  using Change = void (*)(const Context&, AuditContext&);
  const auto change = GENERATE(
      as<Change>(), [](const Context&, AuditContext&) {},
      [](const Context& ctx, AuditContext& audit) {
        audit.SetCode(200);
        AddAnnotation(ctx, "key", "value");
      },
      [](const Context& ctx, AuditContext&) {
        LogImpersonatedUser(ctx, std::make_shared<auth::UserInfo>(auth::UserInfo{.name = "joe"}));
      },
      [](const Context& ctx, AuditContext&) {
        LogCreatedName(ctx, [] { return std::string("made"); });
      },
      [](const Context& ctx, AuditContext&) {
        LogRequestObject(ctx, {.resource = "", .uid = "u-1"}, [] { return std::string("{}"); });
      },
      [](const Context&, AuditContext& audit) { audit.Pack(); },
      [](const Context&, AuditContext& audit) {
        audit.Visit([](Event& event) { event.user_agent = "other"; });
      });
  const std::string uri = GENERATE(std::string("/apis"), "/" + std::string(5000, '"'));
  const std::chrono::milliseconds pause(GENERATE(3, 1200));
  const auto page = std::make_shared<Guarded<Page::State>>();
  const BackendPtr log = NewLogBackend(std::make_unique<Page>(page));
  REQUIRE(log->Run({}).ok());
  SetClock clock;
  const auto audit = std::make_shared<AuditContext>("id-1", clock, NullLogSink());
  Context ctx = Context::Child(Context::Background());
  ctx.Set(AuditContextPtr(audit));
  audit->Init({.level = Level::kMetadata});
  audit->Visit([&](Event& event) {
    event.request_uri = uri;
    event.user = std::make_shared<auth::UserInfo>(auth::UserInfo{.name = "jane"});
    event.object_ref.emplace().resource = "pods";
  });
  std::string expected;
  const auto record = [&](Stage stage) {
    clock.Advance(pause);
    audit->VisitAt(stage, std::nullopt, [&](const Event& event, RequestJson& kept) {
      AppendEventJson(event, expected);
      expected += '\n';
      REQUIRE(log->ProcessAtOnce(event, kept));
    });
  };

  record(Stage::kRequestReceived);
  change(ctx, *audit);
  record(Stage::kResponseStarted);
  record(Stage::kResponseComplete);
  log->Shutdown(kSoon);

  CHECK(page->Lock()->text == expected);
}

TEST_CASE("audit: a strict log says whether it could write", "[audit]") {
  auto page = std::make_shared<Guarded<Page::State>>();
  Counted counted;
  const BackendPtr log = NewLogBackend(std::make_unique<Page>(page), {.strict = true});
  CHECK(log->Holds());
  REQUIRE(log->Run(counted.environment()).ok());
  const auto processed = [&log] {
    auto answer = std::make_shared<std::promise<bool>>();
    auto future = answer->get_future();
    log->ProcessEvents({EventNamed("1")}, [answer](bool value) { answer->set_value(value); });
    REQUIRE(future.wait_for(kSoon) == std::future_status::ready);
    return future.get();
  };
  CHECK(processed());
  page->Lock()->result = Status(Reason::kInternalError, "No space left on device");
  CHECK_FALSE(processed());
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"log\"} 1"));
  log->Shutdown(kSoon);
  CHECK_FALSE(processed());
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"log\"} 2"));
  log->ProcessEvent(Event());
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"log\"} 3"));
}

TEST_CASE("audit: a log that falls behind holds requests, and its memory has an end", "[audit]") {
  auto page = std::make_shared<Guarded<Page::State>>();
  page->Lock()->stopped = true;
  Counted counted;
  const BackendPtr log = NewLogBackend(std::make_unique<Page>(page),
                                       {.held_bytes = 10'000, .waiting_bytes_max = 30'000});
  REQUIRE(log->Run(counted.environment()).ok());
  CHECK_FALSE(log->Holds());
  log->ProcessEvents({EventNamed("1", 12'000)}, nullptr);
  CHECK(log->Holds());
  log->ProcessEvents({EventNamed("2", 12'000)}, nullptr);
  log->ProcessEvents({EventNamed("3", 12'000)}, nullptr);  // Over the end.
  CHECK(counted.Shows("apiserver_audit_error_total{plugin=\"log\"} 1"));
  page->Lock()->stopped = false;
  page->NotifyAll();
  log->Shutdown(kSoon);
  CHECK_FALSE(log->Holds());
  const std::string text = page->Lock()->text;
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("audit: the log keeps the order of events, small and large", "[audit]") {
  constexpr std::size_t kLarge = 700'000;
  auto page = std::make_shared<Guarded<Page::State>>();
  page->Lock()->stopped = true;  // So that they are collected.
  Counted counted;
  const BackendPtr log = NewLogBackend(std::make_unique<Page>(page));
  REQUIRE(log->Run(counted.environment()).ok());
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    const std::string id = "id-" + std::to_string(i);
    const EventPtr event = EventNamed(id, i % 7 == 3 ? kLarge : 10);
    if (i % 2 == 0) {
      log->ProcessEvents({event}, nullptr);
    } else {
      log->ProcessEvent(Event(*event));
    }
    expected.push_back(id);
  }
  page->Lock()->stopped = false;
  page->NotifyAll();
  log->Shutdown(kSoon);
  CHECK_FALSE(log->Holds());
  std::vector<std::string> written;
  const std::string text = page->Lock()->text;
  const std::string before = R"("auditID":")";
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    written.push_back(text.substr(at, text.find('"', at) - at));
  }
  CHECK(written == expected);
  CHECK(std::count(text.begin(), text.end(), '\n') == 60);
}

TEST_CASE("audit: the log's file is its owner's alone", "[audit]") {
  std::string folder = (std::filesystem::temp_directory_path() / "audit-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::string path = folder + "/new/audit.log";
  auto file = NewRotatingFile({.path = path});
  REQUIRE(file.ok());
  REQUIRE((*file)->Write("line\n").ok());
  struct stat found {};
  REQUIRE(stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  REQUIRE(stat((folder + "/new").c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
  std::filesystem::remove_all(folder);
}

TEST_CASE("audit: a log file that cannot be opened is an error at once", "[audit]") {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->WriteAtomically("/file", "", 0600).ok());
  CHECK(NewRotatingFile({.path = "/file/audit.log", .files = files.get()}).status().message() ==
        "mkdir /file: File exists");
}

// lumberjack: TestRotate, TestMaxBackups, TestOldLogFiles
TEST_CASE("audit: a full log file becomes a backup with the time in its name", "[audit]") {
  const auto files = NewMemoryFileSystem();
  SetClock clock;
  clock.Advance(std::chrono::milliseconds(1'700'000'000'123));
  {
    auto file = NewRotatingFile({.path = "/log/audit.log",
                                 .bytes_max = 10,
                                 .max_backups = 2,
                                 .files = files.get(),
                                 .clock = &clock});
    REQUIRE(file.ok());
    REQUIRE((*file)->Write("one\ntwo\n").ok());
    CHECK(NamesIn(*files, "/log") == std::vector<std::string>{"audit.log"});
    REQUIRE((*file)->Write("three\n").ok());
    CHECK(files->Read("/log/audit-2023-11-14T22-13-20.123.log").value() == "one\ntwo\n");
    CHECK(files->Read("/log/audit.log").value() == "three\n");
    // Longer than a file may be: alone in its own.
    clock.Advance(std::chrono::seconds(1));
    REQUIRE((*file)->Write("a line too long\n").ok());
    clock.Advance(std::chrono::seconds(1));
    REQUIRE((*file)->Write("four\n").ok());
  }
  CHECK(NamesIn(*files, "/log") == std::vector<std::string>{"audit-2023-11-14T22-13-21.123.log",
                                                            "audit-2023-11-14T22-13-22.123.log",
                                                            "audit.log"});
  CHECK(files->Read("/log/audit-2023-11-14T22-13-22.123.log").value() == "a line too long\n");
}

// lumberjack: TestMaxAge, TestCompressOnRotate
TEST_CASE("audit: old backups are removed, and those that stay compressed", "[audit]") {
  const auto files = NewMemoryFileSystem();
  SetClock clock;
  clock.Advance(std::chrono::seconds(1'700'000'000));
  REQUIRE(files->MakeDirectories("/log", 0700).ok());
  for (const char* name : {"audit-2023-11-12T22-13-19.000.log.gz", "audit-2023-11-13T22-13-19.log",
                           "audit-2023-11-12T22-13-21.000.log", "other.log"}) {
    REQUIRE(files->WriteAtomically(std::string("/log/") + name, "old\n", 0600).ok());
  }
  {
    auto file = NewRotatingFile({.path = "/log/audit.log",
                                 .bytes_max = 6,
                                 .max_age_days = 2,
                                 .compress = true,
                                 .files = files.get(),
                                 .clock = &clock});
    REQUIRE(file.ok());
    REQUIRE((*file)->Write("one\n").ok());
    REQUIRE((*file)->Write("two\n").ok());
  }
  CHECK(NamesIn(*files, "/log") == std::vector<std::string>{"audit-2023-11-12T22-13-21.000.log.gz",
                                                            "audit-2023-11-13T22-13-19.log",
                                                            "audit-2023-11-14T22-13-20.000.log.gz",
                                                            "audit.log", "other.log"});
  CHECK(testing::Gunzip().Add(files->Read("/log/audit-2023-11-14T22-13-20.000.log.gz").value()) ==
        "one\n");
}

}  // namespace apiserver::inline v0::audit
