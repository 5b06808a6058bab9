#include "cel/run/time_zone.h"

#include <algorithm>
#include <array>
#include <string>

namespace apiserver::v0::cel {
namespace {

// Takes big-endian numbers and parts from the front of a file. Once it is too short, failed().
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  std::string_view rest() const { return rest_; }

  std::string_view Take(std::uint64_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::uint64_t Number(std::size_t bytes) {
    std::uint64_t number = 0;
    for (const char byte : Take(bytes)) {
      number = number << 8U | static_cast<unsigned char>(byte);
    }
    return number;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// The sizes of a block of data, in the order of the file.
struct Counts {
  explicit Counts(Bytes& file)
      : utc_marks(file.Number(4)),
        standard_marks(file.Number(4)),
        leaps(file.Number(4)),
        transitions(file.Number(4)),
        zones(file.Number(4)),
        name_bytes(file.Number(4)) {}

  // The length of a block whose times have that many bytes.
  std::uint64_t BlockBytes(std::uint64_t time_bytes) const {
    return transitions * (time_bytes + 1) + zones * 6 + name_bytes + leaps * (time_bytes + 4) +
           standard_marks + utc_marks;
  }

  std::uint64_t utc_marks;
  std::uint64_t standard_marks;
  std::uint64_t leaps;
  std::uint64_t transitions;
  std::uint64_t zones;
  std::uint64_t name_bytes;
};

constexpr std::size_t kHeadBytes = 20;  // Magic, version, and 15 bytes without meaning.
constexpr std::size_t kZoneBytes = 6;   // An offset, whether it is summer time, and its name.

// One of the offsets that a file's transitions refer to.
struct Zone {
  std::int64_t offset = 0;
  bool summer = false;
};

// Reads the offsets. Empty: there are none, or one has no name.
std::vector<Zone> ReadZones(Bytes table, std::uint64_t name_bytes) {
  std::vector<Zone> zones;
  while (!table.rest().empty()) {
    const auto offset = static_cast<std::int32_t>(static_cast<std::uint32_t>(table.Number(4)));
    zones.push_back({.offset = offset, .summer = table.Number(1) != 0});
    if (table.Number(1) >= name_bytes) return {};
  }
  return zones;
}

// Returns the offset before the first transition: Location.lookupFirstZone of Go. `uses` has the
// zone of each transition.
std::int64_t FirstOffset(const std::vector<Zone>& zones, std::string_view uses) {
  if (uses.find('\0') == std::string_view::npos) return zones[0].offset;
  const auto first = static_cast<unsigned char>(uses[0]);
  if (zones[first].summer) {
    for (std::size_t i = first; i-- > 0;) {
      if (!zones[i].summer) return zones[i].offset;
    }
  }
  const auto standard = std::ranges::find(zones, false, &Zone::summer);
  return standard == zones.end() ? zones[0].offset : standard->offset;
}

// Go's words of a failed system call, which are those of C in lower case.
std::string GoErrno(const Status& status) {
  const std::string_view message = status.message();
  std::string text(message.substr(message.rfind(": ") + 2));
  if (text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

bool IsMissing(std::string_view errno_text) { return errno_text == "no such file or directory"; }

Result<TimeZone> LoadFile(const FileSystem& files, const std::string& path) {
  const Result<std::string> file = files.ReadRange(path, 0, kTimeZoneBytesMax);
  if (!file.ok()) return Status(file.status().reason(), GoErrno(file.status()));
  std::optional<TimeZone> zone = TimeZone::Parse(*file);
  if (!zone.has_value()) {
    return Status(Reason::kInternalError, "malformed time zone information");
  }
  return *std::move(zone);
}

}  // namespace

std::optional<TimeZone> TimeZone::Parse(std::string_view file) {
  if (!file.starts_with("TZif") || file.size() < kHeadBytes) return std::nullopt;
  const char version = file[4];
  if (version != '\0' && version != '2' && version != '3') return std::nullopt;
  Bytes bytes(file.substr(kHeadBytes));
  Counts counts(bytes);
  std::size_t time_bytes = 4;
  if (version != '\0') {
    // The same follows with times of 64 bits.
    bytes.Take(counts.BlockBytes(time_bytes) + kHeadBytes);
    counts = Counts(bytes);
    time_bytes = 8;
  }
  Bytes times(bytes.Take(counts.transitions * time_bytes));
  const std::string_view uses = bytes.Take(counts.transitions);
  const Bytes table(bytes.Take(counts.zones * kZoneBytes));
  bytes.Take(counts.name_bytes + counts.leaps * (time_bytes + 4) + counts.standard_marks +
             counts.utc_marks);
  if (bytes.failed()) return std::nullopt;
  const std::vector<Zone> zones = ReadZones(table, counts.name_bytes);
  if (zones.empty()) return std::nullopt;

  TimeZone made;
  for (const char use : uses) {
    const auto zone = static_cast<unsigned char>(use);
    if (zone >= zones.size()) return std::nullopt;
    const std::uint64_t at = times.Number(time_bytes);
    made.transitions_.push_back(
        {.at = time_bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(at))
                               : static_cast<std::int64_t>(at),
         .offset = zones[zone].offset});
  }
  made.before_ = uses.empty() ? zones[0].offset : FirstOffset(zones, uses);
  const std::string_view rule = bytes.rest();
  if (rule.size() > 2 && rule.front() == '\n' && rule.back() == '\n') {
    made.rule_ = ZoneRule::Parse(rule.substr(1, rule.size() - 2));
  }
  return made;
}

std::int64_t TimeZone::OffsetAt(std::int64_t unix_seconds) const {
  // Go searches as if the transitions were in order, which a bad file's are not.
  const auto next = std::ranges::upper_bound(transitions_, unix_seconds, {}, &Transition::at);
  if (next == transitions_.end() && rule_.has_value()) return rule_->OffsetAt(unix_seconds);
  return next == transitions_.begin() ? before_ : (next - 1)->offset;
}

Result<TimeZone> LoadTimeZone(const FileSystem& files, std::string_view name) {
  if (name.empty() || name == "UTC") return TimeZone();
  if (name == "Local") {
    Result<TimeZone> local = LoadFile(files, "/etc/localtime");
    return local.ok() ? *std::move(local) : TimeZone();
  }
  if (name.find("..") != std::string_view::npos || name[0] == '/' || name[0] == '\\') {
    return Status(Reason::kBadRequest, "time: invalid location name");
  }
  if (name.find('\0') != std::string_view::npos) {
    return Status(Reason::kBadRequest, "invalid argument");
  }
  constexpr std::array<std::string_view, 4> kDirectories = {
      "/usr/share/zoneinfo/", "/usr/share/lib/zoneinfo/", "/usr/lib/locale/TZ/", "/etc/zoneinfo/"};
  Status first;
  for (const std::string_view directory : kDirectories) {
    Result<TimeZone> zone = LoadFile(files, std::string(directory).append(name));
    if (zone.ok()) return zone;
    if (first.ok() && !IsMissing(zone.status().message())) first = zone.status();
  }
  if (!first.ok()) return first;
  return Status(Reason::kNotFound, "unknown time zone " + std::string(name));
}

}  // namespace apiserver::v0::cel
