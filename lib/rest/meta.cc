#include "apiserver/rest/meta.h"

#include <array>

#include "apiserver/meta/errors.h"
#include "apiserver/runtime/time.h"

namespace apiserver::v0::rest {
namespace {

// As Go's rand.String: no vowels, so that no words come out.
constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace

// Follows rest.WipeObjectMetaSystemFields, which removes selfLink as well.
void WipeObjectMetaSystemFields(runtime::Object& object) {
  constexpr std::array<std::string_view, 5> kSystemFields = {
      "creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"};
  for (const std::string_view field : kSystemFields) {
    if (object.metadata().Find(field) != nullptr) object.Erase("metadata", field);
  }
}

// Before the strategy runs: upstream's strategies read the uid and the time of creation.
void FillObjectMetaSystemFields(runtime::Object& object, const Clock& clock, Random& random) {
  object.Edit("metadata", "creationTimestamp") =
      runtime::FormatTime(runtime::UnixTime::From(clock.WallNow()));
  object.Edit("metadata", "uid") = NewUuid(random);
}

// Fills in the namespace of the URL, and refuses another one: a user who may write in one namespace
// must not reach a second one by the body.
Status EnsureObjectNamespaceMatchesRequestNamespace(std::string_view request_namespace,
                                                    runtime::Object& object) {
  const std::string_view own = object.namespace_();
  if (own == request_namespace) return {};
  if (own.empty()) {
    object.Edit("metadata", "namespace") = request_namespace;
  } else if (request_namespace.empty()) {
    object.Erase("metadata", "namespace");
  } else {
    return meta::NewBadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  return {};
}

std::string_view ExpectedNamespaceForScope(std::string_view request_namespace,
                                           bool namespace_scoped) {
  return namespace_scoped ? request_namespace : std::string_view();
}

// The base is cut to 58 bytes so that base and suffix fit a DNS label of 63.
std::string GenerateName(std::string_view base, Random& random) {
  std::string name(base.substr(0, kGeneratedNameBytesMax - kGeneratedNameRandomBytes));
  for (std::size_t i = 0; i < kGeneratedNameRandomBytes; ++i) {
    name.push_back(kLetters[random.Below(kLetters.size())]);
  }
  return name;
}

}  // namespace apiserver::v0::rest
