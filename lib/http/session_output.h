#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace apiserver::inline v0::http {

// The output of an HTTP/2 session whose DATA frames are put together where they are written, so
// that the bytes of a body do not pass through nghttp2's buffer. It serves a data source that sets
// NGHTTP2_DATA_FLAG_NO_COPY, and the session's send_data_callback.
class SessionOutput final {
 public:
  // Appends the session's output until `out` holds `limit` bytes or more. False: the session is
  // broken. The other functions are for callbacks that it causes.
  bool Send(nghttp2_session* session, std::string& out, std::size_t limit);
  // Begins a DATA frame. Returns the text to which its bytes are to be appended.
  std::string& BeginData();
  // Takes back the frame that was begun.
  void DropData();
  // Writes the header of the frame that was begun. Returns what send_data_callback returns.
  int EndData(const std::uint8_t* header);

 private:
  std::string* out_ = nullptr;
  std::size_t limit_ = 0;
  std::size_t frame_ = 0;  // The place in `out_` of the frame that was begun.
};

}  // namespace apiserver::inline v0::http
