#pragma once

#include <string_view>

#include "apiserver/base/feature_gates.h"

// The feature gates of k8s.io/apiserver that this library implements, with their names, stages and
// defaults: pkg/features/kube_features.go.
namespace apiserver::inline v0::server {

// CBOR in requests and responses. (Stored objects stay JSON.)
inline constexpr std::string_view kCBORServingAndStorage = "CBORServingAndStorage";

// Responses longer than 128 KiB are gzipped for clients that accept it.
inline constexpr std::string_view kAPIResponseCompression = "APIResponseCompression";
// Watches that begin with the present state are gzipped too, however long.
inline constexpr std::string_view kWatchListCompression = "WatchListCompression";

// HTTP/2 connections of unauthenticated clients are closed after each response.
inline constexpr std::string_view kUnauthenticatedHTTP2DOSMitigation =
    "UnauthenticatedHTTP2DOSMitigation";

// Impersonation may be limited to kinds of users, and to the verbs used as them.
inline constexpr std::string_view kConstrainedImpersonation = "ConstrainedImpersonation";

// A WebSocket to a connecting subresource (exec, attach) needs the verb create, as a POST does,
// although it begins with a GET.
inline constexpr std::string_view kAuthorizePodWebsocketUpgradeCreatePermission =
    "AuthorizePodWebsocketUpgradeCreatePermission";

// Returns all gates with their default values.
FeatureGates DefaultFeatureGates();

}  // namespace apiserver::inline v0::server
