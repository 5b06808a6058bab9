#pragma once

#include <zlib.h>

#include <array>
#include <string>

namespace apiserver::inline v0::testing {

// All gzip members of `bytes`, in pieces as they come. "" with bad() set: that is no gzip.
class Gunzip {
 public:
  Gunzip() { Begin(); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() { inflateEnd(&stream_); }

  std::string Add(std::string bytes) {
    std::string out;
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (stream_.avail_in > 0 && !bad_) {
      if (ended_) {
        inflateEnd(&stream_);
        const auto* next = stream_.next_in;
        const auto left = stream_.avail_in;
        Begin();
        stream_.next_in = const_cast<Bytef*>(next);
        stream_.avail_in = left;
      }
      std::array<char, 16384> buffer{};
      int state = Z_OK;
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream_.avail_out = buffer.size();
        state = inflate(&stream_, Z_NO_FLUSH);
        out.append(buffer.data(), buffer.size() - stream_.avail_out);
      } while (state == Z_OK && stream_.avail_out == 0);
      ended_ = state == Z_STREAM_END;
      bad_ = state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR;
    }
    return out;
  }
  // Between members.
  bool ended() const { return ended_; }
  bool bad() const { return bad_; }

 private:
  void Begin() {
    stream_ = {};
    inflateInit2(&stream_, 15 + 16);
    ended_ = false;
  }
  z_stream stream_{};
  bool ended_ = false;
  bool bad_ = false;
};

}  // namespace apiserver::inline v0::testing
