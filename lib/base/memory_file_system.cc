#include <algorithm>
#include <map>
#include <set>

#include "apiserver/base/file_system.h"
#include "apiserver/base/sync.h"

namespace apiserver::v0 {
namespace {

Status Missing(std::string_view operation, const std::string& path) {
  return {Reason::kNotFound, std::string(operation) + " " + path + ": No such file or directory"};
}

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

// Appends to the file that has the name now. (A real one follows a file that is renamed.)
class MemoryAppendFile final : public AppendFile {
 public:
  MemoryAppendFile(std::shared_ptr<Guarded<Tree>> tree, std::string path)
      : tree_(std::move(tree)), path_(std::move(path)) {}

  Status Append(std::string_view bytes) override {
    tree_->Lock()->files[path_] += bytes;
    return {};
  }
  std::uint64_t size() const override { return tree_->Lock()->files[path_].size(); }

 private:
  std::shared_ptr<Guarded<Tree>> tree_;
  std::string path_;
};

// As strict as a real one: a file needs its directory.
class MemoryFileSystem final : public FileSystem {
 public:
  Result<std::string> Read(const std::string& path) const override {
    const auto tree = tree_->Lock();
    const auto file = tree->files.find(path);
    if (file == tree->files.end()) return Missing("open", path);
    return file->second;
  }

  Result<std::string> ReadRange(const std::string& path, std::uint64_t offset,
                                std::size_t bytes_max) const override {
    const auto tree = tree_->Lock();
    const auto file = tree->files.find(path);
    if (file == tree->files.end()) return Missing("open", path);
    if (offset >= file->second.size()) return std::string();
    return file->second.substr(offset, bytes_max);
  }

  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path, unsigned) override {
    auto tree = tree_->Lock();
    if (!tree->HasDirectory(ParentOf(path))) return Missing("open", path);
    if (tree->HasDirectory(path)) {
      return Status(Reason::kInternalError, "open " + path + ": Is a directory");
    }
    tree->files.try_emplace(path);
    return std::make_unique<MemoryAppendFile>(tree_, path);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    auto tree = tree_->Lock();
    const auto file = tree->files.find(from);
    if (file == tree->files.end() || !tree->HasDirectory(ParentOf(to))) {
      return Missing("rename", from);
    }
    std::string bytes = std::move(file->second);
    tree->files.erase(file);
    tree->files[to] = std::move(bytes);
    return {};
  }

  Result<std::vector<std::string>> List(const std::string& directory) const override {
    const auto tree = tree_->Lock();
    if (!tree->HasDirectory(directory)) return Missing("open", directory);
    std::vector<std::string> names;
    const auto add = [&](const std::string& path) {
      if (path != directory && ParentOf(path) == directory) names.push_back(NameOf(path));
    };
    for (const auto& [path, bytes] : tree->files) add(path);
    for (const std::string& path : tree->directories) add(path);
    std::sort(names.begin(), names.end());
    return names;
  }

  Status WriteAtomically(const std::string& path, std::string_view bytes, unsigned) override {
    auto tree = tree_->Lock();
    if (!tree->HasDirectory(ParentOf(path))) return Missing("create", path);
    if (tree->HasDirectory(path)) {
      return {Reason::kInternalError, "rename " + path + ": Is a directory"};
    }
    tree->files[path] = std::string(bytes);
    return {};
  }

  Status MakeDirectories(const std::string& path, unsigned) override {
    auto tree = tree_->Lock();
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
    const auto tree = tree_->Lock();
    return tree->files.contains(path) || tree->HasDirectory(path);
  }

  Status Remove(const std::string& path) override {
    auto tree = tree_->Lock();
    if (tree->files.erase(path) != 0) return {};
    if (!tree->directories.contains(path)) return Missing("remove", path);
    if (tree->HasEntries(path)) {
      return {Reason::kInternalError, "remove " + path + ": Directory not empty"};
    }
    tree->directories.erase(path);
    return {};
  }

 private:
  static std::string ParentOf(const std::string& path) {
    const auto slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
  }

  static std::string NameOf(const std::string& path) {
    const auto slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
  }

  const std::shared_ptr<Guarded<Tree>> tree_ = std::make_shared<Guarded<Tree>>();
};

}  // namespace

std::unique_ptr<FileSystem> NewMemoryFileSystem() { return std::make_unique<MemoryFileSystem>(); }

}  // namespace apiserver::v0
