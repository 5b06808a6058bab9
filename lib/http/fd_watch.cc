#include "http/fd_watch.h"

#include <unistd.h>

#include <utility>

#include "http/reactor.h"

namespace apiserver::v0::http {

FdWatch::FdWatch(Loop& loop, int fd) : loop_(loop), fd_(fd) { loop_.reactor().Add(*this); }

FdWatch::~FdWatch() { Close(); }

void FdWatch::AwaitReadable(std::shared_ptr<FdEvents> who) {
  if (fd_ < 0) return;
  reader_ = std::move(who);
  loop_.reactor().Look(*this);
}

void FdWatch::AwaitWritable(std::shared_ptr<FdEvents> who) {
  if (fd_ < 0) return;
  writer_ = std::move(who);
  loop_.reactor().AskForRoom(*this);
  loop_.reactor().Look(*this);
}

void FdWatch::AwaitTurn(std::shared_ptr<FdEvents> who) {
  readable_ = true;
  AwaitReadable(std::move(who));
}

// Releases the receivers last, because this watch may be destroyed with them.
void FdWatch::Close() {
  if (fd_ < 0) return;
  loop_.reactor().Remove(*this);
  close(std::exchange(fd_, -1));
  const auto reader = std::move(reader_);
  const auto writer = std::move(writer_);
}

}  // namespace apiserver::v0::http
