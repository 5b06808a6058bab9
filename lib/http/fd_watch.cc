#include "http/fd_watch.h"

#include <utility>

#include "http/reactor.h"

namespace apiserver::v0::http {

struct FdWatch::Descriptor {
  Descriptor(Loop& loop, int fd) : stream(loop.reactor().io, fd) {}
  boost::asio::posix::stream_descriptor stream;
};

FdWatch::FdWatch(Loop& loop, int fd)
    : descriptor_(std::make_unique<Descriptor>(loop, fd)), fd_(fd) {}

FdWatch::~FdWatch() { Close(); }

// The callback holds the receiver, so that a connection lives for as long as it waits.
void FdWatch::AwaitReadable(std::shared_ptr<FdEvents> who) {
  if (fd_ < 0) return;
  descriptor_->stream.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                 [who = std::move(who)](const boost::system::error_code& error) {
                                   if (!error) who->OnReadable();
                                 });
}

void FdWatch::AwaitWritable(std::shared_ptr<FdEvents> who) {
  if (fd_ < 0) return;
  descriptor_->stream.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                                 [who = std::move(who)](const boost::system::error_code& error) {
                                   if (!error) who->OnWritable();
                                 });
}

void FdWatch::Close() {
  if (std::exchange(fd_, -1) < 0) return;
  boost::system::error_code ignored;
  descriptor_->stream.close(ignored);
}

}  // namespace apiserver::v0::http
