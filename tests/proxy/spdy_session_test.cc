#include "proxy/spdy_session.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::proxy {
namespace {

// Runs tasks when it is told to, and timers when their time has come.
class TurnedLoop final : public Executor {
 public:
  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  Cancel PostAfter(std::chrono::nanoseconds delay, Task task) override {
    auto timer = std::make_shared<Timer>(Timer{now_ + delay, std::move(task)});
    timers_.push_back(timer);
    return [timer] { timer->task = nullptr; };
  }
  bool may_block() const override { return false; }
  bool Inside() const override { return true; }

  void Turn() {
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }
  void Pass(std::chrono::nanoseconds time) {
    now_ += time;
    for (const auto& timer : std::vector(timers_)) {
      if (timer->at <= now_ && timer->task) std::exchange(timer->task, nullptr)();
    }
    Turn();
  }

 private:
  struct Timer {
    std::chrono::nanoseconds at;
    Task task;
  };
  std::chrono::nanoseconds now_{0};
  std::deque<Task> tasks_;
  std::vector<std::shared_ptr<Timer>> timers_;
};

// Two ends of a connection; what is written at one is read at the other in the loop's next turn.
struct Wire {
  struct End {
    std::shared_ptr<http::StreamSink> sink;
    bool paused = false;
    std::string waiting;
    bool peer_closed = false;
    bool over = false;
  };
  explicit Wire(TurnedLoop& its_loop) : loop(its_loop) {}

  void Deliver(int to) {
    End& end = ends[to];
    if (end.paused || end.sink == nullptr || end.over) return;
    const auto sink = end.sink;
    if (!end.waiting.empty()) sink->OnData(std::exchange(end.waiting, {}));
    if (end.peer_closed && !std::exchange(end.over, true)) {
      end.sink.reset();
      sink->OnEnd(Status());
    }
  }

  TurnedLoop& loop;
  std::array<End, 2> ends;
};

class WireStream final : public http::Stream {
 public:
  WireStream(std::shared_ptr<Wire> wire, int side) : wire_(std::move(wire)), side_(side) {}
  ~WireStream() override { CloseWrite(); }
  void Start(std::shared_ptr<http::StreamSink> sink) override {
    wire_->ends[side_].sink = std::move(sink);
    Later(side_);
  }
  void Pause() override { wire_->ends[side_].paused = true; }
  void Resume() override {
    wire_->ends[side_].paused = false;
    Later(side_);
  }
  void Cancel() override {
    CloseWrite();
    wire_->ends[side_].peer_closed = true;
    Later(side_);
  }
  bool Write(std::string bytes) override {
    wire_->ends[1 - side_].waiting += bytes;
    Later(1 - side_);
    return wire_->ends[1 - side_].waiting.size() < 1000;
  }
  void CloseWrite() override {
    wire_->ends[1 - side_].peer_closed = true;
    Later(1 - side_);
  }

 private:
  void Later(int to) {
    wire_->loop.Post([wire = wire_, to] { wire->Deliver(to); });
  }
  const std::shared_ptr<Wire> wire_;
  const int side_;
};

// Writes down what a stream tells.
class SinkLog final : public SpdyStreamSink {
 public:
  void OnReply() override { log += "reply;"; }
  void OnData(std::string_view bytes) override { log += bytes; }
  void OnEnd(const Status& status) override {
    log += status.ok() ? ";end" : ";" + std::string(status.message());
  }
  std::string log;
};

// A client and a server that writes down what its streams tell.
struct Sessions {
  Sessions() {
    auto wire = std::make_shared<Wire>(loop);
    client = SpdySession::Start({.connection = std::make_unique<WireStream>(wire, 0),
                                 .loop = &loop,
                                 .side = SpdySession::Side::kClient,
                                 .on_room = [this] { ++rooms; },
                                 .on_end = [this](const Status& s) { client_end = s.ToString(); },
                                 .ping_interval = std::chrono::seconds(5)});
    raw = std::make_unique<WireStream>(wire, 1);
  }
  ~Sessions() {
    client->Cancel();
    if (server) server->Cancel();
    loop.Turn();
  }
  void Serve(std::size_t streams_max = 1000) {
    server = SpdySession::Start({.connection = std::move(raw),
                                 .loop = &loop,
                                 .side = SpdySession::Side::kServer,
                                 .on_stream =
                                     [this](const http::Headers& headers, SpdyStream stream) {
                                       const auto sink = headers.Get("streamtype") == "no"
                                                             ? nullptr
                                                             : std::make_shared<SinkLog>();
                                       if (sink) accepted.emplace_back(stream, sink);
                                       return sink;
                                     },
                                 .on_end = [this](const Status& s) { server_end = s.ToString(); },
                                 .streams_max = streams_max});
    loop.Turn();
  }
  // Opens a stream and lets it be answered.
  std::pair<SpdyStream, std::shared_ptr<SinkLog>> Open(const std::string& type) {
    auto sink = std::make_shared<SinkLog>();
    auto stream = client->Open({{"streamType", type}}, sink);
    REQUIRE(stream.ok());
    loop.Turn();
    return {*stream, sink};
  }

  TurnedLoop loop;
  std::unique_ptr<WireStream> raw;
  std::shared_ptr<SpdySession> client;
  std::shared_ptr<SpdySession> server;
  std::vector<std::pair<SpdyStream, std::shared_ptr<SinkLog>>> accepted;
  std::string client_end = "none";
  std::string server_end = "none";
  int rooms = 0;
};

TEST_CASE("proxy: SPDY streams carry bytes both ways, each to its own end", "[proxy]") {
  Sessions s;
  s.Serve();
  auto [one, one_log] = s.Open("stdin");
  auto [two, two_log] = s.Open("stdout");
  CHECK(one.id() == 1);
  CHECK(two.id() == 3);
  (void)one.Write("to one");
  (void)s.accepted.at(1).first.Write("from two");
  one.CloseWrite();
  s.loop.Turn();
  CHECK(s.accepted.at(0).second->log == "to one;end");
  CHECK(two_log->log == "reply;from two");
  // The other direction of a half-closed stream goes on, and nothing is written to a closed one.
  (void)one.Write("more");
  (void)s.accepted.at(0).first.Write("still");
  s.accepted.at(0).first.CloseWrite();
  s.loop.Turn();
  CHECK(s.accepted.at(0).second->log == "to one;end");
  CHECK(one_log->log == "reply;still;end");
}

TEST_CASE("proxy: a SPDY stream that is refused says so", "[proxy]") {
  Sessions s;
  s.Serve(1);
  auto [refused, refused_log] = s.Open("no");
  CHECK(refused_log->log == ";Stream reset");
  auto [taken, taken_log] = s.Open("stdin");
  auto [beyond, beyond_log] = s.Open("stdin");
  CHECK(taken_log->log == "reply;");
  CHECK(beyond_log->log == ";Stream reset");
  // Room for the next once one is over.
  taken.Reset();
  s.loop.Turn();
  CHECK(s.accepted.at(0).second->log == ";end");
  CHECK(s.Open("stdin").second->log == "reply;");
}

// A kubelet ends an exec so.
TEST_CASE("proxy: what came before a SPDY reset is delivered, and it is an end", "[proxy]") {
  Sessions s;
  s.Serve();
  auto [stream, log] = s.Open("stdout");
  (void)s.accepted.at(0).first.Write("last words");
  s.accepted.at(0).first.Reset();
  s.server->Close();
  s.loop.Turn();
  CHECK(log->log == "reply;last words;end");
  CHECK(s.client_end == "OK");
  CHECK(s.server_end == "OK");
  CHECK_FALSE(s.client->Open({}, log).ok());
}

TEST_CASE("proxy: a SPDY connection that breaks ends all streams", "[proxy]") {
  Sessions s;
  s.Serve();
  auto [one, one_log] = s.Open("stdin");
  auto [two, two_log] = s.Open("stdout");
  s.server->Cancel();
  s.loop.Turn();
  CHECK(one_log->log == "reply;;the SPDY session has ended");
  CHECK(two_log->log == "reply;;the SPDY session has ended");
  CHECK(one.Write("nothing happens"));
  CHECK(s.client_end == "OK");
}

TEST_CASE("proxy: PINGs are answered, and sent at their interval", "[proxy]") {
  Sessions s;
  s.Serve();
  s.loop.Pass(std::chrono::seconds(4));
  CHECK(s.client->pongs() == 0);
  s.loop.Pass(std::chrono::seconds(1));
  CHECK(s.client->pongs() == 1);
  s.loop.Pass(std::chrono::seconds(5));
  CHECK(s.client->pongs() == 2);
}

TEST_CASE("proxy: a paused SPDY session takes nothing from its connection", "[proxy]") {
  Sessions s;
  s.Serve();
  auto [stream, log] = s.Open("stdout");
  s.client->Pause();
  CHECK(s.accepted.at(0).first.Write("a"));
  // The connection has no room for more.
  CHECK_FALSE(s.accepted.at(0).first.Write(std::string(2000, 'b')));
  s.loop.Turn();
  CHECK(log->log == "reply;");
  s.client->Resume();
  s.loop.Turn();
  CHECK(log->log.size() == std::string("reply;a").size() + 2000);
}

TEST_CASE("proxy: a SPDY peer that opens streams out of order is told", "[proxy]") {
  Sessions s;
  SpdyFrameWriter writer;
  std::string frames;
  // A server's streams are even; a client refuses them, since it awaits none.
  REQUIRE(writer.SynStream(2, {}, false, frames));
  REQUIRE(writer.SynStream(2, {}, false, frames));
  REQUIRE(writer.SynStream(1, {}, false, frames));
  // Unknown streams are not missed.
  SpdyFrameWriter::Data(9, "x", true, frames);
  SpdyFrameWriter::RstStream(9, SpdyReset::kCancel, frames);
  struct Raw final : http::StreamSink {
    void OnData(std::string_view bytes) override { seen += bytes; }
    void OnEnd(const Status&) override { seen += "end"; }
    std::string seen;
  };
  const auto sink = std::make_shared<Raw>();
  s.raw->Start(sink);
  (void)s.raw->Write(frames);
  s.loop.Turn();
  std::string expected;
  SpdyFrameWriter::RstStream(2, SpdyReset::kRefusedStream, expected);
  SpdyFrameWriter::RstStream(2, SpdyReset::kProtocolError, expected);
  SpdyFrameWriter::RstStream(1, SpdyReset::kProtocolError, expected);
  CHECK(sink->seen == expected);
  // Another version ends the session, and the connection is cut if the peer stays.
  (void)s.raw->Write(std::string("\x80\x02\x00\x06\x00\x00\x00\x04", 8));
  s.loop.Turn();
  SpdyFrameWriter::GoAway(2, SpdyGoAway::kProtocolError, expected);
  CHECK(sink->seen == expected + "end");
  CHECK(s.client_end.find("SPDY frame") != std::string::npos);
  s.loop.Pass(std::chrono::seconds(10));
}

}  // namespace
}  // namespace apiserver::inline v0::proxy
