#include <algorithm>
#include <utility>
#include <vector>

#include "apiserver/audit/log_backend.h"
#include "apiserver/base/sync.h"
#include "apiserver/runtime/time.h"
#include "audit/gzip_file.h"
#include "base/status_macros.h"

namespace apiserver::v0::audit {

namespace {

constexpr unsigned kFileMode = 0600;
constexpr unsigned kDirectoryMode = 0700;
constexpr std::string_view kCompressed = ".gz";
constexpr std::size_t kTimestampBytes = 23;  // "2006-01-02T15-04-05.000"

// The parts of a log's path that its backups share.
struct LogName {
  std::string directory = ".";
  std::string stem;       // "audit-"
  std::string extension;  // ".log"

  explicit LogName(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash != std::string::npos) directory = slash == 0 ? "/" : path.substr(0, slash);
    const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    const std::size_t dot = name.find_last_of('.');
    stem = name.substr(0, dot) + "-";
    if (dot != std::string::npos) extension = name.substr(dot);
  }

  // lumberjack's name of a backup: the time in the middle, in UTC, and sortable as text.
  std::string Backup(Clock::Wall now) const {
    std::string time = runtime::FormatMicroTime(runtime::UnixTime::From(now));
    time.resize(kTimestampBytes);
    std::replace(time.begin(), time.end(), ':', '-');
    return directory + "/" + stem + time + extension;
  }

  // Returns the time in a backup's name; empty: it is no backup.
  std::string_view TimeOf(std::string_view file) const {
    if (file.ends_with(kCompressed)) file.remove_suffix(kCompressed.size());
    if (file.size() != stem.size() + kTimestampBytes + extension.size()) return {};
    if (!file.starts_with(stem) || !file.ends_with(extension)) return {};
    return file.substr(stem.size(), kTimestampBytes);
  }
};

class RotatingFile final : public LineWriter {
 public:
  explicit RotatingFile(RotatingFileOptions options)
      : options_(std::move(options)), name_(options_.path) {}

  Status Open() {
    RETURN_IF_ERROR(options_.files->MakeDirectories(name_.directory, kDirectoryMode));
    ASSIGN_OR_RETURN(file_, options_.files->OpenAppend(options_.path, kFileMode));
    return {};
  }

  Status Write(std::string_view lines) override {
    // A piece of several lines may have to be split between files.
    Status written;
    while (written.ok() && !lines.empty()) written = WriteSome(lines);
    return written;
  }

 private:
  // Writes as much as one file takes, and removes it from `lines`.
  Status WriteSome(std::string_view& lines) {
    if (!file_) RETURN_IF_ERROR(Open());
    std::string_view piece = Fitting(lines);
    if (piece.empty()) {
      RETURN_IF_ERROR(Rotate());
      piece = FirstOf(lines);
    }
    RETURN_IF_ERROR(Append(piece));
    lines.remove_prefix(piece.size());
    return {};
  }

  // Returns as many whole lines as the file still has room for.
  std::string_view Fitting(std::string_view lines) const {
    if (options_.bytes_max == 0 || file_->size() + lines.size() <= options_.bytes_max) {
      return lines;
    }
    if (file_->size() >= options_.bytes_max) return {};
    const std::size_t room = options_.bytes_max - file_->size();
    // Lines are never split: a reader of one file sees whole events.
    const std::size_t end = lines.rfind('\n', room - 1);
    return end == std::string_view::npos ? std::string_view() : lines.substr(0, end + 1);
  }

  // Returns the lines for an empty file: a line that is longer than a file may be gets a file of
  // its own.
  std::string_view FirstOf(std::string_view lines) const {
    const std::string_view piece = Fitting(lines);
    if (!piece.empty()) return piece;
    const std::size_t end = lines.find('\n');
    return end == std::string_view::npos ? lines : lines.substr(0, end + 1);
  }

  Status Append(std::string_view piece) {
    // A line that a full disk has torn must not spoil the next one as well.
    Status appended = torn_ ? file_->Append("\n" + std::string(piece)) : file_->Append(piece);
    torn_ = !appended.ok();
    return appended;
  }

  // The new file is opened before old ones are looked at: events wait for a rename only.
  Status Rotate() {
    if (file_->size() == 0) return {};
    file_ = nullptr;
    RETURN_IF_ERROR(options_.files->Rename(options_.path, name_.Backup(options_.clock->WallNow())));
    RETURN_IF_ERROR(Open());
    // Two mills at once could compress one backup twice.
    mill_.Join();
    // Compressing takes seconds; lines must not wait for it.
    mill_ = Thread("audit-backups", [this] { Mill(); });
    return {};
  }

  // Removes and compresses old backups, as lumberjack's mill. A failure is retried at the next
  // rotation.
  void Mill() const {
    const auto names = options_.files->List(name_.directory);
    if (!names.ok()) return;
    std::vector<std::string> backups;
    for (const std::string& name : *names) {
      if (!name_.TimeOf(name).empty()) backups.push_back(name);
    }
    // Newest first, so that counting finds the ones beyond max_backups. Text order is that of
    // times.
    std::sort(backups.begin(), backups.end(),
              [this](const auto& a, const auto& b) { return name_.TimeOf(a) > name_.TimeOf(b); });
    const std::string oldest = OldestKept();
    int kept = 0;
    for (const std::string& backup : backups) {
      const bool too_many = options_.max_backups > 0 && ++kept > options_.max_backups;
      const std::string path = name_.directory + "/" + backup;
      if (too_many || name_.TimeOf(backup) < oldest) {
        (void)options_.files->Remove(path);
      } else if (options_.compress && !backup.ends_with(kCompressed)) {
        (void)GzipFile(*options_.files, path, path + std::string(kCompressed), kFileMode);
      }
    }
  }

  // Returns the earliest time of a backup that is kept; empty: all are.
  std::string OldestKept() const {
    if (options_.max_age_days <= 0) return "";
    // The time as a backup's name would have it, so that both compare as text.
    const auto age = std::chrono::hours(24) * options_.max_age_days;
    const std::string path = name_.Backup(options_.clock->WallNow() - age);
    return std::string(name_.TimeOf(std::string_view(path).substr(name_.directory.size() + 1)));
  }

  const RotatingFileOptions options_;
  const LogName name_;
  std::unique_ptr<AppendFile> file_;
  bool torn_ = false;
  Thread mill_;
};

}  // namespace

Result<std::unique_ptr<LineWriter>> NewRotatingFile(RotatingFileOptions options) {
  auto file = std::make_unique<RotatingFile>(std::move(options));
  RETURN_IF_ERROR(file->Open());
  return file;
}

}  // namespace apiserver::v0::audit
