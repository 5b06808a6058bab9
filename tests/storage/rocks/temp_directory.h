#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace apiserver::inline v0::storage::rocks {

// A directory that is gone, with all that is in it, when the object is.
class TempDirectory {
 public:
  TempDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "apiserver-test-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  // Something that does not exist within it.
  std::string path() const { return path_ + "/store"; }

 private:
  std::string path_;
};

}  // namespace apiserver::inline v0::storage::rocks
