#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>

#include "apiserver/base/status.h"

namespace bench {

// A folder that is removed at the end.
class TemporaryFolder {
 public:
  static apiserver::Result<TemporaryFolder> New() {
    TemporaryFolder folder;
    folder.path_ = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
    if (mkdtemp(folder.path_.data()) != nullptr) return folder;
    folder.path_.clear();
    return apiserver::Status(apiserver::Reason::kInternalError, "cannot make a temporary folder");
  }
  TemporaryFolder() = default;
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  // Empty: none was made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bench
