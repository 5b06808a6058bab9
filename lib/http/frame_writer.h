#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/http/exchange.h"
#include "http/body_queue.h"
#include "http/copy_bytes.h"

namespace apiserver::inline v0::http {

// The ChunkWriter of a source that is pulled for a frame which is being put together: its bytes are
// copied into the frame, and only those that find no room there, and all that follow, wait in the
// queue. Lives as long as one pull.
class FrameWriter final : public ChunkWriter {
 public:
  // Appends up to `room` bytes to `frame`. `queue` must be empty.
  FrameWriter(std::string& frame, std::size_t room, BodyQueue& queue)
      : frame_(frame), left_(room), queue_(queue) {}

  // Returns the room of the frame, or what the queue welcomes if that is less.
  std::size_t room() const override {
    return queue_.empty() ? std::min(left_, queue_.room()) : queue_.room();
  }
  void Write(std::string_view copied) override {
    const std::size_t count = queue_.empty() ? std::min(copied.size(), left_) : 0;
    Put(copied.substr(0, count));
    if (count < copied.size()) queue_.Write(copied.substr(count));
  }
  // Bytes that do not fit as a whole are cheaper to move than to copy in two parts.
  void Take(std::string owned) override {
    if (!Fits(owned.size())) return queue_.Take(std::move(owned));
    Put(owned);
  }
  void Write(std::shared_ptr<const void> owner, std::string_view shared) override {
    if (!Fits(shared.size())) return queue_.Write(std::move(owner), shared);
    Put(shared);
  }
  // Parts that end behind the frame's room are moved to the queue.
  void Gather(const std::function<void(std::string& text)>& append) override {
    if (!queue_.empty() || left_ == 0) return ChunkWriter::Gather(append);
    const std::size_t before = frame_.size();
    try {
      append(frame_);
      const std::size_t end = before + std::min(frame_.size() - before, left_);
      if (end < frame_.size()) queue_.Write(std::string_view(frame_).substr(end));
      frame_.resize(end);
      left_ -= end - before;
      bytes_ += end - before;
    } catch (...) {
      frame_.resize(before);
      throw;
    }
  }

  // Returns how many bytes the frame got.
  std::size_t bytes() const { return bytes_; }

 private:
  bool Fits(std::size_t bytes) const { return queue_.empty() && bytes <= left_; }
  void Put(std::string_view bytes) {
    AppendBytes(bytes, frame_);
    left_ -= bytes.size();
    bytes_ += bytes.size();
  }

  std::string& frame_;
  std::size_t left_;
  BodyQueue& queue_;
  std::size_t bytes_ = 0;
};

}  // namespace apiserver::inline v0::http
