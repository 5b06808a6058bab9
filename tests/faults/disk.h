#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::faults {

// What a program asks of a disk, as far as it can fail.
enum class Operation : std::uint8_t { kOpen, kAppend, kSync, kClose, kRename, kDelete, kRead };
inline constexpr Operation kOperations[] = {
    Operation::kOpen,   Operation::kAppend, Operation::kSync, Operation::kClose,
    Operation::kRename, Operation::kDelete, Operation::kRead};
std::string_view Name(Operation operation);

enum class Error : std::uint8_t { kNone, kIo, kNoSpace, kReadOnly, kNotFound, kOff };

// Which operation fails, counted from when the fault is set.
struct Fault {
  Operation operation = Operation::kAppend;
  std::uint64_t nth = 1;
  bool forever = false;  // All from the nth on; else only it.
  Error error = Error::kIo;
};

// How a power cut treats what was written and not synced.
enum class Loss : std::uint8_t {
  kAll,    // It is gone.
  kTail,   // Some of its end is gone.
  kPages,  // Any of its pages of 4 KiB may be zeros, and its end gone.
  kNone,   // It was lucky.
  kAny,    // One of the above for each file.
};

// A disk in memory that forgets what was not synced when its power is cut: file contents since the
// last sync of the file, and names since the last sync of the directory. Any thread.
class Disk {
 public:
  struct Inode {
    std::string content;
    std::size_t synced = 0;  // The bytes that a cut leaves.
    bool damaged = false;    // A sync failed: what was not on disk then never gets there.
  };
  using InodeRef = std::shared_ptr<Inode>;
  using Files = std::map<std::string, std::string>;

  Disk() = default;
  // All of `files` is durable.
  explicit Disk(const Files& files);

  Error Create(const std::string& path, InodeRef& file);
  Error Open(const std::string& path, InodeRef& file);
  Error Append(Inode& file, std::string_view bytes);
  Error Sync(Inode& file);
  Error Truncate(Inode& file, std::size_t size);
  Error Read(const Inode& file, std::uint64_t offset, std::size_t size, std::string& bytes);
  Error Close();
  Error Rename(const std::string& from, const std::string& to);
  Error Delete(const std::string& path);
  Error SyncDirectory(const std::string& path);
  Error CreateDirectory(const std::string& path);
  // Of a file or a directory.
  bool Exists(const std::string& path) const;
  bool IsDirectory(const std::string& path) const;
  std::vector<std::string> Children(const std::string& path) const;
  std::optional<std::size_t> Size(const std::string& path) const;

  void Set(std::optional<Fault> fault);
  // Whether the fault that was set has happened.
  bool reached() const;
  void SetReadOnly(bool read_only) { state_.Lock()->read_only = read_only; }
  // A disk that says it has synced and has not: what a harness must notice.
  void SetLying(bool lying) { state_.Lock()->lying = lying; }
  // Cuts the power before the `count`th change from now; zero: never.
  void PowerOffAfter(std::uint64_t count) { state_.Lock()->off_after = count; }
  void PowerOff() { state_.Lock()->off = true; }
  bool off() const { return state_.Lock()->off; }
  std::uint64_t changes() const { return state_.Lock()->changes; }

  // What a cut leaves.
  Files AfterCut(Loss loss, Random& random) const;
  // What a program sees.
  Files Now() const;

 private:
  // A change of a directory that may not be durable yet.
  struct NameChange {
    std::string directory;
    std::string added;  // Empty: nothing.
    InodeRef file;      // Null: `added` is a directory.
    std::string removed;
  };
  struct State {
    std::map<std::string, InodeRef> files;
    std::set<std::string> directories{"/"};
    std::map<std::string, InodeRef> durable_files;
    std::vector<NameChange> pending;
    std::optional<Fault> fault;
    std::uint64_t seen = 0;  // Operations of the fault's kind since it was set.
    std::uint64_t changes = 0;
    std::uint64_t off_after = 0;
    bool read_only = false;
    bool lying = false;
    bool off = false;
  };
  static Error Ask(State& state, Operation operation);
  static void Apply(const NameChange& change, std::map<std::string, InodeRef>& files);

  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::faults
