#include "flowcontrol/queue.h"

namespace apiserver::v0::flowcontrol {

// The links are in the requests themselves, so that neither operation allocates.
void RequestList::PushBack(FlowRequest& request) {
  request.previous = back_;
  request.next = nullptr;
  (back_ ? back_->next : front_) = &request;
  back_ = &request;
  ++size_;
}

void RequestList::Remove(FlowRequest& request) {
  (request.previous ? request.previous->next : front_) = request.next;
  (request.next ? request.next->previous : back_) = request.previous;
  request.previous = request.next = nullptr;
  --size_;
}

// The sums are kept up to date here, so that queues are compared without walking their requests.
void Queue::Enqueue(FlowRequest& request) {
  waiting.PushBack(request);
  initial_seats_sum += request.work.initial_seats;
  max_seats_sum += request.work.max_seats();
  total_work_sum += request.total_work;
}

void Queue::Dequeue(FlowRequest& request) {
  waiting.Remove(request);
  initial_seats_sum -= request.work.initial_seats;
  max_seats_sum -= request.work.max_seats();
  total_work_sum -= request.total_work;
}

}  // namespace apiserver::v0::flowcontrol
