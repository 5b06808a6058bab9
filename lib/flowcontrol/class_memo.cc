#include "flowcontrol/class_memo.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

namespace apiserver::v0::flowcontrol {

namespace {

using Parts = std::array<std::string_view, 5>;

// The parts of a request for a resource that rules look at.
Parts PartsOf(const request::RequestInfo& info) {
  return {info.verb, info.api_group, info.resource, info.subresource, info.namespace_};
}

// Mixes the size and the last bytes of a part, in which most requests differ that differ at all.
std::size_t Mix(std::size_t hash, std::string_view part) {
  std::uint64_t bytes = part.size();
  const std::size_t last = std::min<std::size_t>(part.size(), 4);
  if (last > 0) std::memcpy(&bytes, part.data() + part.size() - last, last);
  return (hash ^ bytes) * 0x9e3779b97f4a7c15U;
}

std::size_t HashOf(const Parts& parts, const auth::UserInfo* user) {
  std::size_t hash = std::hash<const void*>()(user);
  for (const std::string_view part : parts) hash = Mix(hash, part);
  return hash >> 32U;
}

// A path has no zero bytes, which end the parts.
bool Equals(std::string_view text, const Parts& parts) {
  for (const std::string_view part : parts) {
    if (text.size() <= part.size() || text[part.size()] != '\0' || !text.starts_with(part)) {
      return false;
    }
    text.remove_prefix(part.size() + 1);
  }
  return text.empty();
}

}  // namespace

std::optional<ClassMemo::Class> ClassMemo::Find(const request::RequestInfo& info,
                                                const auth::UserInfoPtr& user) const {
  const Parts parts = PartsOf(info);
  const std::size_t hash = HashOf(parts, user.get());
  const auto shard = shards_[hash % kShards].Lock();
  const Entry& entry = (*shard)[hash / kShards % kPlaces];
  if (entry.user != user || !Equals(entry.text, parts)) return std::nullopt;
  return entry.found;
}

void ClassMemo::Store(const request::RequestInfo& info, const auth::UserInfoPtr& user,
                      Class found) {
  const Parts parts = PartsOf(info);
  std::size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size() + 1;
  if (bytes > kTextMax) return;
  Entry entry{.user = user, .text = {}, .found = found};
  entry.text.reserve(bytes);
  for (const std::string_view part : parts) {
    if (part.find('\0') != std::string_view::npos) return;
    entry.text.append(part).push_back('\0');
  }
  const std::size_t hash = HashOf(parts, user.get());
  // Swapped, so that the user that was there goes after the lock.
  std::swap((*shards_[hash % kShards].Lock())[hash / kShards % kPlaces], entry);
}

}  // namespace apiserver::v0::flowcontrol
