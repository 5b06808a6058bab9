#include "http/client_call.h"

#include <utility>

namespace apiserver::v0::http {
namespace {

ClientRequestHead HeadOf(ClientRequest& request) {
  return {.method = std::move(request.method),
          .target = std::move(request.target),
          .headers = std::move(request.headers),
          .body_bytes = request.body.size()};
}

Status WrongLength(std::string_view how, std::uint64_t announced) {
  return Status(Reason::kInvalid, "the request's body is " + std::string(how) +
                                      " than its Content-Length of " + std::to_string(announced));
}

}  // namespace

ClientCall::ClientCall(ClientRequest request, std::shared_ptr<ClientSink> told)
    : head(HeadOf(request)),
      streamed(false),
      upgrade(false),
      pushed(request.body.size()),
      body_ended(true),
      sink(std::move(told)) {
  body.Push(std::move(request.body));
}

ClientCall::ClientCall(ClientRequestHead request, bool asks_for_upgrade,
                       std::shared_ptr<ClientSink> told)
    : head(std::move(request)),
      streamed(true),
      upgrade(asks_for_upgrade),
      body_ended(!asks_for_upgrade && head.body_bytes == 0U),
      sink(std::move(told)) {}

Status ClientCall::Push(std::string bytes) {
  // Over HTTP/1.1, bytes beyond the announced length would be taken for the next request.
  const bool counted = !upgrade && !raw && head.body_bytes;
  if (counted && bytes.size() > *head.body_bytes - pushed) {
    Sent(bytes.size());
    return WrongLength("longer", *head.body_bytes);
  }
  if (write_ended) {
    Sent(bytes.size());
    return Status::Ok();
  }
  pushed += bytes.size();
  body.Push(std::move(bytes));
  // The last bytes and the end leave in one piece, whether or not the writer closes.
  body_ended |= counted && pushed == *head.body_bytes;
  return Status::Ok();
}

Status ClientCall::CloseBody() {
  if (!upgrade && head.body_bytes && pushed < *head.body_bytes && !write_ended) {
    return WrongLength("shorter", *head.body_bytes);
  }
  body_ended = true;
  return Status::Ok();
}

// Dropped bytes count as sent: a writer that waits for their room would wait for ever otherwise.
void ClientCall::EndWrite() {
  if (std::exchange(write_ended, true)) return;
  const std::shared_ptr<ClientSink> told = sink;
  const std::size_t dropped = body.Clear();
  if (!told) return;
  if (dropped > 0) told->OnSent(dropped);
  told->OnWriteEnd();
}

// A streamed call keeps its sink, because the other direction may go on; an observer is promised to
// be let go of at its end.
void ClientCall::End(const Status& status) {
  if (std::exchange(ended, true)) return;
  const std::shared_ptr<ClientSink> told = sink;
  if (!streamed) sink.reset();
  told->OnEnd(status);
}

}  // namespace apiserver::v0::http
