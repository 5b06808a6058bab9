#include "bench/server_under_test.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "apiserver/base/file_system.h"
#include "apiserver/client/client.h"

namespace bench {

namespace {

using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

Status Failed(const std::string& what) { return {Reason::kInternalError, what}; }

// In the child: becomes the server. Does not return.
[[noreturn]] void Exec(const std::string& binary, const std::string& storage,
                       const std::string& folder) {
  PinTo(0);
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, 1);
  dup2(null, 2);
  const std::string storage_flag = "--storage=" + storage;
  const std::string folder_flag = "--data-dir=" + folder;
  execl(binary.c_str(), binary.c_str(), "--secure-port=0", storage_flag.c_str(),
        folder_flag.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

Result<apiserver::http::DialOptions> DialOptionsOf(const std::string& kubeconfig) {
  auto text = apiserver::RealFileSystem().Read(kubeconfig);
  if (!text.ok()) return text.status();
  auto config = apiserver::client::ReadKubeconfig(*text);
  if (!config.ok()) return config.status();
  return apiserver::client::DialOptionsFor(*config);
}

}  // namespace

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)sched_setaffinity(0, sizeof(set), &set);  // On one CPU there is nothing to choose.
}

Result<std::unique_ptr<ServerUnderTest>> ServerUnderTest::Start(const std::string& binary,
                                                                const std::string& storage) {
  auto server = std::make_unique<ServerUnderTest>();
  std::string pattern = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
  if (!mkdtemp(pattern.data())) return Failed("cannot make a temporary folder");
  server->folder_ = pattern;
  server->binary_ = binary;
  server->storage_ = storage;
  server->ours_ = true;
  if (Status launched = server->Launch(); !launched.ok()) return launched;
  return server;
}

Status ServerUnderTest::Launch() {
  // Written when it is ready.
  const std::string kubeconfig = folder_ + "/kubeconfig";
  std::filesystem::remove(kubeconfig);
  pid_ = fork();
  if (pid_ == 0) Exec(binary_, storage_, folder_);
  for (int tries = 0; !std::filesystem::exists(kubeconfig); ++tries) {
    if (tries > 30'000 || waitpid(pid_, nullptr, WNOHANG) == pid_) {
      return Failed(binary_ + " does not come up");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto dial = DialOptionsOf(kubeconfig);
  if (!dial.ok()) return dial.status();
  dial_ = *dial;
  return {};
}

Result<double> ServerUnderTest::Restart() {
  if (!ours_) return Failed("somebody else's server cannot be started again");
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  const auto started = std::chrono::steady_clock::now();
  if (Status launched = Launch(); !launched.ok()) return launched;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

Result<std::unique_ptr<ServerUnderTest>> ServerUnderTest::Attach(const std::string& kubeconfig,
                                                                 const std::string& address,
                                                                 pid_t pid) {
  auto dial = DialOptionsOf(kubeconfig);
  if (!dial.ok()) return dial.status();
  auto server = std::make_unique<ServerUnderTest>();
  server->dial_ = *dial;
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return Failed("--server wants HOST:PORT");
  server->dial_.host = address.substr(0, colon);
  server->dial_.port = std::atoi(address.c_str() + colon + 1);
  server->pid_ = pid;
  return server;
}

ServerUnderTest::~ServerUnderTest() {
  if (ours_ && pid_ > 0) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

double ServerUnderTest::CpuSeconds() const {
  if (pid_ == 0) return 0;
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  // The name in parentheses may hold anything; after it the 12th and 13th fields are the times.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double ServerUnderTest::RssBytes() const {
  if (pid_ == 0) return 0;
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::size_t ServerUnderTest::Threads() const {
  if (pid_ == 0) return 0;
  std::size_t threads = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task")) {
    ++threads;
  }
  return threads;
}

}  // namespace bench
