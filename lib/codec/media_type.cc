#include <algorithm>
#include <array>
#include <cctype>

#include "apiserver/codec/codec.h"

namespace apiserver::inline v0::codec {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"application/json", "application/yaml",
                                                    "application/vnd.kubernetes.protobuf",
                                                    "application/cbor"};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool EqualIgnoringCase(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

}  // namespace

std::string_view MediaTypeName(MediaType type) { return kNames[static_cast<std::size_t>(type)]; }

std::optional<MediaType> MediaTypeOfContentType(std::string_view content_type) {
  const std::string_view name = Trim(content_type.substr(0, content_type.find(';')));
  if (name.empty()) return MediaType::kJson;
  for (const MediaType type :
       {MediaType::kJson, MediaType::kYaml, MediaType::kProtobuf, MediaType::kCbor}) {
    if (EqualIgnoringCase(name, MediaTypeName(type))) return type;
  }
  return std::nullopt;
}

}  // namespace apiserver::inline v0::codec
