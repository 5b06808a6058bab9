#include "storage/rocks/log_tail.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "storage/rocks/database.h"

namespace apiserver::v0::storage::rocks {
namespace {

constexpr std::size_t kBlock = 32768;
constexpr std::size_t kHeader = 7;  // Checksum, length, type.
constexpr std::size_t kSector = 512;
// Limits the bytes behind a hole that are searched for a record.
constexpr std::size_t kSearchMax = std::size_t{4} << 20;

enum Type : unsigned char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}
constexpr auto kTable = MakeTable();

// Returns the CRC-32C, masked as RocksDB stores it.
std::uint32_t MaskedChecksum(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes)
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

// The piece of a record that would begin at `at`.
struct Piece {
  Piece(std::string_view log, std::size_t at) : begin(at) {
    const auto byte = [log, at](std::size_t i) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(log[at + i]));
    };
    checksum = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
    length = byte(4) | byte(5) << 8;
    type = byte(6);
    const std::size_t room = kBlock - at % kBlock - kHeader;
    possible = type >= kFull && type <= kLast && length <= room;
    complete = possible && at + kHeader + length <= log.size();
    body = log.substr(at + kHeader - 1, 1 + length);
  }
  std::size_t end() const { return begin + kHeader + length; }
  bool right() const { return complete && MaskedChecksum(body) == checksum; }
  bool starts() const { return type == kFull || type == kFirst; }
  bool ends() const { return type == kFull || type == kLast; }

  std::size_t begin;
  std::uint32_t checksum = 0;
  std::size_t length = 0;
  std::uint32_t type = 0;
  bool possible = false;
  bool complete = false;
  std::string_view body;  // The bytes of the checksum.
};

// Skips the rest of a block that has no room for a header.
std::size_t SkipTrailer(std::size_t at) {
  const std::size_t left = kBlock - at % kBlock;
  return left < kHeader ? at + left : at;
}

bool AllZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

bool HasZeroSector(std::string_view log, std::size_t begin, std::size_t end) {
  for (std::size_t at = (begin + kSector - 1) / kSector * kSector; at < end; at += kSector) {
    const std::string_view sector = log.substr(at, std::min(kSector, end - at));
    if (AllZero(sector)) return true;
  }
  return false;
}

bool RecordBehind(std::string_view log, std::size_t at) {
  const std::size_t end = std::min(log.size(), at + kSearchMax);
  for (++at; at + kHeader < end; ++at) {
    if (kBlock - at % kBlock < kHeader) continue;
    const Piece piece(log, at);
    // Zeros never pass for a piece: their type is none.
    if (piece.starts() && piece.right()) return true;
  }
  return false;
}

// True if the header at `at`, or the part of it on one side of a sector's end, did not reach the
// disk. Any other bytes that are no header have been one.
bool HeaderIsTorn(std::string_view log, std::size_t at) {
  const std::size_t sector_end = (at / kSector + 1) * kSector;
  const std::size_t first = std::min(kHeader, sector_end - at);
  return AllZero(log.substr(at, first)) ||
         (first < kHeader && AllZero(log.substr(at + first, kHeader - first)));
}

// True if the piece at the end is whole except for its length.
bool LengthIsWrong(std::string_view log, const Piece& piece) {
  const std::string_view rest = log.substr(piece.begin + kHeader - 1);
  return !rest.empty() && rest.size() <= kBlock && MaskedChecksum(rest) == piece.checksum;
}

}  // namespace

LogTail FindLogTail(std::string_view log) {
  // The pieces of the record that is being walked through, or was last.
  std::vector<Piece> record;
  std::size_t at = 0;
  const auto start = [&record, &at] {
    const bool open = !record.empty() && !record.back().ends();
    return open ? record.front().begin : at;
  };
  for (at = SkipTrailer(at); at + kHeader <= log.size(); at = SkipTrailer(at)) {
    const Piece piece(log, at);
    if (!piece.complete) {
      const bool honest = piece.possible ? !LengthIsWrong(log, piece) : HeaderIsTorn(log, at);
      if (!honest || RecordBehind(log, at)) return {.torn_at = {}, .damaged_at = at};
      return {.torn_at = start(), .damaged_at = {}};
    }
    if (piece.starts()) record.clear();
    record.push_back(piece);
    at = piece.end();
  }
  if (start() < log.size()) return {.torn_at = start(), .damaged_at = {}};
  // The last record is whole as far as its headers tell.
  for (const Piece& piece : record) {
    if (piece.right() || !HasZeroSector(log, piece.begin, piece.end())) continue;
    return {.torn_at = record.front().begin, .damaged_at = {}};
  }
  return {};
}

Result<NewestLogFile> ReadNewestLog(rocksdb::Env& env, const std::string& path) {
  NewestLogFile newest;
  std::vector<std::string> names;
  // A missing directory, or one that cannot be read, is reported by the opening.
  if (!env.GetChildren(path, &names).ok()) return newest;
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::uint64_t size = 0;
    std::string file = path;
    file.append("/").append(name);
    if (!name.ends_with(".log") || !env.GetFileSize(file, &size).ok()) continue;
    if (size > 0) newest.file = std::move(file);
  }
  if (newest.file.empty()) return newest;
  const rocksdb::Status read = rocksdb::ReadFileToString(&env, newest.file, &newest.bytes);
  if (!read.ok()) return FromRocks(read, "read " + newest.file);
  const LogTail tail = FindLogTail(newest.bytes);
  if (tail.damaged_at) {
    return NewCorruptError(newest.file + " cannot be read at byte " +
                           std::to_string(*tail.damaged_at) +
                           ", and what stands behind it was confirmed; check its disk and restore "
                           "it from a backup");
  }
  newest.torn_at = tail.torn_at;
  return newest;
}

Status MendNewestLog(rocksdb::Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(NewestLogFile newest, ReadNewestLog(env, path));
  if (!newest.torn_at) return Status::Ok();
  const std::string mended = newest.file + ".mended";
  newest.bytes.resize(*newest.torn_at);
  rocksdb::Status cut = rocksdb::WriteStringToFile(&env, newest.bytes, mended, true);
  if (cut.ok()) cut = env.RenameFile(mended, newest.file);
  return cut.ok() ? Status::Ok() : FromRocks(cut, "cut a torn write off " + newest.file);
}

}  // namespace apiserver::v0::storage::rocks
