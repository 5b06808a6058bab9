#include "cpprest/mounted_call.h"

#include <utility>

namespace apiserver::v0::cpprest {
namespace {

using web::http::http_response;

// Returns a Status as JSON, which every client can read.
std::string StatusBody(int code, const std::string& why) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" +
         why + R"(","code":)" + std::to_string(code) + "}\n";
}

}  // namespace

MountedCall::MountedCall(std::shared_ptr<http::Loop> loop, const web::http::http_request& request,
                         UniqueFunction<void(MountedCall&)> on_over)
    : loop_(std::move(loop)), request_(request), on_over_(std::move(on_over)) {}

// A call that was never answered would keep its connection open for ever.
MountedCall::~MountedCall() {
  if (replied_) return;
  try {
    Refuse(503, "the server is shutting down");
  } catch (...) {  // NOLINT(bugprone-empty-catch): for want of memory; closing the listener ends it
  }
}

// The whole body has come already, so it is handed over in one piece.
void MountedCall::Start(const http::Service& service, http::Request request,
                        const std::string& body) {
  http::ExchangeDriver::Setup setup;
  setup.loop = loop_;
  setup.service = &service;
  setup.asked = std::make_unique<http::Asked>(http::Asked{.request = std::move(request)});
  setup.body.present = !body.empty();
  setup.body.length = body.size();
  const auto exchange = std::make_shared<http::ExchangeDriver>(std::move(setup));
  exchange_ = exchange;
  exchange->Start(*this);
  if (body.empty()) return;
  exchange->BodyData(body);
  exchange->BodyEnd();
}

void MountedCall::Refuse(int code, const std::string& why) {
  http_response response(static_cast<web::http::status_code>(code));
  response.set_body(StatusBody(code, why), "application/json");
  response.headers().add("Connection", "close");
  Reply(response);
}

// Runs on the loop. Each step is safe if the call has ended meanwhile.
void MountedCall::End(const Status& why) {
  // The callbacks below may drop the last reference.
  const auto keep = shared_from_this();
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->PeerGone(why);
  want_ = nullptr;  // The pending write breaks off.
  if (!replied_) Refuse(503, std::string(why.message()));
}

// Called by the driver on the loop, when a head is claimed. Builds cpprestsdk's response, which
// pulls the body from this call.
void MountedCall::OnAnswer() {
  if (exchange_->kind() == http::ExchangeDriver::Kind::kUpgrade) {
    exchange_->TakeOnOpen();
    std::exchange(exchange_, nullptr)->AnswerOver(false);
    return Refuse(501, "cpprestsdk's listener cannot upgrade a connection");
  }
  const http::ResponseHead& head = exchange_->head();
  http_response response(static_cast<web::http::status_code>(head.code));
  const bool head_only =
      exchange_->request().method == "HEAD" || head.code == 204 || head.code == 304;
  if (!head_only) {
    const concurrency::streams::istream body(concurrency::streams::streambuf<std::uint8_t>(
        std::make_shared<PulledBody>(shared_from_this())));
    if (exchange_->kind() == http::ExchangeDriver::Kind::kSend) {
      response.set_body(body, exchange_->announced_bytes().value_or(0));
    } else {
      response.set_body(body);
    }
    // cpprestsdk sets one with each body; the answer has its own.
    response.headers().remove(web::http::header_names::content_type);
  }
  for (const auto& field : head.headers) {
    const auto is = [&](const char* name) { return http::EqualIgnoreCase(field.name, name); };
    // cpprestsdk frames the message and manages the connection by itself.
    if (!is("Content-Length") && !is("Transfer-Encoding") && !is("Connection")) {
      response.headers().add(field.name, field.value);
    }
  }
  if (!head.headers.Has("Date")) response.headers().add("Date", loop_->Date());
  if (head.close_connection) response.headers().add("Connection", "close");
  if (head_only) complete_ = true;
  Reply(response);
}

// cpprestsdk's task ends when the last byte is written, or the client has gone; only then is the
// call over.
void MountedCall::Reply(const http_response& response) {
  replied_ = true;
  // Only this call refers to a request that was refused. Null: it is being destroyed.
  const auto told = [self = weak_from_this().lock(), loop = loop_](bool whole) {
    if (self) loop->Post([self, whole] { self->Replied(whole); });
  };
  try {
    request_.reply(response).then([told](const pplx::task<void>& task) {
      bool whole = true;
      try {
        task.get();
      } catch (...) {
        whole = false;
      }
      told(whole);
    });
  } catch (...) {
    told(false);
  }
}

// Any thread: cpprestsdk asks for the next bytes of the body. One Want at a time.
void MountedCall::Pull(std::unique_ptr<Want> want) {
  loop_->Post([self = shared_from_this(), want = std::move(want)]() mutable {
    self->want_ = std::move(want);
    self->Serve();
  });
}

void MountedCall::OnBodyReady() {
  loop_->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Serve();
  });
}

// Runs on the loop. Fills the pending Want with what the exchange has; without either there is
// nothing to do.
void MountedCall::Serve() {
  using State = http::ExchangeDriver::FillState;
  if (!want_) return;
  const auto exchange = exchange_;
  if (!exchange) {
    const auto want = std::move(want_);
    // A body that cpprestsdk still asks for after the exchange ended is complete or broken.
    return complete_ ? want->Fill(0) : want->Break();
  }
  const auto filled = exchange->Fill(want_->room());
  if (filled.bytes > 0) std::exchange(want_, nullptr)->Fill(filled.bytes);
  switch (filled.state) {
    case State::kData:
      if (want_) OnBodyReady();  // A turn of the loop later.
      break;
    case State::kWait:
      break;
    case State::kEnd:
      complete_ = true;
      exchange_ = nullptr;
      exchange->AnswerOver(true);
      if (want_) std::exchange(want_, nullptr)->Fill(0);
      break;
    case State::kAbort:
      Cut();
      break;
  }
}

// The answer cannot be completed: the client must see a broken body, not a short one.
void MountedCall::Cut() {
  const auto keep = shared_from_this();
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->AnswerOver(false);
  if (const auto want = std::move(want_)) want->Break();
  if (!replied_) Refuse(500, "the answer was cut");
}

void MountedCall::Replied(bool whole) {
  if (const auto exchange = std::exchange(exchange_, nullptr)) {
    // The exchange must end in every case: its seat and its audit event wait for that.
    if (whole) {
      exchange->AnswerOver(true);
    } else {
      exchange->PeerGone(Status(Reason::kServiceUnavailable, "the client has gone"));
    }
  }
  want_ = nullptr;
  if (on_over_) std::exchange(on_over_, nullptr)(*this);
}

}  // namespace apiserver::v0::cpprest
