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

// Writes objects, lists, streams and Status in the form that the client asked for:
// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters and response.go.
namespace apiserver::inline v0::response {

// The kind and version in which a resource's responses are written.
struct Target {
  runtime::KindPtr kind;
  std::string version;  // The version in the request's path.
  // Makes tables. Null: Table is not acceptable.
  const rest::TableConvertor* table = nullptr;
};

// Set in the exchanges of a server that speaks CBOR too (feature gate CBORServingAndStorage).
struct ServesCbor {};
// Returns the media types that the exchange reads and writes, as errors name them.
std::string_view AcceptedMediaTypes(const http::Exchange& exchange);

// Checks the Accept header before any work is done. kNotAcceptable: it names no form that can be
// served for this target. `watch`: a stream is wanted.
Status CheckAcceptable(const http::Exchange& exchange, const Target& target, bool watch);

// Writes the object in the target's version, or as PartialObjectMetadata or Table if asked for.
http::Step WriteObject(http::Exchange& exchange, int code, const runtime::ObjectPtr& object,
                       const Target& target);
// True if WriteObject would only send bytes that have been encoded already.
bool IsEncoded(const http::Exchange& exchange, const runtime::Object& object, const Target& target);
// Writes a list. A large one is streamed piece by piece from encodings made once per object.
http::Step WriteList(http::Exchange& exchange, const runtime::List& list, const Target& target);

// Set in the exchange of a watch: `call` is called once, on its loop, when the watch has sent the
// state with which it began. It must not block.
struct WatchInitialized {
  UniqueFunction<void()> call;
};

// The options of one watch's response.
struct WatchOptions {
  std::chrono::milliseconds timeout;  // The stream simply ends then.
  // If set, it begins with the present state, which is worth compressing: sendInitialEvents with
  // bookmarks.
  bool watch_list = false;
  // If set, functions that may block are needed between the stream and the bytes, and the watch
  // runs on the pool.
  bool on_pool = false;
};
// Writes a stream of frames; or, for a client that asks for a WebSocket, one message an event (text
// for JSON, else binary).
http::Step WriteWatch(http::Exchange& exchange, std::unique_ptr<watch::Stream> stream,
                      const Target& target, WatchOptions options);

// Writes bytes as they come, for logs. A client that asks for a WebSocket gets them as messages
// after a first, empty one: binary, or text in base64 if it speaks `base64.binary.k8s.io`. No
// `body`: 204; no `media_type`: application/octet-stream. Follows responsewriters.StreamObject.
http::Step WriteStream(http::Exchange& exchange, std::unique_ptr<http::BodySource> body,
                       std::string media_type);

// Returns the error for a request whose tenant has too many responses waiting to be sent.
Status NoRoomToAnswer();

// Writes a metav1.Status, Success or Failure, in the negotiated media type (JSON when in doubt). It
// is the server's http::ErrorWriter.
void WriteStatus(http::Exchange& exchange, const Status& status);
// Answers with `code`; the body contains it only if `print_code`.
http::Step WriteSuccess(http::Exchange& exchange, int code, const StatusDetails& details,
                        bool print_code);
// Writes a document that is JSON already (discovery, version); pretty-printed if the client wants
// it.
http::Step WriteJson(http::Exchange& exchange, int code, std::shared_ptr<const std::string> json);
// Writes plain text in UTF-8.
http::Step WriteText(http::Exchange& exchange, int code, std::string text);

}  // namespace apiserver::inline v0::response
