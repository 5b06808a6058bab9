#include <algorithm>
#include <map>
#include <set>

#include "apiserver/base/file_system.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {
namespace {

Status Missing(std::string_view operation, const std::string& path) {
  return {Reason::kNotFound, std::string(operation) + " " + path + ": No such file or directory"};
}

// As strict as a real one: a file needs its directory.
class MemoryFileSystem final : public FileSystem {
 public:
  Result<std::string> Read(const std::string& path) const override {
    const auto tree = tree_.Lock();
    const auto file = tree->files.find(path);
    if (file == tree->files.end()) return Missing("open", path);
    return file->second;
  }

  Status WriteAtomically(const std::string& path, std::string_view bytes, unsigned) override {
    auto tree = tree_.Lock();
    if (!tree->HasDirectory(ParentOf(path))) return Missing("create", path);
    if (tree->HasDirectory(path)) {
      return {Reason::kInternalError, "rename " + path + ": Is a directory"};
    }
    tree->files[path] = std::string(bytes);
    return {};
  }

  Status MakeDirectories(const std::string& path, unsigned) override {
    auto tree = tree_.Lock();
    for (std::size_t end = 0; end != std::string::npos;) {
      end = path.find('/', end + 1);
      const std::string prefix = path.substr(0, end);
      if (tree->files.contains(prefix)) {
        return {Reason::kInternalError, "mkdir " + prefix + ": File exists"};
      }
      tree->directories.insert(prefix);
    }
    return {};
  }

  bool Exists(const std::string& path) const override {
    const auto tree = tree_.Lock();
    return tree->files.contains(path) || tree->HasDirectory(path);
  }

  Status Remove(const std::string& path) override {
    auto tree = tree_.Lock();
    if (tree->files.erase(path) != 0) return {};
    if (!tree->directories.contains(path)) return Missing("remove", path);
    if (tree->HasEntries(path)) {
      return {Reason::kInternalError, "remove " + path + ": Directory not empty"};
    }
    tree->directories.erase(path);
    return {};
  }

 private:
  struct Tree {
    std::map<std::string, std::string> files;
    std::set<std::string> directories;

    bool HasDirectory(const std::string& path) const {
      return path == "." || path == "/" || directories.contains(path);
    }
    bool HasEntries(const std::string& directory) const {
      const auto inside = [&](const std::string& path) {
        return path.size() > directory.size() && path.starts_with(directory) &&
               path[directory.size()] == '/';
      };
      return std::any_of(files.begin(), files.end(),
                         [&](const auto& file) { return inside(file.first); }) ||
             std::any_of(directories.begin(), directories.end(), inside);
    }
  };

  static std::string ParentOf(const std::string& path) {
    const auto slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
  }

  mutable Guarded<Tree> tree_;
};

}  // namespace

std::unique_ptr<FileSystem> NewMemoryFileSystem() { return std::make_unique<MemoryFileSystem>(); }

}  // namespace apiserver::inline v0
