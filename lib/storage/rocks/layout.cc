#include "storage/rocks/layout.h"

namespace apiserver::v0::storage::rocks {
namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr char kDeleted = 0;
constexpr char kPut = 1;

void AppendNumber(std::uint64_t number, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
}

// Seven bits a byte, the lowest first: most revisions and leases are far below 64 bits.
void AppendVarint(std::uint64_t number, std::string& out) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

std::optional<std::uint64_t> TakeVarint(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace

std::string EncodeNumber(std::uint64_t number) {
  std::string out;
  AppendNumber(number, out);
  return out;
}

std::optional<std::uint64_t> DecodeNumber(std::string_view bytes) {
  if (bytes.size() != kNumberBytes) return std::nullopt;
  std::uint64_t number = 0;
  for (char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::string DataBound(std::string_view key) {
  std::string out;
  out.reserve(key.size() + 2 + kNumberBytes);
  while (true) {
    const std::size_t zero = key.find('\0');
    out += key.substr(0, zero);
    if (zero == std::string_view::npos) return out;
    out += '\0';
    // 0x00 0xff sorts above the key's end, 0x00 0x01, so that a key comes before its extensions.
    out += '\xff';
    key.remove_prefix(zero + 1);
  }
}

std::string DataKey(std::string_view key, Revision revision) {
  std::string out = DataBound(key);
  out += '\0';
  out += '\x01';
  // The complement puts the newest version first, where a read of the present state finds it.
  AppendNumber(~static_cast<std::uint64_t>(revision), out);
  return out;
}

std::optional<DataKeyParts> DecodeDataKey(std::string_view bytes) {
  DataKeyParts parts;
  while (true) {
    const std::size_t zero = bytes.find('\0');
    if (zero == std::string_view::npos || zero + 1 == bytes.size()) return std::nullopt;
    parts.key += bytes.substr(0, zero);
    const char mark = bytes[zero + 1];
    bytes.remove_prefix(zero + 2);
    if (mark == '\x01') break;
    // Any other byte after a zero was not written by DataKey().
    if (mark != '\xff') return std::nullopt;
    parts.key += '\0';
  }
  const auto number = DecodeNumber(bytes);
  if (!number) return std::nullopt;
  parts.revision = static_cast<Revision>(~*number);
  return parts;
}

bool SameKey(std::string_view bytes, std::string_view data_key) {
  // The tail of fixed length is the revision; all before it is the key with its end mark.
  return bytes.size() == data_key.size() && bytes.substr(0, bytes.size() - kNumberBytes) ==
                                                data_key.substr(0, data_key.size() - kNumberBytes);
}

std::string EncodeVersionHead(const VersionHead& head) {
  if (head.deleted) return std::string(1, kDeleted);
  std::string out(1, kPut);
  AppendVarint(static_cast<std::uint64_t>(head.create_revision), out);
  AppendVarint(static_cast<std::uint64_t>(head.lease), out);
  return out;
}

std::optional<VersionHead> TakeVersionHead(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  // The first byte tells a deletion from a value, so that an empty value is possible.
  const char kind = bytes.front();
  bytes.remove_prefix(1);
  if (kind == kDeleted) return VersionHead{.deleted = true};
  if (kind != kPut) return std::nullopt;
  const auto create = TakeVarint(bytes);
  const auto lease = create ? TakeVarint(bytes) : std::nullopt;
  if (!lease) return std::nullopt;
  return VersionHead{.deleted = false,
                     .create_revision = static_cast<Revision>(*create),
                     .lease = static_cast<kv::LeaseId>(*lease)};
}

std::string EncodeLogRecord(const LogRecord& record) {
  std::string out;
  out.reserve(record.key.size() + 12);
  out += static_cast<char>(record.type);
  AppendVarint(static_cast<std::uint64_t>(record.previous), out);
  AppendVarint(record.previous_bytes, out);
  out += record.key;
  return out;
}

std::optional<LogRecord> DecodeLogRecord(std::string_view bytes) {
  // Unknown types are damage: the format number would have changed for a new one.
  if (bytes.empty() || bytes.front() < 1 || bytes.front() > 3) return std::nullopt;
  LogRecord record;
  record.type = static_cast<LogRecord::Type>(bytes.front());
  bytes.remove_prefix(1);
  const auto previous = TakeVarint(bytes);
  const auto previous_bytes = previous ? TakeVarint(bytes) : std::nullopt;
  if (!previous_bytes) return std::nullopt;
  record.previous = static_cast<Revision>(*previous);
  record.previous_bytes = *previous_bytes;
  record.key = bytes;
  return record;
}

std::string LeaseKey(kv::LeaseId lease) {
  return std::string(kLeasePrefix) + EncodeNumber(static_cast<std::uint64_t>(lease));
}

}  // namespace apiserver::v0::storage::rocks
