#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "http/driver.h"
#include "http/http2_stream.h"

namespace apiserver::inline v0::http {

// The streams of a server's connection at each stage of their way, which go on together as the
// README says. Used on the loop only.
class Http2Line {
 public:
  // Adds a stream whose head is complete.
  void Add(Http2Stream& stream) { arrived_.push_back(&stream); }
  // Returns how many streams have been added and not started.
  std::size_t waiting() const { return arrived_.size(); }
  // Starts the streams that wait, and gives nghttp2 the answers that are made by then. `begin`
  // gives a stream its exchange.
  template <class Begin>
  void Start(const Begin& begin) {
    if (arrived_.empty()) return;
    starting_.clear();
    for (Http2Stream* const stream : arrived_) {
      if (!stream->exchange) begin(*stream);  // It may have one from a call that has thrown.
      starting_.push_back({stream->exchange, stream});
    }
    StartAll();
  }
  // Returns whether Start() calls SubmitAnswer() of `stream`.
  bool TakesAnswer(Http2Stream& stream);

  // Enclose the making of output.
  void BeginOutput() { producing_ = true; }
  void EndOutput() { producing_ = false; }
  bool producing() const { return producing_; }
  // Takes a stream whose answer has been sent whole, to end its exchange in EndSent(). False: it
  // has not taken it. Throws nothing, since an exchange that is lost never ends.
  bool TakeSent(std::unique_ptr<Http2Stream>& stream);
  // Ends the exchanges of the streams taken.
  void EndSent();

 private:
  void StartAll();

  std::vector<Http2Stream*> arrived_;
  std::vector<ExchangeDriver::Arrival> starting_;
  std::vector<Http2Stream*> answered_;  // Whole answers of those that start.
  std::vector<std::unique_ptr<Http2Stream>> sent_;
  bool producing_ = false;
};

}  // namespace apiserver::inline v0::http
