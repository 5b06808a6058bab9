#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"

namespace apiserver::v0 {
namespace {

constexpr int kFirstOther = 3;  // The descriptors below are the three standard ones.
// The period of looking for the program's end where the kernel has no pidfd_open(2).
constexpr auto kLook = std::chrono::milliseconds(20);

Status Failed(std::string_view operation, int error) {
  return {Reason::kInternalError,
          std::string(operation) + ": " + std::generic_category().message(error)};
}

// A descriptor that is closed at the end; -1: none.
class Fd {
 public:
  Fd() = default;
  ~Fd() { Reset(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Takes over `fd`, out of the way of the standard descriptors, which a host may have closed.
void Take(int fd, Fd& owner) {
  if (fd >= kFirstOther) return owner.Reset(fd);
  owner.Reset(fcntl(fd, F_DUPFD_CLOEXEC, kFirstOther));
  close(fd);
}

// One of the program's outputs: `from` is ours and does not block, `to` is the program's.
struct Pipe {
  Status Open() {
    std::array<int, 2> ends = {};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return Failed("pipe", errno);
    Take(ends[0], from);
    Take(ends[1], to);
    if (from.get() < 0 || to.get() < 0) return Failed("fcntl", errno);
    if (fcntl(from.get(), F_SETFL, O_NONBLOCK) != 0) return Failed("fcntl", errno);
    return Status::Ok();
  }

  Fd from;
  Fd to;
};

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, std::min(variable.find('='), variable.size()));
}

std::vector<std::string> MergedEnvironment(const std::vector<std::string>& added) {
  std::vector<std::string> merged;
  const auto replaced = [](auto begin, auto end, std::string_view variable) {
    return std::any_of(begin, end,
                       [&](const std::string& other) { return NameOf(other) == NameOf(variable); });
  };
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!replaced(added.begin(), added.end(), *variable)) merged.emplace_back(*variable);
  }
  for (auto at = added.begin(); at != added.end(); ++at) {
    if (!replaced(at + 1, added.end(), *at)) merged.push_back(*at);
  }
  return merged;
}

// The form in which exec(3) takes texts. Points into `texts`.
std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

class Child {
 public:
  Child(const Context& ctx, const ChildProgram& program)
      : ctx_(ctx), program_(program), deadline_(RealClock().Now() + program.time_max) {}

  ChildEnd Run() {
    end_.status = Start();
    if (!end_.status.ok()) return std::move(end_);
    const BlockingScope blocking;
    end_.status = Follow();
    if (!over_) Kill();
    return std::move(end_);
  }

 private:
  Status Start();
  Status Spawn(posix_spawn_file_actions_t& files, posix_spawnattr_t& attributes);
  Status Follow();
  Result<bool> Ended();
  void Kill();
  int PollMilliseconds() const;
  Status WaitForNews();
  Status ReadOutput();
  void ReadErrors();

  const Context& ctx_;
  const ChildProgram& program_;
  const Clock::Monotonic deadline_;
  Pipe output_;
  Pipe errors_;
  Fd process_;  // Readable once the program has ended.
  Fd bell_;     // Readable once the Context has.
  pid_t pid_ = -1;
  bool over_ = false;  // The process is reaped: its number may be another's.
  ChildEnd end_;
};

Status Child::Start() {
  if (Status opened = output_.Open(); !opened.ok()) return opened;
  if (Status opened = errors_.Open(); !opened.ok()) return opened;
  Take(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), bell_);
  if (bell_.get() < 0) return Failed("eventfd", errno);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  Status spawned = Spawn(files, attributes);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  // The ends of the outputs are seen only if nobody else can write.
  output_.to.Reset();
  errors_.to.Reset();
  if (spawned.ok()) process_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  return spawned;
}

Status Child::Spawn(posix_spawn_file_actions_t& files, posix_spawnattr_t& attributes) {
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output_.to.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors_.to.get(), STDERR_FILENO);
  // A host may have descriptors that are not closed on exec.
  posix_spawn_file_actions_addclosefrom_np(&files, kFirstOther);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // Without a terminal, a question fails at once instead of stopping the program for ever.
  constexpr int kFlags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
  posix_spawnattr_setflags(&attributes, static_cast<short>(kFlags));
  const std::vector<std::string> environment = MergedEnvironment(program_.environment);
  const int error = posix_spawn(&pid_, program_.path.c_str(), &files, &attributes,
                                Pointers(program_.arguments).data(), Pointers(environment).data());
  return error == 0 ? Status::Ok() : Failed("fork/exec " + program_.path, error);
}

Status Child::Follow() {
  const Context::Registration registration = ctx_.OnDone([this] {
    const std::uint64_t one = 1;
    // It fails only if the bell has rung already.
    (void)!write(bell_.get(), &one, sizeof one);
  });
  while (true) {
    const Result<bool> ended = Ended();
    if (!ended.ok()) return ended.status();
    ReadErrors();
    if (Status read = ReadOutput(); !read.ok() || *ended) return read;
    if (Status err = ctx_.Err(); !err.ok()) {
      return {Reason::kTimeout, std::string(err.message())};
    }
    if (RealClock().Now() >= deadline_) {
      return {Reason::kTimeout, "it did not end within " +
                                    std::to_string(program_.time_max.count()) + " milliseconds"};
    }
    if (Status waited = WaitForNews(); !waited.ok()) return waited;
  }
}

// Reaps the process if it has ended.
Result<bool> Child::Ended() {
  int state = 0;
  const pid_t got = waitpid(pid_, &state, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  over_ = true;
  if (got < 0) return Failed("waitpid", errno);
  end_.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  return true;
}

void Child::Kill() {
  // The group has this number for as long as the process is not reaped.
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int Child::PollMilliseconds() const {
  Clock::Monotonic until = deadline_;
  if (const auto deadline = ctx_.deadline()) until = std::min(until, *deadline);
  auto left = std::chrono::ceil<std::chrono::milliseconds>(until - RealClock().Now());
  if (process_.get() < 0) left = std::min(left, kLook);
  constexpr std::chrono::milliseconds kHour = std::chrono::hours(1);
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kHour).count());
}

Status Child::WaitForNews() {
  // poll(2) passes over negative descriptors: outputs that have ended.
  std::array<pollfd, 4> fds = {{{.fd = output_.from.get(), .events = POLLIN, .revents = 0},
                                {.fd = errors_.from.get(), .events = POLLIN, .revents = 0},
                                {.fd = process_.get(), .events = POLLIN, .revents = 0},
                                {.fd = bell_.get(), .events = POLLIN, .revents = 0}}};
  if (poll(fds.data(), fds.size(), PollMilliseconds()) < 0 && errno != EINTR) {
    return Failed("poll", errno);
  }
  return Status::Ok();
}

Status Child::ReadOutput() {
  std::array<char, 4096> buffer;
  while (output_.from.get() >= 0) {
    const ssize_t got = read(output_.from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      output_.from.Reset();
      break;
    }
    end_.output.append(buffer.data(), static_cast<std::size_t>(got));
    if (end_.output.size() <= program_.output_bytes_max) continue;
    end_.output.clear();
    return {Reason::kRequestEntityTooLarge,
            "it wrote more than " + std::to_string(program_.output_bytes_max) + " bytes"};
  }
  return Status::Ok();
}

// Reads once: a program that goes on writing must not keep the limits from being looked at.
void Child::ReadErrors() {
  std::array<char, 65536> buffer;
  if (errors_.from.get() < 0) return;
  const ssize_t got = read(errors_.from.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return errors_.from.Reset();
  const std::size_t room = program_.errors_bytes_max - end_.errors.size();
  end_.errors.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
}

bool IsExecutable(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

ChildEnd RunChild(const Context& ctx, const ChildProgram& program) {
  if (!ctx.may_block()) {
    return {.status = Status(Reason::kWouldBlock, "a program's end is waited for")};
  }
  return Child(ctx, program).Run();
}

Result<std::string> FindProgram(const std::string& name) {
  const Status none(Reason::kNotFound, "executable file " + name + " not found");
  if (name.find('/') != std::string::npos) {
    if (IsExecutable(name)) return name;
    return none;
  }
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): as posix_spawnp
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty() && !name.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    // As exec.ErrDot: a program of the working directory is not run by accident.
    if (!folder.starts_with('/')) continue;
    std::string found = std::string(folder) + "/" + name;
    if (IsExecutable(found)) return found;
  }
  return none;
}

}  // namespace apiserver::v0
