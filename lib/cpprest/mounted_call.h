#pragma once

#include <memory>
#include <string>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "cpprest/cpprest.h"
#include "cpprest/pulled_body.h"
#include "http/driver.h"
#include "http/loop.h"

namespace apiserver::inline v0::cpprest {

// One request of cpprestsdk's and its answer: the driver's transport. Used on the loop, except for
// Pull().
class MountedCall final : public http::ServerStream,
                          public Puller,
                          public std::enable_shared_from_this<MountedCall> {
 public:
  // `on_over` is called once on the loop, when nothing more happens.
  MountedCall(std::shared_ptr<http::Loop> loop, const web::http::http_request& request,
              UniqueFunction<void(MountedCall&)> on_over);
  // Answers 503 if there was no answer, because the loop has ended.
  ~MountedCall() override;
  MountedCall(const MountedCall&) = delete;
  MountedCall& operator=(const MountedCall&) = delete;

  void Start(const http::Service& service, http::Request request, const std::string& body);
  // Answers in place of Start().
  void Refuse(int code, const std::string& why);
  // Leaves the request unanswered; cpprestsdk answers it when its listener closes. Called in place
  // of Start(), by the one thread that has the call.
  void Abandon() { replied_ = true; }
  // Breaks the answer off.
  void End(const Status& why);

  // Any thread may call it.
  void Pull(std::unique_ptr<Want> want) override;

  void OnAnswer() override;
  void OnBodyReady() override;
  void OnBodyWanted() override {}
  void OnBodyConsumed(std::size_t /*bytes*/) override {}
  void Cut() override;

 private:
  void Reply(const web::http::http_response& response);
  void Serve();
  // The last byte was written, or will not be.
  void Replied(bool whole);

  const std::shared_ptr<http::Loop> loop_;
  web::http::http_request request_;
  UniqueFunction<void(MountedCall&)> on_over_;
  std::shared_ptr<http::ExchangeDriver> exchange_;  // Null: not begun, or over.
  std::unique_ptr<Want> want_;
  bool replied_ = false;
  bool complete_ = false;  // The whole body was taken from the driver.
};

}  // namespace apiserver::inline v0::cpprest
