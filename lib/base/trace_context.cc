// The headers of W3C Trace Context: https://www.w3.org/TR/trace-context/

#include <algorithm>
#include <vector>

#include "apiserver/base/trace.h"
#include "text/hex.h"

namespace apiserver::v0::trace {

namespace {

// Limits of W3C's Trace Context, section 3.3.1, for the members of a tracestate.
constexpr std::size_t kMembersMax = 32;
constexpr std::size_t kKeyMax = 256;
constexpr std::size_t kTenantMax = 241;
constexpr std::size_t kSystemMax = 14;
constexpr std::size_t kStateValueMax = 256;

// W3C allows lower case only.
int LowerHexValue(char c) { return c >= 'A' && c <= 'F' ? -1 : text::HexValue(c); }

// Reads `out.size()` bytes in lower case hex off the front of `text`.
template <class Bytes>
bool TakeHex(std::string_view& text, Bytes& out) {
  if (text.size() < 2 * out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = LowerHexValue(text[2 * i]);
    const int low = LowerHexValue(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  text.remove_prefix(2 * out.size());
  return true;
}

bool TakeDash(std::string_view& text) {
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsKeyChar(char c) {
  return IsLower(c) || IsDigit(c) || c == '_' || c == '-' || c == '*' || c == '/';
}

bool IsKeyPart(std::string_view part, std::size_t bytes_max, bool may_begin_with_digit) {
  if (part.empty() || part.size() > bytes_max) return false;
  if (!IsLower(part[0]) && !(may_begin_with_digit && IsDigit(part[0]))) return false;
  return std::all_of(part.begin(), part.end(), IsKeyChar);
}

// "system", or "tenant@system".
bool IsStateKey(std::string_view key) {
  const std::size_t at = key.find('@');
  if (at == std::string_view::npos) return IsKeyPart(key, kKeyMax, false);
  return IsKeyPart(key.substr(0, at), kTenantMax, true) &&
         IsKeyPart(key.substr(at + 1), kSystemMax, false);
}

bool IsStateValue(std::string_view value) {
  if (value.empty() || value.size() > kStateValueMax || value.back() == ' ') return false;
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

bool SpanContext::valid() const {
  const auto set = [](std::uint8_t byte) { return byte != 0; };
  return std::any_of(trace_id.begin(), trace_id.end(), set) &&
         std::any_of(span_id.begin(), span_id.end(), set);
}

std::string SpanContext::TraceIdHex() const {
  std::string hex;
  text::AppendHex(trace_id, hex);
  return hex;
}

std::string SpanContext::SpanIdHex() const {
  std::string hex;
  text::AppendHex(span_id, hex);
  return hex;
}

std::optional<SpanContext> ParseTraceparent(std::string_view text) {
  text = Trimmed(text);
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  SpanContext context;
  const bool read = TakeHex(text, version) && TakeDash(text) && TakeHex(text, context.trace_id) &&
                    TakeDash(text) && TakeHex(text, context.span_id) && TakeDash(text) &&
                    TakeHex(text, flags);
  if (!read || version[0] == 0xff || !context.valid()) return std::nullopt;
  // Only a later version may have more fields.
  if (!text.empty() && (version[0] == 0 || text[0] != '-')) return std::nullopt;
  context.sampled = (flags[0] & 1) != 0;
  return context;
}

std::string FormatTraceparent(const SpanContext& context) {
  std::string text = "00-";
  text::AppendHex(context.trace_id, text);
  text += '-';
  text::AppendHex(context.span_id, text);
  text += context.sampled ? "-01" : "-00";
  return text;
}

std::optional<std::string> ParseTracestate(std::string_view text) {
  std::string state;
  std::vector<std::string_view> keys;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view member = Trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = member.substr(0, equals);
    if (!IsStateKey(key) || !IsStateValue(member.substr(equals + 1))) return std::nullopt;
    if (keys.size() == kMembersMax || std::find(keys.begin(), keys.end(), key) != keys.end()) {
      return std::nullopt;
    }
    keys.push_back(key);
    if (!state.empty()) state += ',';
    state += member;
  }
  return state;
}

}  // namespace apiserver::v0::trace
