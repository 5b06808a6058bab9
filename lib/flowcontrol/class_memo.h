#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "apiserver/auth/user.h"
#include "apiserver/base/sync.h"
#include "apiserver/request/request_info.h"

namespace apiserver::inline v0::flowcontrol {

// Remembers the classes of requests for resources: clients send many requests that differ in the
// name of the object alone. It belongs to one configuration, and is dropped with it. A user is
// known by the identity of its description, which the memo keeps alive. Any thread.
class ClassMemo final {
 public:
  struct Class {
    std::size_t schema = 0;  // Its index.
    std::uint64_t flow_hash = 0;
  };

  // Returns the class of an equal request. nullopt: none is remembered.
  std::optional<Class> Find(const request::RequestInfo& info, const auth::UserInfoPtr& user) const;
  // Remembers the class of a request, and forgets that of another one in its place.
  void Store(const request::RequestInfo& info, const auth::UserInfoPtr& user, Class found);

 private:
  // Requests whose texts are longer are not remembered.
  static constexpr std::size_t kTextMax = 256;
  static constexpr std::size_t kShards = 8;
  static constexpr std::size_t kPlaces = 32;  // Of each shard.

  struct Entry {
    auth::UserInfoPtr user;
    std::string text;  // The parts of the request.
    Class found;
  };
  using Shard = std::array<Entry, kPlaces>;

  std::array<Guarded<Shard>, kShards> shards_;
};

}  // namespace apiserver::inline v0::flowcontrol
