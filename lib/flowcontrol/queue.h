#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/auth/user.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/request/request_info.h"
#include "flowcontrol/metrics.h"
#include "flowcontrol/seat_seconds.h"
#include "flowcontrol/work_estimate.h"

namespace apiserver::inline v0::flowcontrol {

struct Queue;

// One request's place in a queue set. It lives where its owner likes, at one address, until
// Finish() or a decision against it; the queue set links it and allocates nothing.
struct FlowRequest {
  enum class State : std::uint8_t { kNew, kWaiting, kExecuting, kRejected, kFinished };

  // Set by the caller of Start().
  WorkEstimate work;
  std::uint64_t flow_hash = 0;           // Selects the hand of queues it is dealt.
  const FlowMetrics* metrics = nullptr;  // Required.
  std::string_view flow_schema;          // These four for dumps only.
  std::string_view flow_distinguisher;
  const request::RequestInfo* info = nullptr;
  const auth::UserInfo* user = nullptr;

  // Set by the queue set, under its lock.
  State state = State::kNew;
  bool shown_waiting = false;  // Counted in the gauges of waiting requests.
  SeatSeconds total_work = 0;
  SeatSeconds final_work = 0;
  SeatSeconds arrival_r = 0;
  Clock::Monotonic arrived;
  Clock::Monotonic started;
  Clock::Monotonic finished;
  Queue* queue = nullptr;
  FlowRequest* previous = nullptr;
  FlowRequest* next = nullptr;
  UniqueFunction<void(bool execute)> on_decision;
  FlowRequest* next_decided = nullptr;
};

// A list of requests in order of arrival, linked through themselves.
class RequestList {
 public:
  void PushBack(FlowRequest& request);
  void Remove(FlowRequest& request);
  FlowRequest* front() const { return front_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  FlowRequest* front_ = nullptr;
  FlowRequest* back_ = nullptr;
  std::size_t size_ = 0;
};

struct Queue {
  RequestList waiting;
  RequestList executing;
  // The value of the progress meter at which the next request leaves, in the virtual world.
  SeatSeconds next_dispatch_r = 0;
  std::size_t index = 0;
  int seats_in_use = 0;
  int lingering = 0;  // Requests that are answered and keep their seats a little longer.
  // The sums over the waiting requests.
  int initial_seats_sum = 0;
  int max_seats_sum = 0;
  SeatSeconds total_work_sum = 0;

  void Enqueue(FlowRequest& request);
  void Dequeue(FlowRequest& request);
  bool empty() const { return waiting.empty() && executing.empty(); }
};

}  // namespace apiserver::inline v0::flowcontrol
