#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "http/fd_watch.h"
#include "http/loop.h"

namespace apiserver::inline v0::http {

// Owns a descriptor of the kernel's.
struct OwnedFd {
  // Throws if there is none.
  explicit OwnedFd(int made);
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd();
  const int fd;
};

// Ends the waits of a reactor. Any thread; a thread that rings it may keep it longer than there is
// a loop.
struct Loop::Bell {
  Bell();
  // Ends a wait that is in progress, or else the next one.
  void Ring() const;
  const OwnedFd event;
};

// Waits for the descriptors of a loop and for its bell, with one system call a turn. Used on the
// loop only, except for bell().
struct Loop::Reactor {
  Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;
  // Drops the waits that are left, and with them whom they keep alive.
  ~Reactor();

  // Watches the descriptor of `watch` for input. Throws if the kernel has no memory for it.
  void Add(FdWatch& watch);
  // Forgets a watch whose descriptor is about to be closed. Idempotent.
  void Remove(FdWatch& watch);
  // Watches for room, too; tells of room that there is already.
  void AskForRoom(FdWatch& watch);
  // Lets the receivers of `watch` be told if something they wait for has come.
  void Look(FdWatch& watch);
  // Returns whether somebody is to be told.
  bool due() const { return first_due_ != nullptr; }
  // Waits until a descriptor is ready, the bell is rung or `longest` has passed, and notes what has
  // come. nullopt: for ever.
  void Wait(std::optional<std::chrono::nanoseconds> longest);
  // Tells the next receiver. Requires due().
  void TellNext();
  const std::shared_ptr<const Bell>& bell() const { return bell_; }

 private:
  static bool Reads(const FdWatch& watch);
  static bool Writes(const FdWatch& watch);
  void Unqueue(FdWatch& watch);

  const OwnedFd epoll_;
  const std::shared_ptr<const Bell> bell_ = std::make_shared<Bell>();
  FdWatch* first_ = nullptr;
  FdWatch* first_due_ = nullptr;
  FdWatch* last_due_ = nullptr;
};

}  // namespace apiserver::inline v0::http
