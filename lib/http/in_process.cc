#include "apiserver/http/in_process.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "http/client_stream.h"
#include "http/driver.h"
#include "http/http1_head.h"
#include "http/loop.h"

namespace apiserver::v0::http {
namespace {

// The bytes that one turn moves, and the size of a reader's buffer.
constexpr std::size_t kWindowBytes = 256 << 10;
constexpr std::size_t kPieceBytes = 32 << 10;

// The loops of a service's connections, and how many connections one has before the next starts.
constexpr std::size_t kLoopsMax = 4;
constexpr long kConnectionsPerLoop = 32;

// One request and its answer without a socket: the driver's transport on one side, a client's on
// the other. Used on the loop only.
class LocalCall final : public ServerStream,
                        public LoopEvent,
                        public std::enable_shared_from_this<LocalCall> {
 public:
  LocalCall(std::shared_ptr<Loop> loop, std::shared_ptr<ClientSink> sink)
      : loop_(std::move(loop)), sink_(std::move(sink)) {}

  void Start(const Service& service, Request request, const std::string& body);
  void Cancel(const Status& why);
  void Consume(std::size_t bytes) {
    withheld_ -= std::min(withheld_, bytes);
    PumpLater();
  }
  bool over() const { return sink_ == nullptr; }

  void OnAnswer() override;
  void OnBodyReady() override {
    waits_ = false;
    PumpLater();
  }
  void OnBodyWanted() override {}
  void OnBodyConsumed(std::size_t /*bytes*/) override {}
  void Cut() override;
  void OnLoop() override { Pump(); }

 private:
  void PumpLater() { loop_->Deliver(shared_from_this()); }
  void Pump();
  void Finish(const Status& status);

  const std::shared_ptr<Loop> loop_;
  std::shared_ptr<ClientSink> sink_;  // Null once the call is over.
  std::shared_ptr<ExchangeDriver> exchange_;
  bool head_told_ = false;
  bool waits_ = false;
  std::size_t withheld_ = 0;
};

void LocalCall::Start(const Service& service, Request request, const std::string& body) {
  ExchangeDriver::Setup setup;
  setup.loop = loop_;
  setup.service = &service;
  setup.asked = std::make_unique<Asked>(Asked{.request = std::move(request)});
  setup.body.present = !body.empty();
  setup.body.length = body.size();
  const auto exchange = std::make_shared<ExchangeDriver>(std::move(setup));
  exchange_ = exchange;
  exchange->Start(*this);
  if (body.empty()) return;
  exchange->BodyData(body);
  exchange->BodyEnd();
}

void LocalCall::OnAnswer() {
  if (exchange_->kind() == ExchangeDriver::Kind::kUpgrade) {
    exchange_->TakeOnOpen();
    exchange_->AnswerOver(false);
    return Finish(Status(Reason::kBadRequest, "no upgrade in process"));
  }
  ResponseHead head = exchange_->head();
  // These belong to the transport, as on a connection.
  for (const char* name : {"Content-Length", "Transfer-Encoding", "Date"})
    head.headers.Remove(name);
  head.headers.Add("Date", loop_->Date());
  const std::optional<std::uint64_t> length = exchange_->announced_bytes();
  if (length && head.code != 204 && head.code != 304) {
    head.headers.Add("Content-Length", std::to_string(*length));
  }
  head_told_ = true;
  sink_->OnHead(std::move(head));
  PumpLater();
}

// Moves the answer in turns of a window, as a socket would, so that a long one does not hold up the
// loop. The driver has no window of its own here: bytes that the reader withholds stop the pump.
void LocalCall::Pump() {
  const auto keep = shared_from_this();
  const auto exchange = exchange_;
  if (!head_told_ || !exchange || !sink_) return;
  if (exchange->request().method == "HEAD") {
    exchange->AnswerOver(true);
    return Finish(Status::Ok());
  }
  const std::span<char> buffer = loop_->read_buffer().first(kPieceBytes);
  for (std::size_t total = 0; withheld_ == 0 && !waits_; total += kPieceBytes) {
    if (total >= kWindowBytes) return PumpLater();
    const auto filled = exchange->Fill(buffer);
    if (filled.bytes > 0) {
      withheld_ += filled.bytes - sink_->OnData({buffer.data(), filled.bytes});
    }
    switch (filled.state) {
      case ExchangeDriver::FillState::kData:
        break;
      case ExchangeDriver::FillState::kWait:
        waits_ = true;
        break;
      case ExchangeDriver::FillState::kEnd:
        exchange->AnswerOver(true);
        return Finish(Status::Ok());
      case ExchangeDriver::FillState::kAbort:
        return Cut();
    }
  }
}

void LocalCall::Cut() {
  if (const auto exchange = exchange_) exchange->AnswerOver(false);
  Finish(Status(Reason::kServiceUnavailable, "the answer was cut"));
}

void LocalCall::Cancel(const Status& why) {
  if (const auto exchange = exchange_) exchange->PeerGone(why);
  Finish(why);
}

void LocalCall::Finish(const Status& status) {
  exchange_.reset();
  if (const auto sink = std::exchange(sink_, nullptr)) sink->OnEnd(status);
}

// Writes to the service's log until the service may be gone.
class ServiceLog final : public LogSink {
 public:
  explicit ServiceLog(LogSink& log) : log_(&log) {}
  bool Enabled(LogLevel level) const override {
    const auto log = log_.Lock();
    return *log != nullptr && (*log)->Enabled(level);
  }
  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override {
    const auto log = log_.Lock();
    if (*log != nullptr) (*log)->Write(level, message, fields);
  }
  void Close() { *log_.Lock() = nullptr; }

 private:
  Guarded<LogSink*> log_;
};

// The loop of connections, and what it logs to.
struct Place {
  explicit Place(LogSink& of) : log(of) {}

  ServiceLog log;
  const std::shared_ptr<Loop> loop = Loop::Create(log);
};

// The thread of a place, which ends with the last connection that runs there.
class Running {
 public:
  explicit Running(const Service& service) : place_(std::make_shared<Place>(*service.log)) {
    place_->loop->Start("http-local");
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    place_->log.Close();
    place_->loop->Stop();
  }

  const std::shared_ptr<Place>& place() const { return place_; }

 private:
  const std::shared_ptr<Place> place_;
};

// The calls that are not over, so that closing the connection ends them. Belongs to the loop, but
// for Close().
struct Room : std::enable_shared_from_this<Room> {
  Room(const Service& of, std::shared_ptr<Place> at) : service(of), place(std::move(at)) {}

  const Service& service;  // Not used once it is closed.
  const std::shared_ptr<Place> place;
  const std::shared_ptr<Loop> loop = place->loop;
  std::shared_ptr<const PeerCertificates> identity;
  std::unordered_set<std::shared_ptr<LocalCall>> calls;
  Notification closed;

  // Blocks until all calls are over. Any thread but the loop's, any number of times; by the first
  // time the loop must run.
  void Close() {
    loop->Post([room = shared_from_this()] {
      for (const auto& call : std::exchange(room->calls, {})) {
        call->Cancel(Status(Reason::kServiceUnavailable, "connection closed"));
      }
      room->closed.Notify();
    });
    closed.Wait();
  }

  void Start(const std::shared_ptr<LocalCall>& call, ClientRequest request) {
    std::erase_if(calls, [](const auto& each) { return each->over(); });
    Request local;
    local.method = std::move(request.method);
    local.target = std::move(request.target);
    local.headers = std::move(request.headers);
    local.host = local.headers.Get("Host");
    local.headers.Remove("Host");
    // HTTP/2 has no upgrades, and neither has a call in process.
    local.http_major = 2;
    local.tls = identity != nullptr;
    local.peer = identity;
    if (closed.HasBeenNotified()) {
      return call->Cancel(Status(Reason::kServiceUnavailable, "connection closed"));
    }
    if (!SplitTarget(local)) {
      return call->Cancel(Status(Reason::kBadRequest, "malformed request target"));
    }
    calls.insert(call);
    call->Start(service, std::move(local), request.body);
  }
};

class LocalControl final : public ClientControl {
 public:
  LocalControl(std::shared_ptr<Room> room, std::weak_ptr<LocalCall> call)
      : room_(std::move(room)), call_(std::move(call)) {}
  void Cancel() override {
    room_->loop->Post([room = room_, weak = call_] {
      const auto call = weak.lock();
      if (!call) return;
      call->Cancel(Status(Reason::kTimeout, "cancelled"));
      room->calls.erase(call);
    });
  }
  void Consume(std::size_t bytes) override {
    room_->loop->Post([weak = call_, bytes] {
      if (const auto call = weak.lock()) call->Consume(bytes);
    });
  }
  void Write(std::string /*bytes*/) override {}

 private:
  std::shared_ptr<Room> room_;
  std::weak_ptr<LocalCall> call_;
};

class LocalConnection final : public Connection {
 public:
  LocalConnection(std::shared_ptr<Room> room, std::shared_ptr<Running> running)
      : room_(std::move(room)), running_(std::move(running)) {}
  // Waits for the calls to end: the service that they run may be destroyed next.
  ~LocalConnection() override { room_->Close(); }

  Result<ClientResponse> Call(const Context& ctx, const ClientRequest& request) override {
    return CallOver(*this, ctx, request);
  }
  Result<std::unique_ptr<ClientStream>> Open(const ClientRequest& request) override {
    const auto buffer = NewStreamBuffer(kWindowBytes);
    const auto call = Begin(request, SinkOf(buffer));
    return NewBufferedStream(buffer, std::make_unique<LocalControl>(room_, call));
  }
  Result<Executor::Cancel> Observe(ClientRequest request,
                                   std::shared_ptr<StreamObserver> observer) override {
    const auto call = Begin(std::move(request), NewObserverSink(std::move(observer)));
    return Executor::Cancel(
        [control = std::make_shared<LocalControl>(room_, call)] { control->Cancel(); });
  }
  bool closed() const override { return room_->closed.HasBeenNotified(); }

 private:
  std::shared_ptr<LocalCall> Begin(ClientRequest request, std::shared_ptr<ClientSink> sink) {
    auto call = std::make_shared<LocalCall>(room_->loop, std::move(sink));
    room_->loop->Post([room = room_, call, request = std::move(request)]() mutable {
      room->Start(call, std::move(request));
    });
    return call;
  }

  const std::shared_ptr<Room> room_;
  const std::shared_ptr<Running> running_;
};

std::shared_ptr<Room> NewRoom(const Service& service, const Running& running,
                              std::shared_ptr<const PeerCertificates> identity) {
  auto room = std::make_shared<Room>(service, running.place());
  room->identity = std::move(identity);
  return room;
}

}  // namespace

std::unique_ptr<Connection> NewInProcessConnection(
    const Service& service, std::shared_ptr<const PeerCertificates> identity) {
  auto running = std::make_shared<Running>(service);
  auto room = NewRoom(service, *running, std::move(identity));
  return std::make_unique<LocalConnection>(std::move(room), std::move(running));
}

struct InProcessConnections::State {
  struct Known {
    std::vector<std::shared_ptr<Running>> loops;  // Started when they are needed.
    std::vector<std::weak_ptr<Room>> rooms;
    bool cut = false;
  };
  explicit State(const Service& of) : service(of) {}
  static std::shared_ptr<Running> LoopFor(const Service& service, Known& known);

  const Service& service;
  Guarded<Known> known;
};

// Takes the loop with the fewest connections, or another one if all have enough. A thread costs a
// stack and a heap, which connections that mostly wait are not worth.
std::shared_ptr<Running> InProcessConnections::State::LoopFor(const Service& service,
                                                              Known& known) {
  auto& loops = known.loops;
  const auto least = std::min_element(loops.begin(), loops.end(), [](const auto& a, const auto& b) {
    return a.use_count() < b.use_count();
  });
  const auto connections = least == loops.end() ? 0 : least->use_count() - 1;
  if (least != loops.end() && (connections < kConnectionsPerLoop || loops.size() == kLoopsMax)) {
    return *least;
  }
  return loops.emplace_back(std::make_shared<Running>(service));
}

InProcessConnections::InProcessConnections(const Service& service)
    : state_(std::make_unique<State>(service)) {}

InProcessConnections::~InProcessConnections() { Cut(); }

std::unique_ptr<Connection> InProcessConnections::New(
    std::shared_ptr<const PeerCertificates> identity) {
  std::shared_ptr<Running> running;
  std::shared_ptr<Room> room;
  bool cut = false;
  {
    const auto known = state_->known.Lock();
    running = State::LoopFor(state_->service, *known);
    room = NewRoom(state_->service, *running, std::move(identity));
    std::erase_if(known->rooms, [](const auto& each) { return each.expired(); });
    known->rooms.push_back(room);
    cut = known->cut;
  }
  // It waits for the loop, and so not under the lock.
  if (cut) {
    room->Close();
    running->place()->log.Close();
  }
  return std::make_unique<LocalConnection>(std::move(room), std::move(running));
}

void InProcessConnections::Cut() {
  std::vector<std::weak_ptr<Room>> rooms;
  std::vector<std::shared_ptr<Running>> loops;
  {
    const auto known = state_->known.Lock();
    known->cut = true;
    rooms.swap(known->rooms);
    loops = known->loops;
  }
  // A room whose connection is being destroyed is closed by it, while its loop runs.
  for (const auto& each : rooms) {
    if (const auto room = each.lock()) room->Close();
  }
  for (const auto& running : loops) running->place()->log.Close();
}

}  // namespace apiserver::v0::http
