#include "apiserver/meta/watch.h"

#include <array>

namespace apiserver::v0::watch {
namespace {

// The words, in the order of EventType.
constexpr std::array<std::string_view, 5> kWords = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK",
                                                    "ERROR"};

}  // namespace

std::string_view EventTypeWord(EventType type) { return kWords.at(static_cast<std::size_t>(type)); }

std::optional<EventType> EventTypeFromWord(std::string_view word) {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) return static_cast<EventType>(i);
  }
  return std::nullopt;
}

}  // namespace apiserver::v0::watch
