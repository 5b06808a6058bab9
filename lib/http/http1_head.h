#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/message.h"

namespace apiserver::inline v0::http {

// Finds the end of an HTTP/1.1 head in bytes that grow, and refuses early what no head may hold:
// lines that do not end in CRLF, and folded fields.
class HeadScanner final {
 public:
  enum class Verdict : std::uint8_t { kIncomplete, kComplete, kBad, kTooLarge };
  HeadScanner(std::size_t bytes_max, std::size_t fields_max)
      : bytes_max_(bytes_max), fields_max_(fields_max) {}

  // Looks at `bytes`, which begin with the bytes of the last call. kComplete: size() is the size of
  // the head.
  Verdict Scan(std::string_view bytes);
  std::size_t size() const { return line_; }
  void Reset() { scanned_ = line_ = lines_ = 0; }

 private:
  std::size_t bytes_max_;
  std::size_t fields_max_;
  std::size_t scanned_ = 0;
  std::size_t line_ = 0;  // The offset of the current line.
  std::size_t lines_ = 0;
};

// The facts of a head about the message after it.
struct Framing {
  bool chunked = false;
  std::optional<std::uint64_t> length;
  bool keep_alive = true;
  int minor = 1;
  bool expect_continue = false;
};

// Parse a complete head, up to and including the empty line. False: it is malformed, or two readers
// could disagree about where the message ends.
bool ParseRequestHead(std::string_view head, Request& request, Framing& framing);
bool ParseResponseHead(std::string_view head, ResponseHead& response, Framing& framing);

// Returns whether every name is a token, and no value has a line end or another control character.
bool ValidFields(const Headers& headers);

// Sets path and query from `target`. The authority of an absolute URI is stored in `host`. False:
// the target is malformed.
bool SplitTarget(Request& request);

// Returns the phrase of a code, as "Not Found", or "Status" for codes without one.
std::string_view ReasonPhrase(int code);

// Returns whether the transport writes this header itself, so that a filter's is left out.
bool IsTransportHeader(std::string_view name);

}  // namespace apiserver::inline v0::http
