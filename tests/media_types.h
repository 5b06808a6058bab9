#pragma once

#include "apiserver/http/headers.h"

// Media types that tests of several rooms send or ask for.
namespace apiserver::inline v0::testing {

inline constexpr char kJson[] = "application/json";
inline constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
inline constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";
inline constexpr char kPartialList[] =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

// Of the bodies of patches.
inline const http::Headers kApply{{"Content-Type", "application/apply-patch+yaml"}};
inline const http::Headers kMerge{{"Content-Type", "application/merge-patch+json"}};
inline const http::Headers kJsonPatch{{"Content-Type", "application/json-patch+json"}};

}  // namespace apiserver::inline v0::testing
