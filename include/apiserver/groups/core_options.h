#pragma once

#include <memory>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/base/status.h"
#include "apiserver/meta/options.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// The options that requests to subresources of pods, services and nodes have in their query: what a
// Connecter or a ResourceStreamer is asked for, and the object that CONNECT admission sees.
namespace apiserver::inline v0::groups::core {

// Returns the kinds PodAttachOptions, PodExecOptions, PodLogOptions, PodPortForwardOptions,
// PodProxyOptions, NodeProxyOptions and ServiceProxyOptions of v1. They have no metadata and are no
// resources: a server adds them to its scheme and serves nothing for them. Each call makes new
// kinds. It fails only if the library was built wrong.
Result<std::vector<runtime::KindPtr>> OptionKinds();

// Makes options of `kind`, one of OptionKinds(), of a decoded query, as runtime.ParameterCodec of
// k8s.io/apimachinery. Parameters that the kind does not have are ignored, and of those that are
// repeated the first counts, but for lists. A bool is false for "0" and for "false" in any case;
// anything else is true. There are no defaults: PodExecOptions' streams are false unless the query
// says otherwise. An empty `sinceTime`, or "null", is a member that is null: Go's zero time.
//
// The `path` of the proxies' options is the query's; a caller that has the rest of the request's
// path puts it there: options->Edit("path") = subpath.
//
// kBadRequest: a number or a time does not parse, or a port is above 65535; the message is Go's.
Result<std::unique_ptr<runtime::Object>> OptionsFromQuery(const runtime::KindPtr& kind,
                                                          const meta::QueryValues& query);

// Validates PodLogOptions as ValidatePodLogOptions of k8s.io/kubernetes/pkg/apis/core/validation
// does with the feature PodLogsQuerySplitStreams off, which is its default: a `stream` is refused.
// The other kinds have no validation.
field::ErrorList ValidatePodLogOptions(const runtime::Object& options);

}  // namespace apiserver::inline v0::groups::core
