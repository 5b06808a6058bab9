#include "client/exec_authenticator.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/manual.h"
#include "client/kept_lines.h"
#include "client/scripted_plug_in.h"

namespace apiserver::inline v0::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ScriptedPlugIn;

Result<std::string> TokenOf(const Result<ExecAuthenticator::Credentials>& got) {
  if (!got.ok()) return got.status();
  return (*got)->token;
}

std::string Answered(OwnedExecAuthenticator& authenticator,
                     const Context& ctx = Context::Background()) {
  const auto token = TokenOf(authenticator->Get(ctx));
  return token.ok() ? *token : std::string(token.status().message());
}

template <class Condition>
bool Soon(const Condition& holds) {
  const auto deadline = RealClock().Now() + seconds(20);
  while (!holds() && RealClock().Now() < deadline) std::this_thread::sleep_for(milliseconds(2));
  return holds();
}

TEST_CASE("client: a plug-in runs once for credentials that do not expire", "[client]") {
  const ScriptedPlugIn plug_in(ScriptedPlugIn::Printing(R"("token":"t")"));
  OwnedExecAuthenticator authenticator(plug_in.config(), {});
  CHECK(plug_in.runs() == 0);
  CHECK(authenticator->Cached() == nullptr);
  const Context loop = Context::Background().WithMayBlock(false);
  CHECK(authenticator->Get(loop).status().reason() == Reason::kWouldBlock);

  CHECK(Answered(authenticator) == "t");
  CHECK(Answered(authenticator, loop) == "t");

  CHECK(plug_in.runs() == 1);
}

TEST_CASE("client: a plug-in runs again when its credentials have expired", "[client]") {
  testing::ManualClock clock;
  const ScriptedPlugIn plug_in(
      ScriptedPlugIn::Printing(R"("token":"first","expirationTimestamp":"1970-01-01T00:00:05Z")"));
  OwnedExecAuthenticator authenticator(plug_in.config(), {.clock = &clock});
  CHECK(Answered(authenticator) == "first");
  plug_in.Become(ScriptedPlugIn::Printing(R"("token":"second")"));
  clock.Advance(seconds(5));
  CHECK(Answered(authenticator) == "first");

  clock.Advance(seconds(1));

  CHECK(Answered(authenticator) == "second");
  CHECK(plug_in.runs() == 2);
}

TEST_CASE("client: a plug-in runs again, once, when a server refuses its credentials", "[client]") {
  testing::KeptLines log;
  const ScriptedPlugIn plug_in(ScriptedPlugIn::Printing(R"("token":"first")"));
  OwnedExecAuthenticator authenticator(plug_in.config(), {.log = &log});
  const auto first = authenticator->Get(Context::Background()).value();

  plug_in.Become("exit 1");
  authenticator->Refuse(first);
  // As in client-go, they stay in use if they cannot be replaced.
  CHECK(Answered(authenticator) == "first");
  CHECK(Soon([&] {
    return log.Has(
        "credentials that were refused could not be replaced error=getting credentials: "
        "exec: executable " +
        plug_in.path() + " failed with exit code 1");
  }));
  plug_in.Become(ScriptedPlugIn::Printing(R"("token":"second")"));
  REQUIRE(Soon([&] {
    authenticator->Refuse(first);
    return Answered(authenticator) == "second";
  }));
  const auto runs = plug_in.runs();
  authenticator->Refuse(first);
  CHECK(Answered(authenticator) == "second");
  CHECK(plug_in.runs() == runs);
}

TEST_CASE("client: credentials may be refused as soon as they are there", "[client]") {
  const ScriptedPlugIn plug_in(ScriptedPlugIn::Printing(R"("token":"first")"));
  OwnedExecAuthenticator authenticator(plug_in.config(), {});
  Notification refused;
  authenticator->Start(Context::Background(), [&](Result<ExecAuthenticator::Credentials> got) {
    plug_in.Become(ScriptedPlugIn::Printing(R"("token":"second")"));
    authenticator->Refuse(*got);
    refused.Notify();
  });
  refused.Wait();

  CHECK(Answered(authenticator) == "second");
  CHECK(plug_in.runs() == 2);
}

TEST_CASE("client: a plug-in runs once for all that wait", "[client]") {
  const ScriptedPlugIn plug_in("sleep 0.2\n" + ScriptedPlugIn::Printing(R"("token":"t")"));
  OwnedExecAuthenticator authenticator(plug_in.config(), {});
  std::vector<std::string> tokens(8);
  std::vector<std::thread> threads;
  for (std::string& token : tokens) {
    threads.emplace_back([&] { token = Answered(authenticator); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(tokens == std::vector<std::string>(8, "t"));
  CHECK(plug_in.runs() == 1);
}

TEST_CASE("client: a plug-in runs on while somebody waits for it", "[client]") {
  const ScriptedPlugIn plug_in(
      "echo $$ >\"$0.pid\"; while ! [ -e \"$0.go\" ]; do sleep 0.01; done\n" +
      ScriptedPlugIn::Printing(R"("token":"t")"));
  OwnedExecAuthenticator authenticator(plug_in.config(), {});
  const Context first = Context::Child(Context::Background());
  const Context second = Context::Child(Context::Background());
  Guarded<std::vector<std::string>> ended;
  const auto note = [&](const Result<ExecAuthenticator::Credentials>& got) {
    ended.Lock()->push_back(got.ok() ? (*got)->token : std::string(got.status().message()));
  };
  authenticator->Start(first, note);
  authenticator->Start(second, note);
  REQUIRE(Soon([&] { return plug_in.Read("credentials.pid").ends_with('\n'); }));
  const int pid = std::stoi(plug_in.Read("credentials.pid"));

  first.Cancel(Status(Reason::kTimeout, "too late"));
  CHECK(*ended.Lock() == std::vector<std::string>{"getting credentials: too late"});
  CHECK(kill(pid, 0) == 0);
  second.Cancel(Status(Reason::kTimeout, "too"));
  CHECK(Soon([&] { return kill(pid, 0) != 0; }));

  plug_in.Write("credentials.go", "");
  CHECK(Answered(authenticator) == "t");
  CHECK(ended.Lock()->size() == 2);
}

TEST_CASE("client: a client that goes kills its plug-in and ends its calls", "[client]") {
  const ScriptedPlugIn plug_in("echo $$ >\"$0.pid\"; sleep 1000");
  std::string why;
  int pid = 0;
  {
    OwnedExecAuthenticator authenticator(plug_in.config(), {});
    authenticator->Start(Context::Background(),
                         [&](const auto& got) { why = got.status().message(); });
    REQUIRE(Soon([&] { return plug_in.Read("credentials.pid").ends_with('\n'); }));
    pid = std::stoi(plug_in.Read("credentials.pid"));
  }
  CHECK(why == "getting credentials: the client is gone");
  CHECK(kill(pid, 0) != 0);

  plug_in.Become(ScriptedPlugIn::Printing(R"("token":"t")"));
  auto dropped = std::make_unique<OwnedExecAuthenticator>(plug_in.config(), ExecPlugInDeps{});
  Notification gone;
  const auto shared = dropped->shared();
  shared->Start(Context::Background(), [&](const auto& /*got*/) {
    dropped.reset();
    gone.Notify();
  });
  CHECK(gone.WaitFor(seconds(20)));
  CHECK(shared->Get(Context::Background()).ok());
}

}  // namespace
}  // namespace apiserver::inline v0::client
