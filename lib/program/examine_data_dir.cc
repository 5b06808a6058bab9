#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
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
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

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
      : examination_(examination), values_(examination.options.values), path_(values_.data_dir) {}

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
    LookAtOwners(facts);
    LookAtLock();
    LookAtSecrets();
    LookAtSpace(path_);
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
    LookAtSpace(parent);
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

  // A doctor or server that root has run in a user's directory leaves files behind that the user's
  // server cannot open.
  void LookAtOwners(const struct stat& facts) {
    std::string first;
    std::size_t count = 0;
    std::error_code error;
    for (auto at = std::filesystem::recursive_directory_iterator(path_, error);
         !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
      struct stat file {};
      if (lstat(at->path().c_str(), &file) != 0 || file.st_uid == facts.st_uid) continue;
      if (count++ == 0) first = at->path();
    }
    if (count == 0) return;
    const std::string owner = std::to_string(facts.st_uid);
    Add(Level::kProblem, "data-dir-owner",
        std::to_string(count) + " files do not belong to user " + owner +
            ", whose directory it is, first of all " + first,
        "chown -R " + owner + " " + path_);
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

  void LookAtSecrets() {
    std::vector<std::string> files = {values_.kubeconfig_out};
    for (const std::string& directory : {path_, values_.recommended.secure_serving.cert_dir}) {
      std::error_code error;
      for (auto at = std::filesystem::recursive_directory_iterator(directory, error);
           !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
        const std::filesystem::path& file = at->path();
        // RocksDB's own files are as open as it makes them; the directory keeps others out.
        if (file.filename() == "rocks") at.disable_recursion_pending();
        if (file.extension() == ".key" || file.filename() == "token") files.push_back(file);
      }
    }
    std::ranges::sort(files);
    files.erase(std::unique(files.begin(), files.end()), files.end());
    for (const std::string& file : files) LookAtSecret(file);
  }

  void LookAtSecret(const std::string& path) {
    struct stat facts {};
    if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    const unsigned mode = facts.st_mode & 07777U;
    const bool readable = (mode & 0400U) != 0 && access(path.c_str(), R_OK) == 0;
    if (readable && (mode & kOthers) == 0) return;
    Diagnosis& added = examination_.Add(readable ? Level::kWarning : Level::kProblem, "secret-file",
                                        readable ? "others may read it: mode " + ModeText(mode)
                                                 : "cannot be read: mode " + ModeText(mode) +
                                                       ", of user " + std::to_string(facts.st_uid),
                                        "chmod 600 " + path);
    added.finding.subject = path;
    // The target of a link may be outside of the directory, and others may need it.
    struct stat entry {};
    const bool linked = lstat(path.c_str(), &entry) != 0 || !S_ISREG(entry.st_mode);
    if (facts.st_uid == geteuid() && !linked) added.repair = ChangeMode(path, mode, 0600);
  }

  void LookAtSpace(const std::string& existing) {
    const auto space = examination_.options.space(existing);
    if (!space.ok() || space->total == 0) return;
    const std::string left = std::to_string(space->free / kMebibyte) + " MiB of its disk are free";
    if (space->free < 64 * kMebibyte) {
      Add(Level::kProblem, "disk", left + ": writes will soon fail", "Free space.");
    } else if (space->free < std::min(1024 * kMebibyte, space->total / 20)) {
      Add(Level::kWarning, "disk", left, "Free space.");
    } else {
      Add(Level::kOk, "disk", left);
    }
  }

  Examination& examination_;
  const Values& values_;
  const std::string& path_;
};

}  // namespace

std::string ErrnoText(int error) { return std::generic_category().message(error); }

Result<Space> SpaceOf(const std::string& path) {
  struct statvfs facts {};
  if (statvfs(path.c_str(), &facts) != 0) {
    return Status(Reason::kInternalError, "statvfs " + path + ": " + ErrnoText(errno));
  }
  return Space{.free = std::uint64_t{facts.f_bavail} * facts.f_frsize,
               .total = std::uint64_t{facts.f_blocks} * facts.f_frsize};
}

void ExamineDataDir(Examination& examination) { DataDir(examination).Examine(); }

// A group may be meant to read such a file; the world never is.
void ExamineSecretOfFlag(Examination& examination, const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  if ((facts.st_mode & 07U) == 0) return;
  examination
      .Add(Level::kWarning, "secret-file", "everybody may read it: mode " + ModeText(facts.st_mode),
           "chmod o= " + path)
      .finding.subject = path;
}

}  // namespace apiserver::v0::program
