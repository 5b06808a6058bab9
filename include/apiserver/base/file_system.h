#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"

namespace apiserver::inline v0 {

// A file that is appended to. Used by one thread at a time; appending may block.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  // Appends `bytes`. After an error some of them may be in the file.
  virtual Status Append(std::string_view bytes) = 0;
  virtual std::uint64_t size() const = 0;
};

// The files a server reads and writes outside its storage engine (certificates, tokens,
// kubeconfigs), so that tests can hold them in memory and make them fail. Paths are UTF-8. All
// methods may block and may be called from any thread.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Reads a whole file. kNotFound: there is none. kInternalError: anything else, with path and
  // errno's text.
  virtual Result<std::string> Read(const std::string& path) const = 0;
  // Reads at most `bytes_max` bytes from `offset` on; fewer only at the end of the file.
  virtual Result<std::string> ReadRange(const std::string& path, std::uint64_t offset,
                                        std::size_t bytes_max) const = 0;
  // Replaces `path` by a file with exactly these bytes: writes a temporary file beside it with
  // `mode`, syncs and renames it. Readers see the old file or the new one, never a part.
  virtual Status WriteAtomically(const std::string& path, std::string_view bytes,
                                 unsigned mode) = 0;
  // Opens `path` for appending; a missing file is made with exactly `mode`.
  virtual Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path,
                                                         unsigned mode) = 0;
  // Moves a file (not a directory) and replaces the file at `to`.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // Returns the names in a directory, sorted.
  virtual Result<std::vector<std::string>> List(const std::string& directory) const = 0;
  // Creates `path` and its parents with `mode`; no error if it exists.
  virtual Status MakeDirectories(const std::string& path, unsigned mode) = 0;
  // Reports whether a file or directory is at `path`.
  virtual bool Exists(const std::string& path) const = 0;
  // Deletes a file.
  virtual Status Remove(const std::string& path) = 0;
};

// The machine's file system. Lives as long as the process; stateless.
FileSystem& RealFileSystem();
// A file system in memory. Starts empty and forgets everything when destroyed.
std::unique_ptr<FileSystem> NewMemoryFileSystem();

}  // namespace apiserver::inline v0
