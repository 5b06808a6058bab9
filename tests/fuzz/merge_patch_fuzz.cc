#include "apiserver/patch/merge_patch.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"
#include "require_json.h"

// JSON merge patches: the input is a document, a newline, and a patch, which also is what another
// document is to become.
namespace {

namespace codec = apiserver::codec;
namespace patch = apiserver::patch;
namespace runtime = apiserver::runtime;
using apiserver::codec::testing::Json;
using apiserver_fuzz::Require;
using apiserver_fuzz::RequireJson;
using runtime::Value;

// Where the nulls of a value are, that a merge patch cannot say as they are.
struct Nulls {
  bool in_maps = false;
  bool in_maps_in_lists = false;
};

Nulls FindNulls(const Value& value) {
  struct Place {
    Value value;
    bool in_list;
  };
  Nulls found;
  std::vector<Place> places = {{value, false}};
  while (!places.empty()) {
    const Place place = places.back();
    places.pop_back();
    for (const Value& item : place.value.items()) places.push_back({item, true});
    for (const runtime::Member& member : place.value.members()) {
      places.push_back({member.value, place.in_list});
      if (!member.value.is_null()) continue;
      found.in_maps = true;
      if (place.in_list) found.in_maps_in_lists = true;
    }
  }
  return found;
}

Value Merge(const Value& document, const Value& change, runtime::Arena& arena) {
  const auto merged = patch::ApplyMergePatch(document, change, arena);
  Require(merged.ok());
  RequireJson(*merged);
  return *merged;
}

// A list that takes a map's place keeps the nulls of its maps, one that takes any other's loses
// them: so only the third time is it sure to change nothing.
void RequireToSettle(const Value& document, const Value& change, runtime::Arena& arena) {
  const Value once = Merge(document, change, arena);
  const Value twice = Merge(once, change, arena);
  if (!FindNulls(change).in_maps_in_lists) Require(once == twice);
  Require(twice == Merge(twice, change, arena));
}

void RequireWayBetween(const Value& original, const Value& modified, runtime::Arena& arena) {
  const Value difference = patch::CreateMergePatch(original, modified, arena);
  RequireJson(difference);
  if (original == modified) Require(difference.members().empty());
  const Value reached = Merge(original, difference, arena);
  if (!FindNulls(modified).in_maps) Require(reached == modified);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = input.find('\n');
  if (newline == std::string_view::npos) return 0;
  runtime::Arena arena;
  const auto document = codec::ParseJson(input.substr(0, newline), arena);
  const auto change = codec::ParseJson(input.substr(newline + 1), arena);
  if (!document.ok() || !change.ok() || !document->is_map()) return 0;
  if (!change->is_map()) {
    Require(!patch::ApplyMergePatch(*document, *change, arena).ok());
    return 0;
  }
  const std::string before = Json(*document) + Json(*change);
  RequireToSettle(*document, *change, arena);
  RequireWayBetween(*document, *change, arena);
  RequireWayBetween(*change, *document, arena);
  RequireWayBetween(*document, Merge(*document, *change, arena), arena);
  Require(Json(*document) + Json(*change) == before);
  return 0;
}
