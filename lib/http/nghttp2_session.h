#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/message.h"

// What the server's and the client's use of nghttp2 have in common.
namespace apiserver::inline v0::http {

struct SessionFree {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};
using Session = std::unique_ptr<nghttp2_session, SessionFree>;

struct CallbacksFree {
  void operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
  }
};
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, CallbacksFree>;

struct OptionFree {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};
using Option = std::unique_ptr<nghttp2_option, OptionFree>;

// A header block to submit: names in lower case, what HTTP/2 forbids left out. Its text lives as
// long as it does; views passed to AddStatic must, too.
class HeaderBlock final {
 public:
  void AddStatic(std::string_view name, std::string_view value);
  // Values with line ends are made harmless; transport headers are skipped.
  void AddAll(const Headers& headers);

  const nghttp2_nv* data() const { return many_.empty() ? few_.data() : many_.data(); }
  std::size_t size() const { return size_; }

 private:
  void Push(const nghttp2_nv& field);
  // Room for text that lives as long as the block.
  std::span<char> Room(std::size_t bytes);

  std::array<nghttp2_nv, 24> few_;
  std::vector<nghttp2_nv> many_;  // All of them, once they are more than a few.
  std::size_t size_ = 0;
  std::array<char, 512> texts_;
  std::size_t texts_used_ = 0;
  std::vector<std::unique_ptr<char[]>> more_texts_;  // What did not fit.
};

inline std::string_view View(const uint8_t* text, std::size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

// Appends what the session has to say until `out` holds `limit` bytes or more; false: broken.
bool SendTo(nghttp2_session* session, std::string& out, std::size_t limit);

}  // namespace apiserver::inline v0::http
