#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// The handlers beside the APIs by path: an exact path first, else the longest prefix.
// k8s.io/apiserver/pkg/server/mux.PathRecorderMux. Any thread.
class PathMux {
 public:
  // The handler's use of the request's body. kPublic: none, and it needs no authentication.
  enum class Body : std::uint8_t { kRead, kLeft, kPublic };
  struct Found {
    std::shared_ptr<const http::Handler> handler = nullptr;  // Null: none is registered.
    bool reads_body = false;
    bool is_public = false;  // Served before authentication.
    bool operator==(const Found&) const = default;
  };

  // Adds a handler; a path that ends in '/' is a prefix. kConflict: the path is taken.
  Status Handle(std::string path, http::Handler handler, bool listed, Body body = Body::kRead);
  Found Find(std::string_view path) const;
  // Finds a handler that is public. Every read asks for one and few paths are, so that these are
  // looked at first.
  Found FindPublic(std::string_view path) const;
  // Returns the listed paths, sorted.
  std::vector<std::string> ListedPaths() const;

 private:
  struct Entry {
    Found found;
    bool listed;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  std::shared_ptr<const Entries> Snapshot() const;
  // Returns false if no public path is `path` or a prefix of it.
  bool MayBePublic(std::string_view path) const;

  // Replaced as a whole, so that a request holds the lock only while it copies a pointer.
  Guarded<std::shared_ptr<const Entries>> entries_{std::make_shared<const Entries>()};
  // The paths of public handlers.
  Guarded<std::vector<std::string>> public_paths_;
};

}  // namespace apiserver::inline v0::server
