#include "http/http1_head.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "http/beast.h"
#include "http/host.h"
#include "http/tokens.h"
#include "text/percent.h"

namespace apiserver::v0::http {
namespace {

using ErrorCode = boost::beast::error_code;
using BeastView = boost::beast::string_view;

constexpr std::ptrdiff_t kQueryParametersMax = 10'000;

std::string ToString(BeastView text) { return {text.data(), text.size()}; }

// Parses the start line and the fields with Beast. Bodies are decoded in http1_body.cc, where they
// can be paused and are framed strictly.
template <bool kIsRequest>
class Parser final : public boost::beast::http::basic_parser<kIsRequest> {
 public:
  std::string method;
  std::string target;
  Headers headers;
  int code = 0;
  std::string reason_phrase;
  int version = 11;

  bool Parse(std::string_view head) {
    headers.Reserve(16);
    this->header_limit(UINT32_MAX);
    this->body_limit(UINT64_MAX);  // None would mean zero to Beast 1.74.
    ErrorCode error;
    const std::size_t used = this->put(boost::asio::const_buffer(head.data(), head.size()), error);
    return !error && used == head.size() && this->is_header_done();
  }

 private:
  void on_request_impl(boost::beast::http::verb /*verb*/, BeastView text, BeastView path,
                       int its_version, ErrorCode& error) override {
    method = ToString(text);
    target = ToString(path);
    version = its_version;
    error = {};
  }
  void on_response_impl(int status, BeastView reason, int its_version, ErrorCode& error) override {
    code = status;
    reason_phrase = ToString(reason);
    version = its_version;
    error = {};
  }
  void on_field_impl(boost::beast::http::field /*field*/, BeastView name, BeastView value,
                     ErrorCode& error) override {
    headers.Add(ToString(name), ToString(value));
    error = {};
  }
  void on_header_impl(ErrorCode& error) override { error = {}; }
  void on_body_init_impl(boost::optional<std::uint64_t> const& /*length*/,
                         ErrorCode& error) override {
    error = {};
  }
  std::size_t on_body_impl(BeastView text, ErrorCode& error) override {
    error = {};
    return text.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, BeastView /*extensions*/,
                            ErrorCode& error) override {
    error = {};
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, BeastView text,
                                 ErrorCode& error) override {
    error = {};
    return text.size();
  }
  void on_finish_impl(ErrorCode& error) override { error = {}; }
};

// Up to 18 digits fit into 64 bits, so that nothing can overflow.
bool ParseLength(std::string_view digits, std::uint64_t& length) {
  if (digits.empty() || digits.size() > 18) return false;
  length = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return true;
}

// Returns false when two readers could disagree on where the message ends (RFC 9112, 6.3): such a
// message could smuggle a second request past a proxy.
bool ReadFraming(const Headers& headers, int version, Framing& framing) {
  framing.minor = version == 10 ? 0 : 1;
  framing.keep_alive = framing.minor == 1;
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  for (const Headers::Field& field : headers) {
    if (EqualIgnoreCase(field.name, "Content-Length")) {
      std::uint64_t length = 0;
      if (++lengths > 1 || !ParseLength(field.value, length)) return false;
      framing.length = length;
    } else if (EqualIgnoreCase(field.name, "Transfer-Encoding")) {
      if (++encodings > 1 || !EqualIgnoreCase(field.value, "chunked")) return false;
      framing.chunked = true;
    } else if (EqualIgnoreCase(field.name, "Connection")) {
      if (HasToken(field.value, "close")) framing.keep_alive = false;
      if (framing.minor == 0 && HasToken(field.value, "keep-alive")) framing.keep_alive = true;
    } else if (EqualIgnoreCase(field.name, "Expect")) {
      framing.expect_continue = EqualIgnoreCase(field.value, "100-continue");
    }
  }
  return !framing.chunked || (!framing.length && framing.minor == 1);
}

bool IsText(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

constexpr std::array<std::pair<int, std::string_view>, 40> kPhrases = {{
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Request Entity Too Large"},
    {414, "Request URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Requested Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
}};

}  // namespace

bool ValidFields(const Headers& headers) {
  return std::all_of(headers.begin(), headers.end(), [](const Headers::Field& field) {
    return IsToken(field.name) && IsText(field.value);
  });
}

// Looks at each byte once, however small the pieces in which a head comes.
HeadScanner::Verdict HeadScanner::Scan(std::string_view bytes) {
  while (scanned_ < bytes.size()) {
    const void* found = std::memchr(bytes.data() + scanned_, '\n', bytes.size() - scanned_);
    const std::size_t limit =
        found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data())
                         : bytes.size();
    if (limit > bytes_max_) return Verdict::kTooLarge;
    if (found == nullptr) break;
    // A bare LF and a folded line are refused: parsers differ in how they read them (RFC 9112, 2.2,
    // 5.2).
    if (limit == line_ || bytes[limit - 1] != '\r') return Verdict::kBad;
    const bool folded = bytes[line_] == ' ' || bytes[line_] == '\t';
    const bool empty = limit == line_ + 1;
    if (folded || (empty && lines_ == 0)) return Verdict::kBad;
    line_ = scanned_ = limit + 1;
    if (empty) return Verdict::kComplete;
    if (++lines_ > fields_max_ + 1) return Verdict::kTooLarge;
  }
  scanned_ = bytes.size();
  return Verdict::kIncomplete;
}

bool ParseRequestHead(std::string_view head, Request& request, Framing& framing) {
  Parser<true> parser;
  if (!parser.Parse(head) || !ValidFields(parser.headers)) return false;
  if (!ReadFraming(parser.headers, parser.version, framing)) return false;
  // RFC 9112, 3.2: HTTP/1.1 requires one Host, and no request may have two.
  const auto hosts = parser.headers.GetAll("Host");
  if (hosts.size() > 1 || (hosts.empty() && framing.minor == 1)) return false;
  if (!hosts.empty()) request.host = hosts.front();
  if (!IsHost(request.host)) return false;
  request.method = std::move(parser.method);
  request.target = std::move(parser.target);
  request.headers = std::move(parser.headers);
  request.http_major = 1;
  return SplitTarget(request);
}

bool ParseResponseHead(std::string_view head, ResponseHead& response, Framing& framing) {
  Parser<false> parser;
  if (!parser.Parse(head) || !ValidFields(parser.headers)) return false;
  if (!ReadFraming(parser.headers, parser.version, framing)) return false;
  response.code = parser.code;
  response.reason_phrase = std::move(parser.reason_phrase);
  response.headers = std::move(parser.headers);
  return true;
}

// The authority of an absolute URI overrules Host (RFC 9112, 3.2.2).
bool SplitTarget(Request& request) {
  std::string_view rest = request.target;
  if (!rest.starts_with('/')) {
    if (rest == "*" && request.method == "OPTIONS") {
      request.path = "*";
      return true;
    }
    const std::size_t scheme = rest.find("://");
    if (scheme == std::string_view::npos || request.method == "CONNECT") return false;
    if (!EqualIgnoreCase(rest.substr(0, scheme), "http") &&
        !EqualIgnoreCase(rest.substr(0, scheme), "https")) {
      return false;
    }
    rest.remove_prefix(scheme + 3);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    request.host = rest.substr(0, end);
    if (request.host.empty() || !IsHost(request.host)) return false;
    rest.remove_prefix(end);
  }
  const std::size_t mark = rest.find('?');
  const std::string_view path = rest.substr(0, mark);
  if (path.find('%') == std::string_view::npos) {
    request.path = path;
  } else {
    auto decoded = text::PercentDecode(path);
    if (!decoded) return false;
    request.path = std::move(*decoded);
  }
  if (request.path.empty()) request.path = "/";
  if (mark == std::string_view::npos) return true;
  request.query = rest.substr(mark + 1);
  // Each parameter becomes two texts once it is decoded. Go's net/url has the same limit.
  return std::count(request.query.begin(), request.query.end(), '&') < kQueryParametersMax;
}

std::string_view ReasonPhrase(int code) {
  const auto found = std::find_if(kPhrases.begin(), kPhrases.end(),
                                  [&](const auto& entry) { return entry.first == code; });
  return found != kPhrases.end() ? found->second : "Status";
}

// Compares lengths first: this runs for every header of every answer.
bool IsTransportHeader(std::string_view name) {
  switch (name.size()) {
    case 4:
      return EqualIgnoreCase(name, "date");
    case 10:
      return EqualIgnoreCase(name, "connection") || EqualIgnoreCase(name, "keep-alive");
    case 14:
      return EqualIgnoreCase(name, "content-length");
    case 16:
      return EqualIgnoreCase(name, "proxy-connection");
    case 17:
      return EqualIgnoreCase(name, "transfer-encoding");
    default:
      return false;
  }
}

}  // namespace apiserver::v0::http
