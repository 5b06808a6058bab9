#pragma once

#include "apiserver/audit/event.h"
#include "text/json_sink.h"

namespace apiserver::inline v0::audit {

// Writes the event as AppendEventJson() does. Takes the fields that the events of a request share
// from `kept`, and leaves them there if it is empty.
void PutEventJson(const Event& event, RequestJson& kept, text::JsonSink& sink);

}  // namespace apiserver::inline v0::audit
