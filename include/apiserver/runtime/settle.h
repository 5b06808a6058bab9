#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// The steps that all content takes on its way in: a body's, a patch's, the storage's, a webhook's.
// The order is Go's: decode into the type and encode again (runtime/serializer), or prune
// (apiextensions' structural/pruning), then default.
namespace apiserver::inline v0::runtime {

// A member that the schema of its object does not know.
struct UnknownMember {
  std::string path;  // "spec.typo".
  const char* key;   // The key's text, of the object's content.
};
// Each path once, at most 100 of them: in document order, of a structural kind sorted.
std::vector<UnknownMember> UnknownMembers(const Object& object);
// The same in Go's words: `unknown field "spec.typo"`.
std::vector<std::string> UnknownFields(const Object& object);

// Returns the bytes by which content of a body of `body_bytes` may grow: three times the memory
// that decoding it may take (codec::DecodedBytesMax).
constexpr std::size_t GrowthMax(std::size_t body_bytes) {
  constexpr std::size_t kTimes = 48;
  return kTimes * body_bytes + (std::size_t{192} << 10);
}
// That of content which no single body was: a patched object, an applied one. As of a body of the
// usual limit, 3 MiB.
inline constexpr std::size_t kPatchedGrowthMax = GrowthMax(std::size_t{3} << 20);

struct SettleRules {
  // The bytes by which the object's arena may grow. Fields that a struct must have and defaults are
  // added to each item of a list, so a long list of empty ones grows many times over: content of a
  // stranger needs an end. Stored content has none, or what was once taken could not be read.
  std::size_t growth_max = std::numeric_limits<std::size_t>::max();
  // Normalizes or prunes. False for content that is known to be settled but for its defaults.
  bool shape = true;
  // Fills in the schema's default values, then calls KindVersion::set_defaults.
  bool defaults = true;
  // Set to the members that the schema does not know, before they are dropped; null: nobody asks.
  std::vector<UnknownMember>* unknown = nullptr;
};

// Normalizes (kGoType) or prunes (kCustomResource), then fills in defaults, in the version that the
// object is in. To normalize is what decoding into a Go struct and encoding again does: nulls,
// unknown and empty fields are dropped, fields ordered, Quantity, Time and base64 written
// canonically. To prune is to drop what the schema does not know; metadata, which is the Go type
// in every kind, is normalized then, and keys are sorted. Iterative; content that is right already
// is left untouched. kBadRequest: a value does not fit its type; the message is Go's, `json: cannot
// unmarshal string into Go struct field FlunderSpec.spec.replicas of type int32`.
// kRequestEntityTooLarge: it would grow beyond `growth_max`. The object may be used for nothing
// after an error.
Status Settle(Object& object, const SettleRules& rules = {});

}  // namespace apiserver::inline v0::runtime
