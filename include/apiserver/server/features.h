#pragma once

#include <string_view>

#include "apiserver/base/feature_gates.h"

// The feature gates of k8s.io/apiserver that switch something here, with its names, stages and
// defaults: pkg/features/kube_features.go.
namespace apiserver::inline v0::server {

// CBOR in requests and answers. (What is stored stays JSON.)
inline constexpr std::string_view kCBORServingAndStorage = "CBORServingAndStorage";

// Answers longer than 128 KiB are gzipped for clients that accept it.
inline constexpr std::string_view kAPIResponseCompression = "APIResponseCompression";
// So are watches that begin with the present state, however long.
inline constexpr std::string_view kWatchListCompression = "WatchListCompression";

// Connections over HTTP/2 of clients that nobody knows are closed after each answer.
inline constexpr std::string_view kUnauthenticatedHTTP2DOSMitigation =
    "UnauthenticatedHTTP2DOSMitigation";

// Impersonation may be limited to kinds of users, and to what is done as them.
inline constexpr std::string_view kConstrainedImpersonation = "ConstrainedImpersonation";

// A WebSocket to a subresource that connects (exec, attach) needs the verb create, as a POST does,
// although it begins with a GET.
inline constexpr std::string_view kAuthorizePodWebsocketUpgradeCreatePermission =
    "AuthorizePodWebsocketUpgradeCreatePermission";

// All of them, as they are by default.
FeatureGates DefaultFeatureGates();

}  // namespace apiserver::inline v0::server
