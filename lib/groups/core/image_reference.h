#pragma once

#include <string_view>

namespace apiserver::inline v0::groups::core {

// Returns the tag of an image's name, a view of it, as ParseImageName of
// k8s.io/kubernetes/pkg/util/parsers: "latest" if there is neither tag nor digest, "" if there is
// only a digest, or if the name does not follow github.com/distribution/reference.
std::string_view ImageTag(std::string_view image);

}  // namespace apiserver::inline v0::groups::core
