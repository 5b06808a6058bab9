// --debug-socket-path: k8s.io/apiserver/pkg/server/routes/debugsocket.go.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "apiserver/base/verbosity.h"
#include "server/debug_socket.h"
#include "widget_server.h"

using apiserver::Reason;
using apiserver::Status;
using apiserver::VerbositySink;
using apiserver::testing::Contains;
using apiserver::testing::StartWidgetServer;
namespace server = apiserver::server;

namespace {

// A folder of the test's own, and a path in it.
class SocketFolder {
 public:
  SocketFolder() { REQUIRE(mkdtemp(name_.data()) != nullptr); }
  ~SocketFolder() { std::filesystem::remove_all(name_); }
  std::string path() const { return name_ + "/debug.sock"; }

 private:
  std::string name_ = std::filesystem::temp_directory_path().string() + "/debug-socket-XXXXXX";
};

// One request over the socket at `path`, and everything that is answered; "": nobody listens.
std::string Ask(const std::string& path, const std::string& method, const std::string& target,
                const std::string& body = "") {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    const std::string request =
        method + " " + target +
        " HTTP/1.1\r\nHost: debug\r\nConnection: close\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    (void)send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      answer.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  close(fd);
  return answer;
}

}  // namespace

TEST_CASE("server: a debug socket serves profiles and flags to its owner, unasked", "[server]") {
  const SocketFolder folder;
  VerbositySink sink(apiserver::NullLogSink(), 0);
  const auto server = StartWidgetServer({.configure = [&](server::Config& config) {
    config.enable_profiling = false;  // That is about the other door.
    config.debug_socket_path = folder.path();
    config.set_verbosity = [&sink](std::uint32_t verbosity) {
      sink.SetVerbosity(verbosity);
      return Status();
    };
  }});

  struct stat about {};
  REQUIRE(stat(folder.path().c_str(), &about) == 0);
  CHECK(S_ISSOCK(about.st_mode));
  CHECK((about.st_mode & 0777U) == 0600U);
  const std::string index = Ask(folder.path(), "GET", "/debug/pprof/");
  CHECK(index.starts_with("HTTP/1.1 200 "));
  CHECK(Contains(index, "<a href='cmdline'>cmdline</a>"));
  CHECK(Contains(Ask(folder.path(), "GET", "/debug/pprof/cmdline"), "server_test"));
  CHECK(Contains(Ask(folder.path(), "PUT", "/debug/flags/v", "5"),
                 "successfully set klog.logging.verbosity to 5\n"));
  CHECK(sink.verbosity() == 5);
  // Nothing else.
  const std::string other = Ask(folder.path(), "GET", "/metrics");
  CHECK(other.starts_with("HTTP/1.1 404 "));
  CHECK(other.ends_with("404 page not found\n"));
  CHECK(server->Call("GET", "/debug/pprof/").code == 404);
}

TEST_CASE("server: a debug socket goes with its server, and takes over an old one", "[server]") {
  const SocketFolder folder;
  const auto configure = [&folder](server::Config& config) {
    config.debug_socket_path = folder.path();
  };
  {
    const auto old = StartWidgetServer({.configure = configure});
    REQUIRE(std::filesystem::exists(folder.path()));
    // As if it had crashed: there is a file, but nobody will remove it for us.
    const auto next = StartWidgetServer({.configure = configure});
    CHECK(Ask(folder.path(), "GET", "/debug/pprof/").starts_with("HTTP/1.1 200 "));
  }
  CHECK_FALSE(std::filesystem::exists(folder.path()));
  CHECK(Ask(folder.path(), "GET", "/debug/pprof/").empty());
}

TEST_CASE("server: what is in a debug socket's place and no socket stays", "[server]") {
  const SocketFolder folder;
  REQUIRE(apiserver::RealFileSystem().WriteAtomically(folder.path(), "dear", 0600).ok());

  auto started = apiserver::testing::StartTestServer(
      {.configure = [&](server::Config& config) { config.debug_socket_path = folder.path(); }});

  REQUIRE_FALSE(started.ok());
  CHECK(started.status().reason() == Reason::kConflict);
  CHECK(started.status().message() ==
        "--debug-socket-path: " + folder.path() + " exists and is no socket");
  CHECK(apiserver::RealFileSystem().Read(folder.path()).value() == "dear");
}

TEST_CASE("server: a debug socket's path that is too long stops the start", "[server]") {
  const auto started =
      apiserver::testing::StartTestServer({.configure = [](server::Config& config) {
        config.debug_socket_path = "/tmp/" + std::string(103, 'x');
      }});

  REQUIRE_FALSE(started.ok());
  CHECK(started.status().reason() == Reason::kInvalid);
  CHECK(
      Contains(std::string(started.status().message()), "the path of a socket has 1 to 107 bytes"));
}
