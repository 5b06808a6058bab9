// Users of etcd's own authentication, over a real etcd.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "apiserver/base/file_system.h"
#include "storage/etcd/client.h"
#include "storage/etcd/fixture.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A field of a message of etcd's that the engine does not use.
std::string Field(int number, std::string_view text) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  bytes += static_cast<char>(text.size());
  return bytes.append(text);
}

// Makes a call as an administrator does, without a token.
void Administer(const EtcdServer& server, const std::string& method, const std::string& request) {
  HttpRpcOptions options;
  options.endpoints = Must(ParseEndpoints(server.urls()));
  const auto rpc = NewHttpRpc(options);
  const auto pending = std::make_shared<Pending<RpcOutcome>>();
  (void)rpc->Unary("/etcdserverpb.Auth/" + method, request,
                   {.deadline = RealClock().Now() + seconds(20)},
                   [pending](RpcOutcome outcome, const std::string& /*response*/) {
                     pending->Set(std::move(outcome));
                   });
  const RpcOutcome outcome = Must(pending->Wait());
  rpc->Stop();
  INFO(method << ": " << outcome.message);
  REQUIRE(outcome.ok());
}

// Makes the user `apiserver`, who may read and write all keys, and one who may do nothing.
void AddUsers(const EtcdServer& server) {
  const std::string all_keys = std::string("\x08\x02", 2) + Field(2, std::string_view("\0", 1)) +
                               Field(3, std::string_view("\0", 1));
  for (const char* user : {"root", "apiserver", "guest"}) {
    Administer(server, "UserAdd", Field(1, user) + Field(2, std::string(user) + "-secret"));
  }
  Administer(server, "RoleAdd", Field(1, "root"));
  Administer(server, "UserGrantRole", Field(1, "root") + Field(2, "root"));
  Administer(server, "RoleAdd", Field(1, "everything"));
  Administer(server, "RoleGrantPermission", Field(1, "everything") + Field(2, all_keys));
  Administer(server, "UserGrantRole", Field(1, "apiserver") + Field(2, "everything"));
}

std::unique_ptr<EtcdServer> StartWithUsers() {
  auto server = StartEtcd(1, {.arguments = {"--bcrypt-cost=4"}});
  AddUsers(*server);
  return server;
}

void EnableAuth(const EtcdServer& server) { Administer(server, "AuthEnable", ""); }

// A file with a password, and a line's end.
class PasswordFile {
 public:
  explicit PasswordFile(const std::string& password) {
    std::string name = std::filesystem::temp_directory_path() / "apiserver-password-XXXXXX";
    const int fd = mkstemp(name.data());
    REQUIRE(fd >= 0);
    close(fd);
    path_ = name;
    REQUIRE(RealFileSystem().WriteAtomically(path_, password + "\n", 0600).ok());
  }
  ~PasswordFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Options As(const EtcdServer& server, const std::string& user, const PasswordFile& password) {
  auto options = OptionsFor(server.urls());
  options.user = user;
  options.password_file = password.path();
  return options;
}

TEST_CASE("storage.etcd: a user with a password reads, writes, follows and leases",
          "[storage.etcd]") {
  const auto server = StartWithUsers();
  EnableAuth(*server);
  const PasswordFile password("apiserver-secret");
  const auto s = OpenSubject(As(*server, "apiserver", password));
  const auto lease = Must(s->engine().GrantLease(Context::Background(), seconds(60)));
  CHECK(Must(s->Create("a", "1", lease)) == 2);
  CHECK(Must(s->Text("")) == "a=1");
  const auto reader = Must(TailReader::Open(s->engine(), "", 1));
  CHECK(TextOf(Must(reader->ReadTo(2))) == "create a=1@2");
  CHECK(s->Compact(2).ok());
}

TEST_CASE("storage.etcd: without the right password the engine does not open", "[storage.etcd]") {
  const auto server = StartWithUsers();
  EnableAuth(*server);
  const PasswordFile wrong("wrong");
  const Status status = Open(As(*server, "apiserver", wrong)).status();
  INFO(status.ToString());
  CHECK(status.reason() == Reason::kInternalError);
  CHECK(status.message().ends_with("check the user's name and password"));

  auto options = As(*server, "apiserver", wrong);
  options.password_file = "";
  CHECK(Open(options).status().message() ==
        "etcd's user and the file with its password go together");
}

TEST_CASE("storage.etcd: a member that has forgotten its tokens is logged in at again",
          "[storage.etcd][slow]") {
  const auto server = StartWithUsers();
  EnableAuth(*server);
  const PasswordFile password("apiserver-secret");
  const auto s = OpenSubject(As(*server, "apiserver", password));
  const auto reader = Must(TailReader::Open(s->engine(), "", 1));
  Must(s->Create("a", "1"));
  CHECK(TextOf(Must(reader->ReadTo(2))) == "create a=1@2");
  // Older than a token that would be taken for a new one.
  std::this_thread::sleep_for(milliseconds(2100));
  server->Kill(0);
  REQUIRE(server->Restart(0).ok());
  REQUIRE(Eventually([&s] { return s->engine().Ready().ok(); }));
  CHECK(Must(s->Create("b", "2")) == 3);
  CHECK(TextOf(Must(reader->ReadTo(3))) == "create b=2@3");
}

TEST_CASE("storage.etcd: authentication may be switched on while the engine works",
          "[storage.etcd]") {
  const auto server = StartWithUsers();
  const PasswordFile password("apiserver-secret");
  const auto s = OpenSubject(As(*server, "apiserver", password));
  CHECK(Must(s->Create("a", "1")) == 2);
  EnableAuth(*server);
  CHECK(Must(s->Create("b", "2")) == 3);
}

TEST_CASE("storage.etcd: a tail of a user without rights ends and says why", "[storage.etcd]") {
  const auto server = StartWithUsers();
  EnableAuth(*server);
  const PasswordFile password("guest-secret");
  auto options = As(*server, "guest", password);
  options.require_contact = false;
  const auto s = OpenSubject(options);
  const auto reader = Must(TailReader::Open(s->engine(), "/x", 1));
  const Status end = reader->ReadToEnd();
  INFO(end.ToString());
  CHECK(end.message().find("refuses our credentials") != std::string::npos);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
