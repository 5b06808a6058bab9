#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "apiserver/base/file_system.h"
#include "program/examination_parts.h"

namespace apiserver::v0::program {

namespace {

using Level = Examination::Level;

constexpr unsigned kOwner = 0700;
constexpr unsigned kOthers = 0077;

// "0644".
std::string ModeText(unsigned mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode & 07777U);
  return text.data();
}

// Returns the nearest directory above `path` that exists.
std::string ExistingParent(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path parent = std::filesystem::absolute(path, ignored).parent_path();
  while (!std::filesystem::exists(parent, ignored) && parent != parent.parent_path()) {
    parent = parent.parent_path();
  }
  return parent;
}

std::function<Result<std::string>()> ChangeMode(const std::string& path, unsigned before,
                                                unsigned mode) {
  return [path, before, mode]() -> Result<std::string> {
    if (chmod(path.c_str(), mode) != 0) {
      return Status(Reason::kInternalError, "chmod " + path + ": " + ErrnoText(errno));
    }
    return "its mode was " + ModeText(before) + " and is " + ModeText(mode) + " now";
  };
}

class DataDir {
 public:
  explicit DataDir(Examination& examination)
      : examination_(examination), path_(examination.options.values.data_dir) {}

  void Examine() {
    struct stat facts {};
    if (stat(path_.c_str(), &facts) != 0) {
      if (errno == ENOENT) return LookAtParent();
      Add(Level::kProblem, "data-dir", "cannot be looked at: " + ErrnoText(errno),
          "Let the user of the server reach it, or give another --data-dir.");
      return;
    }
    if (!S_ISDIR(facts.st_mode)) {
      Add(Level::kProblem, "data-dir", "is not a directory", "Give another --data-dir.");
      return;
    }
    LookAtMode(facts);
    LookAtLock();
  }

 private:
  Diagnosis& Add(Level level, const char* check, std::string text, std::string remedy = {}) {
    Diagnosis& added = examination_.Add(level, check, std::move(text), std::move(remedy));
    added.finding.subject = path_;
    return added;
  }

  void LookAtParent() {
    const std::string parent = ExistingParent(path_);
    if (access(parent.c_str(), W_OK | X_OK) != 0) {
      Add(Level::kProblem, "data-dir",
          "does not exist, and nothing can be made in " + parent + ": " + ErrnoText(errno),
          "Make it, and give it to the user of the server, or give another --data-dir.");
      return;
    }
    Add(Level::kWarning, "data-dir", "does not exist; the first start makes it",
        "Check --data-dir if the server has run before.")
        .repair = [path = path_]() -> Result<std::string> {
      const Status made = RealFileSystem().MakeDirectories(path, kOwner);
      if (!made.ok()) return made;
      return "was missing and is there now";
    };
  }

  void LookAtMode(const struct stat& facts) {
    const bool ours = facts.st_uid == geteuid();
    const unsigned mode = facts.st_mode & 07777U;
    const auto change = [&] { return ours ? ChangeMode(path_, mode, kOwner) : nullptr; };
    const bool usable = access(path_.c_str(), R_OK | W_OK | X_OK) == 0;
    if ((mode & kOwner) != kOwner || !usable) {
      const std::string owner = std::to_string(facts.st_uid);
      Add(Level::kProblem, "data-dir",
          usable ? "its owner may not write to it: mode " + ModeText(mode)
                 : "cannot be written to: " + ErrnoText(errno) + "; it belongs to user " + owner,
          ours ? "chmod 700 " + path_
               : "Run the server, and doctor, as user " + owner + ", or give another --data-dir.")
          .repair = change();
      return;
    }
    if ((mode & kOthers) != 0) {
      Add(Level::kWarning, "data-dir",
          "others may use it, and keys are in it: mode " + ModeText(mode), "chmod 700 " + path_)
          .repair = change();
      return;
    }
    Add(Level::kOk, "data-dir", "can be written to");
  }

  // A server that starts in just this moment finds the directory locked, and says so.
  void LookAtLock() {
    const std::string file = path_ + "/lock";
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      if (errno == ENOENT) return;
      Add(Level::kProblem, "lock", "cannot be opened: " + ErrnoText(errno),
          "Let the user of the server read and write " + file + ".");
      return;
    }
    examination_.in_use = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    if (!examination_.in_use) return;
    Add(Level::kWarning, "lock",
        "a running server uses the directory; its store and its port are not looked at",
        "Stop that server before another one, or --fix, is to use the directory.");
  }

  Examination& examination_;
  const std::string& path_;
};

}  // namespace

std::string ErrnoText(int error) { return std::generic_category().message(error); }

void ExamineDataDir(Examination& examination) { DataDir(examination).Examine(); }

}  // namespace apiserver::v0::program
