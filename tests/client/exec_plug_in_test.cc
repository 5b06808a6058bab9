#include "client/exec_plug_in.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/manual.h"
#include "client/kept_lines.h"
#include "client/scripted_plug_in.h"

namespace apiserver::inline v0::client {
namespace {

using std::chrono::milliseconds;
using testing::ScriptedPlugIn;

std::string TokenOfRun(ExecPlugIn& plug_in) {
  const auto got = plug_in.Run(Context::Background());
  return got.ok() ? (*got)->token : std::string(got.status().message());
}

TEST_CASE("client: a plug-in gets its arguments, its variables and the cluster", "[client]") {
  const ScriptedPlugIn script(R"(printf '%s|%s|%s' "$*" "$A" "$KUBERNETES_EXEC_INFO" >"$0.seen")"
                              "\n" +
                              ScriptedPlugIn::Printing(R"("token":"t")"));
  script.Write("ca.pem", "baz");
  ClientConfig config = script.config();
  config.ca_file = script.folder() + "/ca.pem";
  config.exec->args = {"get", "token"};
  config.exec->env = {{"A", "b=c"}};
  config.exec->provide_cluster_info = true;
  ExecPlugIn run(config, {});

  CHECK(TokenOfRun(run) == "t");

  CHECK(script.Read("credentials.seen") ==
        R"(get token|b=c|{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
        R"("spec":{"cluster":{"server":"https://a.test","certificate-authority-data":"YmF6",)"
        R"("config":null},"interactive":false}})");
}

TEST_CASE("client: a plug-in that fails says how", "[client]") {
  testing::KeptLines log;
  const ScriptedPlugIn script("");
  const std::string name = "getting credentials: exec: executable " + script.path();
  ClientConfig config = script.config();
  config.exec->run_time_max = milliseconds(500);
  ExecPlugIn run(config, {.log = &log});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"echo 'log in first' >&2; exit 73", name + " failed with exit code 73"},
      {"kill -9 $$", name + " failed with exit code -1"},
      {"echo secret: [", "getting credentials: decoding stdout: it is neither JSON nor YAML"},
      {"head -c 2000000 /dev/zero", name + ": it wrote more than 1048576 bytes"},
      {"sleep 1000", name + ": it did not end within 500 milliseconds"},
      {ScriptedPlugIn::Printing(""),
       "getting credentials: exec plugin didn't return a token or cert/key pair"},
  };
  for (const auto& [body, why] : cases) {
    script.Become(body);
    CHECK(TokenOfRun(run) == why);
  }
  CHECK(log.Has("standard error command=" + script.path() + " text=log in first"));
  script.Become(ScriptedPlugIn::Printing(R"("token":"t")"));
  CHECK(TokenOfRun(run) == "t");
}

TEST_CASE("client: a plug-in that is not there, or wants a terminal, is not run", "[client]") {
  testing::ManualClock clock;
  ClientConfig config = {.server = "https://a.test",
                         .exec = ExecConfig{.command = "no-such-plug-in",
                                            .api_version = "client.authentication.k8s.io/v1",
                                            .install_hint = "some install hint"}};
  const std::string name = "getting credentials: exec: executable no-such-plug-in not found";
  ExecPlugIn missing(config, {.clock = &clock});
  for (int time = 0; time < 10; ++time) {
    const std::string why = TokenOfRun(missing);
    CHECK(why.starts_with(name + "\n\nIt looks like you are trying to use"));
    CHECK(why.ends_with("#client-go-credential-plugins\n\nsome install hint"));
  }
  CHECK(TokenOfRun(missing) == name);
  clock.Advance(std::chrono::hours(1));
  CHECK(TokenOfRun(missing) != name);

  const ScriptedPlugIn script("exit 0");
  config = script.config();
  config.exec->interactive_mode = ExecInteractiveMode::kAlways;
  ExecPlugIn interactive(config, {});
  CHECK(TokenOfRun(interactive) ==
        "getting credentials: exec plugin cannot support interactive mode: standard input is "
        "unavailable: this library gives none to plug-ins");
  CHECK(script.runs() == 0);
}

}  // namespace
}  // namespace apiserver::inline v0::client
