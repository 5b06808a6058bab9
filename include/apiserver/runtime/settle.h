#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// Brings incoming content (from bodies, patches, storage and webhooks) into its settled form. The
// order is Go's: decode into the type and encode again (runtime/serializer), or prune
// (apiextensions' structural/pruning), then default.
namespace apiserver::inline v0::runtime {

// A member that the object's schema does not declare.
struct UnknownMember {
  std::string path;  // "spec.typo".
  const char* key;   // Points to the key's text in the object's content.
};
// Returns the unknown members: each path once, at most 100, in document order; sorted for a
// structural kind.
std::vector<UnknownMember> UnknownMembers(const Object& object);
// Returns the same as Go's messages: `unknown field "spec.typo"`.
std::vector<std::string> UnknownFields(const Object& object);

// Returns the bytes by which content of a body of `body_bytes` may grow: three times the memory
// that decoding it may take (codec::DecodedBytesMax).
constexpr std::size_t GrowthMax(std::size_t body_bytes) {
  constexpr std::size_t kTimes = 48;
  return kTimes * body_bytes + (std::size_t{192} << 10);
}
// The growth limit of content that is not a single body, such as a patched or applied object: that
// of a body of the default limit, 3 MiB.
inline constexpr std::size_t kPatchedGrowthMax = GrowthMax(std::size_t{3} << 20);

// The options of Settle().
struct SettleRules {
  // Limits the bytes by which the object's arena may grow. Mandatory fields and defaults are added
  // to each item of a list, so a long list of empty items grows many times over: content from a
  // client needs a limit. Stored content has none, so that all accepted objects stay readable.
  std::size_t growth_max = std::numeric_limits<std::size_t>::max();
  // Normalizes or prunes. False: the content is known to be settled except for defaults.
  bool shape = true;
  // Fills in the schema's default values, then calls KindVersion::set_defaults.
  bool defaults = true;
  // The content comes from storage, whose objects must stay readable: metadata of a custom resource
  // and of resources embedded in it that does not fit is dropped member by member.
  bool stored = false;
  // Nulls of a custom resource that its schema neither allows nor has a default for stay where they
  // are, for validation to refuse: they come from an apply, of which upstream prunes nothing.
  bool keep_nulls = false;
  // Receives the unknown members before they are dropped. Null: they are not collected.
  std::vector<UnknownMember>* unknown = nullptr;
};

// Normalizes (kGoType) or prunes (kCustomResource), then fills in defaults, in the version that the
// object is in. To normalize is what decoding into a Go struct and encoding again does: nulls,
// unknown and empty fields are dropped, fields ordered, Quantity, Time and base64 written
// canonically. To prune is to drop members that the schema does not declare, and nulls that it
// neither allows nor has a default for; metadata, which is the Go type in every kind and in
// embedded resources, is then normalized, and keys are sorted. Does not recurse; settled content is
// left untouched. kBadRequest: a value does not fit its type; the message is Go's, `json: cannot
// unmarshal string into Go struct field FlunderSpec.spec.replicas of type int32`.
// kRequestEntityTooLarge: it would grow beyond `growth_max`. After an error the object must not be
// used.
Status Settle(Object& object, const SettleRules& rules = {});

}  // namespace apiserver::inline v0::runtime
