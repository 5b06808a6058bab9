#include "server/mux/path_mux.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::server {

Status PathMux::Handle(std::string path, http::Handler handler, bool listed, Body body) {
  if (path.empty() || path.front() != '/') {
    return {Reason::kInvalid, "a path begins with '/': \"" + path + "\""};
  }
  auto entries = entries_.Lock();
  if ((*entries)->contains(path)) {
    return {Reason::kConflict, "the path " + path + " is served already"};
  }
  if (body == Body::kPublic) public_paths_.Lock()->push_back(path);
  auto next = std::make_shared<Entries>(**entries);
  next->emplace(std::move(path),
                Entry{{.handler = std::make_shared<const http::Handler>(std::move(handler)),
                       .reads_body = body == Body::kRead,
                       .is_public = body == Body::kPublic},
                      listed});
  *entries = std::move(next);
  return {};
}

std::shared_ptr<const PathMux::Entries> PathMux::Snapshot() const { return *entries_.Lock(); }

PathMux::Found PathMux::Find(std::string_view path) const {
  const std::shared_ptr<const Entries> entries = Snapshot();
  if (const auto exact = entries->find(path); exact != entries->end()) return exact->second.found;
  // Tries each shorter prefix that ends in '/', the longest first.
  for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos;
       slash = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1)) {
    const std::string_view prefix = path.substr(0, slash + 1);
    // "/" alone is the index, not a prefix of everything.
    if (prefix.size() < 2) break;
    if (const auto found = entries->find(prefix); found != entries->end()) {
      return found->second.found;
    }
  }
  return {};
}

bool PathMux::MayBePublic(std::string_view path) const {
  const auto paths = public_paths_.Lock();
  return std::any_of(paths->begin(), paths->end(),
                     [path](const std::string& one) { return path.starts_with(one); });
}

PathMux::Found PathMux::FindPublic(std::string_view path) const {
  if (!MayBePublic(path)) return {};
  Found found = Find(path);
  return found.is_public ? found : Found{};
}

std::vector<std::string> PathMux::ListedPaths() const {
  std::vector<std::string> paths;
  const std::shared_ptr<const Entries> entries = Snapshot();
  for (const auto& [path, entry] : *entries) {
    if (entry.listed) paths.push_back(path);
  }
  return paths;
}

}  // namespace apiserver::v0::server
