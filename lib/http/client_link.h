#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/memory_budget.h"
#include "http/carrier.h"
#include "http/client_protocol.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// The state that the handles of a client's connection share with its loop. Everything but the
// atomics belongs to the loop.
struct ClientLink {
  std::shared_ptr<Loop> loop;
  std::atomic<bool> closed{false};
  std::atomic<bool> multiplexed{false};
  // The unread bytes of one response at which the server is held back.
  std::size_t window_bytes = 0;
  // Counts what streams keep; null: nothing does. Set before there are handles.
  std::shared_ptr<MemoryBudget> memory;
  // Those that the server has shown. Null: there is no TLS. Set before there are handles.
  std::shared_ptr<const PeerCertificates> server_certificates;
  // Null once the connection has gone.
  std::shared_ptr<Carrier> carrier;
  ClientProtocol* protocol = nullptr;

  // Gives a call to the protocol. It fails at once if the connection has gone.
  void Start(std::shared_ptr<ClientCall> call) {
    if (call->cancelled) return call->Finish(Status(Reason::kTimeout, "cancelled"));
    if (protocol == nullptr) return call->Finish(NeverSent());
    protocol->Start(std::move(call));
    Look();
  }
  // Gives a call up. It fails with `why`, unless it is over.
  void Abort(const std::shared_ptr<ClientCall>& call, const Status& why) {
    call->cancelled = true;
    if (protocol != nullptr) protocol->Abort(call, why);
  }
  // Reports bytes of the response as read, so that the server may send more.
  void Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) {
    if (protocol != nullptr && bytes > 0) protocol->Consume(call, bytes);
  }
  // Adds to the body of a streamed call, or to what follows a 101. A body that is longer than was
  // announced gives the call up. Bytes that cannot be sent any more are dropped, and counted as
  // sent so that no writer waits for them.
  void Write(const std::shared_ptr<ClientCall>& call, std::string bytes) {
    if (protocol == nullptr || !(call->streamed || call->raw)) return call->Sent(bytes.size());
    if (call->ended && call->write_ended) return call->Sent(bytes.size());
    if (const Status bad = call->Push(std::move(bytes)); !bad.ok()) return Abort(call, bad);
    protocol->OnBody(call);
  }
  // Ends the body of a streamed call. One that is shorter than was announced gives the call up.
  void CloseWrite(const std::shared_ptr<ClientCall>& call) {
    if (protocol == nullptr) return;
    if (const Status bad = call->CloseBody(); !bad.ok()) return Abort(call, bad);
    protocol->OnBody(call);
  }
  // Notes when the protocol has stopped taking requests.
  void Look() {
    if (protocol != nullptr && protocol->closing()) closed.store(true);
  }
};

}  // namespace apiserver::inline v0::http
