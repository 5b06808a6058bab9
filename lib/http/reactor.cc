#include "http/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace apiserver::v0::http {
namespace {

// The ready descriptors that are asked for at a time; the kernel keeps the others for the next
// turn.
constexpr int kEventsAtOnce = 16;
// A wait is cut into pieces of an hour, which fit into the kernel's milliseconds.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(1);

constexpr std::uint32_t kInput = EPOLLIN | EPOLLRDHUP | EPOLLET;
// After these no other news may come, so that they are remembered for good.
constexpr std::uint32_t kBroken = EPOLLHUP | EPOLLERR;

int Checked(int result) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), "the reactor of a loop");
  return result;
}

// Rounds up: a timer that is not due yet would make a turn for nothing.
int Milliseconds(std::optional<std::chrono::nanoseconds> time) {
  if (!time) return -1;
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(*time);
  return static_cast<int>(std::clamp(whole, std::chrono::milliseconds(0), kLongestWait).count());
}

}  // namespace

OwnedFd::OwnedFd(int made) : fd(Checked(made)) {}

OwnedFd::~OwnedFd() { close(fd); }

Loop::Bell::Bell() : event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Loop::Bell::Ring() const {
  const std::uint64_t one = 1;
  // It fails only if the counter is full, which 2^64 calls would make it.
  (void)!write(event.fd, &one, sizeof(one));
}

Loop::Reactor::Reactor() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  // Each write is an edge of its own, so that the counter is never read.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  Checked(epoll_ctl(epoll_.fd, EPOLL_CTL_ADD, bell_->event.fd, &event));
}

Loop::Reactor::~Reactor() {
  while (first_ != nullptr) {
    FdWatch& watch = *first_;
    Remove(watch);
    // Their end may be the watch's.
    const auto reader = std::move(watch.reader_);
    const auto writer = std::move(watch.writer_);
  }
}

void Loop::Reactor::Add(FdWatch& watch) {
  epoll_event event{.events = kInput, .data = {.ptr = &watch}};
  Checked(epoll_ctl(epoll_.fd, EPOLL_CTL_ADD, watch.fd_, &event));
  watch.watched_ = true;
  watch.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &watch;
  first_ = &watch;
}

void Loop::Reactor::Remove(FdWatch& watch) {
  if (!std::exchange(watch.watched_, false)) return;
  // Closing alone would not end it while a process that the host has started has the socket, too.
  (void)epoll_ctl(epoll_.fd, EPOLL_CTL_DEL, watch.fd_, nullptr);
  Unqueue(watch);
  (watch.previous_ == nullptr ? first_ : watch.previous_->next_) = watch.next_;
  if (watch.next_ != nullptr) watch.next_->previous_ = watch.previous_;
  watch.previous_ = watch.next_ = nullptr;
}

void Loop::Reactor::AskForRoom(FdWatch& watch) {
  epoll_event event{.events = kInput | EPOLLOUT, .data = {.ptr = &watch}};
  (void)epoll_ctl(epoll_.fd, EPOLL_CTL_MOD, watch.fd_, &event);
}

bool Loop::Reactor::Reads(const FdWatch& watch) {
  return watch.reader_ != nullptr && (watch.readable_ || watch.ended_ || watch.broken_);
}

bool Loop::Reactor::Writes(const FdWatch& watch) {
  return watch.writer_ != nullptr && (watch.writable_ || watch.broken_);
}

void Loop::Reactor::Look(FdWatch& watch) {
  if (!Reads(watch) && !Writes(watch)) return;
  if (std::exchange(watch.due_, true)) return;
  watch.previous_due_ = last_due_;
  watch.next_due_ = nullptr;
  (last_due_ == nullptr ? first_due_ : last_due_->next_due_) = &watch;
  last_due_ = &watch;
}

void Loop::Reactor::Unqueue(FdWatch& watch) {
  if (!std::exchange(watch.due_, false)) return;
  (watch.previous_due_ == nullptr ? first_due_ : watch.previous_due_->next_due_) = watch.next_due_;
  (watch.next_due_ == nullptr ? last_due_ : watch.next_due_->previous_due_) = watch.previous_due_;
}

void Loop::Reactor::Wait(std::optional<std::chrono::nanoseconds> longest) {
  std::array<epoll_event, kEventsAtOnce> events{};
  const int count = epoll_wait(epoll_.fd, events.data(), kEventsAtOnce, Milliseconds(longest));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == nullptr) continue;
    FdWatch& watch = *static_cast<FdWatch*>(event.data.ptr);
    watch.readable_ |= (event.events & EPOLLIN) != 0;
    // An event of room serves who waits for it now: by the next wait it may be stale.
    watch.writable_ |= watch.writer_ != nullptr && (event.events & EPOLLOUT) != 0;
    watch.ended_ |= (event.events & EPOLLRDHUP) != 0;
    watch.broken_ |= (event.events & kBroken) != 0;
    Look(watch);
  }
}

// One direction at a time: the first receiver may close the descriptor.
void Loop::Reactor::TellNext() {
  FdWatch& watch = *first_due_;
  Unqueue(watch);
  if (Reads(watch)) {
    watch.readable_ = false;
    const auto reader = std::exchange(watch.reader_, nullptr);
    Look(watch);
    reader->OnReadable();
  } else if (Writes(watch)) {
    watch.writable_ = false;
    const auto writer = std::exchange(watch.writer_, nullptr);
    writer->OnWritable();
  }
}

}  // namespace apiserver::v0::http
