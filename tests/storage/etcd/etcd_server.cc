#include "storage/etcd/etcd_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "apiserver/base/random.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

constexpr std::chrono::seconds kPatience{60};

// The program to run, or empty.
std::string FindEtcd() {
  if (const char* named = std::getenv("APISERVER_ETCD"); named != nullptr) return named;
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) {
    if (access((folder + "/etcd").c_str(), X_OK) == 0) return folder + "/etcd";
  }
  // Where scripts/lib.sh unpacks it, for who runs a test binary by hand.
  const char* home = std::getenv("HOME");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const std::string unpacked =
      (cache != nullptr ? std::string(cache)
                        : std::string(home != nullptr ? home : "") + "/.cache") +
      "/libapiserver/unpacked/etcd-server/usr/bin/etcd";
  return access(unpacked.c_str(), X_OK) == 0 ? unpacked : "";
}

std::string MakeDirectory() {
  std::string name = access("/dev/shm", W_OK) == 0
                         ? "/dev/shm/apiserver-etcd-XXXXXX"
                         : std::filesystem::temp_directory_path() / "apiserver-etcd-XXXXXX";
  return mkdtemp(name.data()) != nullptr ? name : "";
}

bool Free(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return free;
}

// Returns ports that are free at this moment, and outside of what the system gives to clients: else
// one of them may have it, even connected to itself, by the time a killed etcd is started again.
std::set<int> FreePorts(std::size_t count) {
  constexpr std::uint64_t kFirst = 10'000;
  constexpr std::uint64_t kBehind = 32'768;
  std::set<int> ports;
  while (ports.size() < count) {
    const int port = static_cast<int>(kFirst + SecureRandom().Below(kBehind - kFirst));
    if (Free(port)) ports.insert(port);
  }
  return ports;
}

// A connection to the port, or nothing.
std::optional<int> Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return std::nullopt;
}

bool Listens(int port) {
  const auto fd = Connect(port);
  if (fd) close(*fd);
  return fd.has_value();
}

// Whether it has a leader; without TLS only.
bool Healthy(int port) {
  const auto fd = Connect(port);
  if (!fd) return false;
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  constexpr std::string_view kRequest = "GET /health HTTP/1.0\r\n\r\n";
  std::string answer;
  if (send(*fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0) {
    std::array<char, 512> piece{};
    for (ssize_t got = 0; (got = recv(*fd, piece.data(), piece.size(), 0)) > 0;) {
      answer.append(piece.data(), static_cast<std::size_t>(got));
    }
  }
  close(*fd);
  return answer.find(R"("health":"true")") != std::string::npos;
}

std::string Text(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

[[noreturn]] void Exec(const std::vector<char*>& argv, const std::string& log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

// A port that was free may be another's by the time etcd asks for it.
Result<std::unique_ptr<EtcdServer>> EtcdServer::Start(int members,
                                                      const EtcdServerOptions& options) {
  constexpr int kTries = 5;
  for (int tries = 1;; ++tries) {
    auto started = StartOnFreePorts(members, options);
    if (started.ok() || tries == kTries) return started;
    const Status why = started.status();
    if (why.message().find("address already in use") == std::string_view::npos) return why;
  }
}

Result<std::unique_ptr<EtcdServer>> EtcdServer::StartOnFreePorts(int members,
                                                                 const EtcdServerOptions& options) {
  std::unique_ptr<EtcdServer> server(new EtcdServer);
  server->options_ = options;
  server->program_ = FindEtcd();
  if (server->program_.empty()) {
    return Status(Reason::kNotFound,
                  "no etcd: scripts/test unpacks Debian's etcd-server; else put etcd into $PATH or "
                  "name it in $APISERVER_ETCD");
  }
  server->directory_ = MakeDirectory();
  if (server->directory_.empty()) return Status(Reason::kInternalError, "no directory for etcd");
  const std::string scheme = options.cert_file.empty() ? "http" : "https";
  const std::set<int> free = FreePorts(2 * static_cast<std::size_t>(members));
  for (auto port = free.begin(); port != free.end();) {
    const std::size_t i = server->ports_.size();
    server->ports_.push_back(*port++);
    server->peer_ports_.push_back(*port++);
    server->pids_.push_back(0);
    server->urls_.push_back(scheme + "://127.0.0.1:" + std::to_string(server->ports_.back()));
    server->cluster_ += (i == 0 ? "m" : ",m") + std::to_string(i) +
                        "=http://127.0.0.1:" + std::to_string(server->peer_ports_.back());
  }
  for (std::size_t i = 0; i < server->pids_.size(); ++i) {
    if (Status status = server->Spawn(i); !status.ok()) return status;
  }
  for (std::size_t i = 0; i < server->pids_.size(); ++i) {
    // It listens before its log is there: killed then, it would not come back.
    const auto up = options.cert_file.empty() ? Healthy : Listens;
    if (Status status = server->WaitUntil(up, i); !status.ok()) return status;
  }
  return server;
}

EtcdServer::~EtcdServer() {
  for (std::size_t i = 0; i < pids_.size(); ++i) Kill(i);
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status EtcdServer::Spawn(std::size_t member) {
  const std::string name = "m" + std::to_string(member);
  const std::string peer = "http://127.0.0.1:" + std::to_string(peer_ports_[member]);
  std::vector<std::string> arguments{program_,
                                     "--name=" + name,
                                     "--data-dir=" + directory_ + "/" + name,
                                     "--listen-client-urls=" + urls_[member],
                                     "--advertise-client-urls=" + urls_[member],
                                     "--listen-peer-urls=" + peer,
                                     "--initial-advertise-peer-urls=" + peer,
                                     "--initial-cluster=" + cluster_,
                                     "--initial-cluster-state=new",
                                     "--log-level=warn",
                                     "--logger=zap"};
  if (!options_.cert_file.empty()) {
    arguments.push_back("--cert-file=" + options_.cert_file);
    arguments.push_back("--key-file=" + options_.key_file);
    arguments.push_back("--trusted-ca-file=" + options_.ca_file);
    arguments.push_back("--client-cert-auth");
  }
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  // Nothing may be allocated between fork and exec.
  const std::string log = directory_ + "/" + name + ".log";
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return Status(Reason::kInternalError, "cannot start etcd");
  if (child == 0) Exec(argv, log);
  pids_[member] = child;
  return Status::Ok();
}

Status EtcdServer::WaitUntil(bool (*up)(int port), std::size_t member) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const std::string log = directory_ + "/m" + std::to_string(member) + ".log";
  while (!up(ports_[member])) {
    int status = 0;
    if (waitpid(pids_[member], &status, WNOHANG) != 0) {
      pids_[member] = 0;
      return Status(Reason::kInternalError, "etcd ended: " + Text(log));
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return Status(Reason::kTimeout, "etcd does not come up: " + Text(log));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return Status::Ok();
}

void EtcdServer::Kill(std::size_t member) {
  if (pids_[member] <= 0) return;
  kill(pids_[member], SIGKILL);
  int status = 0;
  waitpid(pids_[member], &status, 0);
  pids_[member] = 0;
}

Status EtcdServer::Restart(std::size_t member) {
  Kill(member);
  if (Status status = Spawn(member); !status.ok()) return status;
  return WaitUntil(Listens, member);
}

// The signal is on its way for a while, in which the member still answers.
void EtcdServer::Pause(std::size_t member) {
  if (kill(pids_[member], SIGSTOP) != 0) return;
  siginfo_t stopped;
  waitid(P_PID, static_cast<id_t>(pids_[member]), &stopped, WSTOPPED);
}
void EtcdServer::Resume(std::size_t member) { kill(pids_[member], SIGCONT); }

}  // namespace apiserver::inline v0::storage::etcd
