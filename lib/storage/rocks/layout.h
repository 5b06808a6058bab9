#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/storage/kv/engine.h"

// The meaning of the bytes on disk. Three column families:
//
//   data     key ∥ ~revision -> a version; each value is stored once.
//   log      revision        -> a change.
//   default  "format", "compacted", "last_lease", "lease/" ∥ id.
//
// Numbers in keys are big-endian, so that their bytes sort as they do. A key is escaped (0x00
// becomes 0x00 0xff) and ends in 0x00 0x01, so that the versions of one key are neighbours, newest
// first, and keys stay in their order.
namespace apiserver::inline v0::storage::rocks {

using kv::Revision;

// Raised when older builds cannot read what this one writes.
inline constexpr std::uint64_t kFormat = 1;

inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kCompactedKey = "compacted";
inline constexpr std::string_view kLastLeaseKey = "last_lease";
inline constexpr std::string_view kLeasePrefix = "lease/";

// Returns 8 bytes, big-endian.
std::string EncodeNumber(std::uint64_t number);
std::optional<std::uint64_t> DecodeNumber(std::string_view bytes);

// Returns the place where the versions of `key`, or of the first key above it, begin.
std::string DataBound(std::string_view key);
// Returns the key of one version.
std::string DataKey(std::string_view key, Revision revision);
struct DataKeyParts {
  std::string key;
  Revision revision = 0;
};
std::optional<DataKeyParts> DecodeDataKey(std::string_view bytes);
// True if `bytes` is a version of the key that `data_key` is a version of.
bool SameKey(std::string_view bytes, std::string_view data_key);

// The head of a version, which precedes its value.
struct VersionHead {
  bool deleted = false;
  Revision create_revision = 0;
  kv::LeaseId lease = 0;
};
std::string EncodeVersionHead(const VersionHead& head);
// Takes the head off `bytes`, so that the value remains.
std::optional<VersionHead> TakeVersionHead(std::string_view& bytes);

// A change as it is stored in the log.
struct LogRecord {
  enum class Type : std::uint8_t { kCreate = 1, kUpdate = 2, kDelete = 3 };
  Type type = Type::kCreate;
  Revision previous = 0;             // The revision it superseded. Zero: none.
  std::uint64_t previous_bytes = 0;  // The size of that value.
  std::string key;
};
std::string EncodeLogRecord(const LogRecord& record);
std::optional<LogRecord> DecodeLogRecord(std::string_view bytes);

std::string LeaseKey(kv::LeaseId lease);

}  // namespace apiserver::inline v0::storage::rocks
