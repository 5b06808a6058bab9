#pragma once

#include "apiserver/audit/event.h"
#include "audit/client_texts.h"
#include "text/json_sink.h"

namespace apiserver::inline v0::audit {

// The texts that a writer of events keeps: those of one request and those of clients.
struct KeptJson {
  RequestJson& request;
  ClientTexts& clients;
};

// Writes the event as AppendEventJson() does. Takes the fields that the events of a request share
// from `kept`, and leaves them there if it has none.
void PutEventJson(const Event& event, const KeptJson& kept, text::JsonSink& sink);

}  // namespace apiserver::inline v0::audit
