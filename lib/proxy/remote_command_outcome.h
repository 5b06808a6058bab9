#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// The outcome of a command in a container, as channel 3 of v5.channel.k8s.io tells it: a
// metav1.Status in JSON, without kind and apiVersion.
namespace apiserver::inline v0::proxy {

// An outcome for the client, and its code for metrics.
struct RemoteCommandOutcome {
  std::string json;
  int code = 200;
};

// Reads what a kubelet has written to the error stream of v4.channel.k8s.io: nothing or a Status.
// Exit codes keep their code; other failures are internal errors. Follows client-go's
// errorDecoderV4 and the StreamTranslatorHandler of k8s.io/apiserver.
RemoteCommandOutcome OutcomeOf(std::string_view error_stream);
// Reads what a kubelet has written to the error stream of older protocols: nothing or a text.
// Follows client-go's errorDecoderV2.
RemoteCommandOutcome OutcomeOfText(std::string_view error_stream);
// Returns a failure of the server's own: "Internal error occurred: `why`".
RemoteCommandOutcome InternalOutcome(std::string_view why);

}  // namespace apiserver::inline v0::proxy
