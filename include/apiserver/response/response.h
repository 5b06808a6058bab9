#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/meta/table.h"
#include "apiserver/meta/watch.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/object.h"

// Objects, lists, streams and Status become bytes in the form the client asked for:
// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters and response.go.
namespace apiserver::inline v0::response {

// In which shape a resource's answers go out.
struct Target {
  runtime::KindPtr kind;
  std::string version;  // Of the request's path.
  // Null: Table is not acceptable.
  const rest::TableConvertor* table = nullptr;
};

// Set in the exchanges of a server that speaks CBOR too (feature gate CBORServingAndStorage).
struct ServesCbor {};
// What such an exchange reads and writes, as errors name it.
std::string_view AcceptedMediaTypes(const http::Exchange& exchange);

// kNotAcceptable when the Accept header names nothing that can be served for this target; checked
// before any work is done. `watch`: a stream is wanted.
Status CheckAcceptable(const http::Exchange& exchange, const Target& target, bool watch);

// The object in the target's version, or as PartialObjectMetadata or Table if asked for.
http::Step WriteObject(http::Exchange& exchange, int code, const runtime::ObjectPtr& object,
                       const Target& target);
// Whether WriteObject would only hand out bytes that are there already.
bool IsEncoded(const http::Exchange& exchange, const runtime::Object& object, const Target& target);
// Streams large lists piece by piece from encodings made once per object.
http::Step WriteList(http::Exchange& exchange, const runtime::List& list, const Target& target);

// Set in the exchange of a watch by whoever wants to know: called once, on its loop, when the watch
// has handed out what there was when it began.
struct WatchInitialized {
  UniqueFunction<void()> call;
};

struct WatchOptions {
  std::chrono::milliseconds timeout;  // The stream simply ends then.
  // It begins with the present state, which is worth compressing: sendInitialEvents with bookmarks.
  bool watch_list = false;
  // Functions that may wait are on the way from the stream to the bytes: they run on the pool.
  bool on_pool = false;
};
// A stream of frames; or, for a client that asks for a WebSocket, one message an event (text for
// JSON, else binary).
http::Step WriteWatch(http::Exchange& exchange, std::unique_ptr<watch::Stream> stream,
                      const Target& target, WatchOptions options);

// Bytes as they come: logs. A client that asks for a WebSocket gets them as messages after a first,
// empty one: binary, or text in base64 if it speaks `base64.binary.k8s.io`. No `body`: 204; no
// `media_type`: application/octet-stream. As responsewriters.StreamObject.
http::Step WriteStream(http::Exchange& exchange, std::unique_ptr<http::BodySource> body,
                       std::string media_type);

// The refusal of a request whose tenant has more answers waiting to be sent than it may.
Status NoRoomToAnswer();

// metav1.Status, Success or Failure, in the negotiated media type (JSON when in doubt). This is the
// server's http::ErrorWriter.
void WriteStatus(http::Exchange& exchange, const Status& status);
// Answered with `code`; the body tells it only if `print_code`.
http::Step WriteSuccess(http::Exchange& exchange, int code, const StatusDetails& details,
                        bool print_code);
// A document that is JSON already (discovery, version); pretty-printed if the client wants it.
http::Step WriteJson(http::Exchange& exchange, int code, std::shared_ptr<const std::string> json);
http::Step WriteText(http::Exchange& exchange, int code, std::string text);

}  // namespace apiserver::inline v0::response
