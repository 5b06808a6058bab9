#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"
#include "cel/run/zone_rule.h"

// Time zones: time.LoadLocation of Go, on the system's database (Debian's package tzdata).
namespace apiserver::inline v0::cel {

// The offsets of a time zone. Immutable, any thread.
class TimeZone {
 public:
  // Makes UTC.
  TimeZone() = default;
  // Makes a zone with one offset, in seconds east of UTC.
  explicit TimeZone(std::int64_t offset_seconds) : before_(offset_seconds) {}
  // Parses a file of the database: TZif, RFC 8536, versions 1 to 3. nullopt: it is none.
  static std::optional<TimeZone> Parse(std::string_view file);

  // Returns the seconds east of UTC at a time, given in seconds since 1970.
  std::int64_t OffsetAt(std::int64_t unix_seconds) const;

 private:
  struct Transition {
    std::int64_t at = 0;      // Seconds since 1970.
    std::int64_t offset = 0;  // From then on.
  };

  std::int64_t before_ = 0;  // Before the first transition.
  std::vector<Transition> transitions_;
  std::optional<ZoneRule> rule_;  // After the last transition.
};

// Finds a zone: "" and "UTC"; "Local" (/etc/localtime, else UTC); a name of the database. Reads a
// file, of which it looks at the first kTimeZoneBytesMax bytes. kNotFound and others: Go's words,
// "unknown time zone Mars/Phobos", "time: invalid location name", "malformed time zone
// information", "is a directory".
Result<TimeZone> LoadTimeZone(const FileSystem& files, std::string_view name);
inline constexpr std::size_t kTimeZoneBytesMax = std::size_t{64} << 10U;

}  // namespace apiserver::inline v0::cel
