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

// The parts of using nghttp2 that the server and the client share.
namespace apiserver::inline v0::http {

// Owners of nghttp2's objects.
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

// A header block to submit, with names in lower case and without the headers that HTTP/2 forbids.
// It is built on the stack for every answer, so that the usual ones allocate nothing.
class HeaderBlock final {
 public:
  // Adds a field whose name is in lower case and whose value has no line end. The name is not
  // copied: it must be a literal. The value must live as long as the block.
  void AddStatic(std::string_view name, std::string_view value);
  // Adds a message's headers. Line ends in values are replaced; transport headers are skipped, and
  // those named `skipped`, in lower case.
  void AddAll(const Headers& headers, std::string_view skipped = {});

  const nghttp2_nv* data() const { return many_.empty() ? few_.data() : many_.data(); }
  std::size_t size() const { return size_; }

 private:
  // Appends a field, and moves all to the heap once they are many.
  void Push(const nghttp2_nv& field);
  // Returns `value` with spaces in place of line ends.
  std::string_view PlainValue(std::string_view value);
  // Returns room for text that lives as long as the block.
  std::span<char> Room(std::size_t bytes);

  std::array<nghttp2_nv, 24> few_;
  std::vector<nghttp2_nv> many_;  // Holds all fields once few_ is too small.
  std::size_t size_ = 0;
  std::array<char, 512> texts_;
  std::size_t texts_used_ = 0;
  std::vector<std::unique_ptr<char[]>> more_texts_;  // Texts that did not fit.
};

// Returns nghttp2's bytes as text.
inline std::string_view View(const uint8_t* text, std::size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

// Appends the session's output until `out` holds `limit` bytes or more. False: the session is
// broken.
bool SendTo(nghttp2_session* session, std::string& out, std::size_t limit);

}  // namespace apiserver::inline v0::http
