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

  // `bytes` begins with what the last call saw. kComplete: size() is the head's.
  Verdict Scan(std::string_view bytes);
  std::size_t size() const { return line_; }
  void Reset() { scanned_ = line_ = lines_ = 0; }

 private:
  std::size_t bytes_max_;
  std::size_t fields_max_;
  std::size_t scanned_ = 0;
  std::size_t line_ = 0;  // Where the current line begins.
  std::size_t lines_ = 0;
};

// What a head says about the message after it.
struct Framing {
  bool chunked = false;
  std::optional<std::uint64_t> length;
  bool keep_alive = true;
  int minor = 1;
  bool expect_continue = false;
};

// `head` is complete: up to and with the empty line. False: malformed, or ambiguous as to where
// the message ends.
bool ParseRequestHead(std::string_view head, Request& request, Framing& framing);
bool ParseResponseHead(std::string_view head, ResponseHead& response, Framing& framing);

// Returns whether every name is a token, and no value has a line end or another control character.
bool ValidFields(const Headers& headers);

// Sets path and query from `target`; false: malformed. Of an absolute URI the authority goes to
// `host`.
bool SplitTarget(Request& request);

// "Not Found"; "Status" for codes without a phrase.
std::string_view ReasonPhrase(int code);

// Whether the transport writes this header itself, so that what filters say is left out.
bool IsTransportHeader(std::string_view name);

}  // namespace apiserver::inline v0::http
