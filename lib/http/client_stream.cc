#include "http/client_stream.h"

#include <optional>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "http/kept_bytes.h"

namespace apiserver::v0::http {

class StreamBuffer final : public ClientSink {
 public:
  struct State {
    std::optional<ResponseHead> head;
    std::string bytes;
    std::size_t withheld = 0;  // Received, not yet reported as consumed.
    std::optional<Status> end;
  };

  StreamBuffer(std::size_t bytes_max, std::shared_ptr<MemoryBudget> memory)
      : bytes_max_(bytes_max), kept_(std::move(memory), &MemoryBudget::output) {}

  void OnHead(ResponseHead head) override {
    state_.Lock()->head = std::move(head);
    state_.NotifyAll();
  }

  std::size_t OnData(std::string_view bytes) override {
    std::size_t consumed = bytes.size();
    {
      auto state = state_.Lock();
      state->bytes.append(bytes);
      kept_.Add(bytes.size());
      // Nothing is reported as consumed from half the limit on, so that the rest of the window is
      // the most that can follow.
      if (state->bytes.size() >= bytes_max_ / 2) {
        state->withheld += bytes.size();
        consumed = 0;
      }
    }
    state_.NotifyAll();
    return consumed;
  }

  void OnEnd(const Status& status) override {
    state_.Lock()->end = status;
    state_.NotifyAll();
  }

  // Called when bytes that were kept are handed to the reader.
  void Release(std::size_t bytes) { kept_.Release(bytes); }

  // Waits until `ready(state)` holds or `ctx` is done; runs `take(state)` under the lock.
  template <class Ready, class Take>
  Status Wait(const Context& ctx, Ready ready, Take take) {
    // Before the lock: unregistering waits for a callback in progress, which takes the lock.
    const Context::Registration wake = ctx.OnDone([this] {
      (void)state_.Lock();  // A caller that found done() false is in its wait from here on.
      state_.NotifyAll();
    });
    auto state = state_.Lock();
    const auto done = [&] { return ready(*state) || ctx.done(); };
    if (const auto deadline = ctx.deadline()) {
      (void)state.WaitUntil(*deadline, done);
    } else {
      state.Wait(done);
    }
    if (!ready(*state)) return ctx.Err().ok() ? Status(Reason::kTimeout, "deadline") : ctx.Err();
    return take(*state);
  }

 private:
  const std::size_t bytes_max_;
  KeptBytes kept_;
  Guarded<State> state_;
};

namespace {

class ObserverSink final : public ClientSink {
 public:
  explicit ObserverSink(std::shared_ptr<StreamObserver> observer)
      : observer_(std::move(observer)) {}
  void OnHead(ResponseHead head) override { observer_->OnHead(head); }
  std::size_t OnData(std::string_view bytes) override {
    observer_->OnData(bytes);
    return bytes.size();
  }
  void OnTrailers(Headers trailers) override { observer_->OnTrailers(trailers); }
  void OnEnd(const Status& status) override { observer_->OnEnd(status); }

 private:
  std::shared_ptr<StreamObserver> observer_;
};

class BufferedStream final : public ClientStream {
 public:
  BufferedStream(std::shared_ptr<StreamBuffer> buffer, std::unique_ptr<ClientControl> control)
      : buffer_(std::move(buffer)), control_(std::move(control)) {}
  ~BufferedStream() override { Cancel(); }

  Result<ResponseHead> Head(const Context& ctx) override {
    ResponseHead head;
    const auto take = [&](StreamBuffer::State& state) {
      if (!state.head) return *state.end;
      head = *state.head;
      return Status::Ok();
    };
    RETURN_IF_ERROR(buffer_->Wait(
        ctx, [](const StreamBuffer::State& s) { return s.head || s.end; }, take));
    return head;
  }

  Result<std::string> Read(const Context& ctx) override {
    std::string bytes;
    std::size_t consumed = 0;
    const auto take = [&](StreamBuffer::State& state) {
      if (state.bytes.empty()) return *state.end;
      bytes = std::exchange(state.bytes, {});
      consumed = std::exchange(state.withheld, 0);
      return Status::Ok();
    };
    RETURN_IF_ERROR(buffer_->Wait(
        ctx, [](const StreamBuffer::State& s) { return !s.bytes.empty() || s.end; }, take));
    buffer_->Release(bytes.size());
    if (consumed > 0) control_->Consume(consumed);
    return bytes;
  }

  Status Write(std::string_view bytes) override {
    control_->Write(std::string(bytes));
    return Status::Ok();
  }

  void Cancel() override { control_->Cancel(); }

 private:
  std::shared_ptr<StreamBuffer> buffer_;
  std::unique_ptr<ClientControl> control_;
};

}  // namespace

// Connections that only wrap another, or have no loop of their own, need not implement these.
// NOLINTBEGIN(performance-unnecessary-value-param): connections that can do it keep both
Result<Executor::Cancel> Connection::Observe(ClientRequest /*request*/,
                                             std::shared_ptr<StreamObserver> /*observer*/) {
  return Status(Reason::kMethodNotAllowed, "this connection does not tell observers");
}

Result<std::unique_ptr<Stream>> Connection::OpenStream(ClientRequestHead /*head*/) {
  return Status(Reason::kMethodNotAllowed, "this connection has no streams");
}

Result<std::unique_ptr<Stream>> Connection::OpenUpgrade(ClientRequestHead /*head*/) {
  return Status(Reason::kMethodNotAllowed, "this connection has no upgrades");
}
// NOLINTEND(performance-unnecessary-value-param)

std::shared_ptr<ClientSink> NewObserverSink(std::shared_ptr<StreamObserver> observer) {
  return std::make_shared<ObserverSink>(std::move(observer));
}

std::shared_ptr<StreamBuffer> NewStreamBuffer(std::size_t bytes_max,
                                              std::shared_ptr<MemoryBudget> memory) {
  return std::make_shared<StreamBuffer>(bytes_max, std::move(memory));
}

std::shared_ptr<ClientSink> SinkOf(const std::shared_ptr<StreamBuffer>& buffer) { return buffer; }

std::unique_ptr<ClientStream> NewBufferedStream(std::shared_ptr<StreamBuffer> buffer,
                                                std::unique_ptr<ClientControl> control) {
  return std::make_unique<BufferedStream>(std::move(buffer), std::move(control));
}

Result<ClientResponse> CallOver(Connection& connection, const Context& ctx,
                                const ClientRequest& request) {
  ASSIGN_OR_RETURN(const auto stream, connection.Open(request));
  ASSIGN_OR_RETURN(ResponseHead head, stream->Head(ctx));
  ClientResponse response;
  response.code = head.code;
  response.headers = std::move(head.headers);
  for (;;) {
    ASSIGN_OR_RETURN(std::string bytes, stream->Read(ctx));
    if (bytes.empty()) return response;
    // A body that comes in one piece, as most do, is not copied.
    if (response.body.empty()) {
      response.body = std::move(bytes);
    } else {
      response.body += bytes;
    }
  }
}

}  // namespace apiserver::v0::http
