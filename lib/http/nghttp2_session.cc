#include "http/nghttp2_session.h"

#include <algorithm>
#include <chrono>

#include "http/http1_head.h"
#include "http/tokens.h"

namespace apiserver::v0::http {
namespace {

// An HPACK table entry for a value that never comes again would only push useful ones out.
bool IsUnique(std::string_view name) { return name == "audit-id" || name == "traceparent"; }

nghttp2_nv Field(std::string_view name, std::string_view value) {
  // nghttp2 copies both; it takes them without const for historical reasons.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          static_cast<uint8_t>(IsUnique(name) ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)};
}

bool IsLineEnd(char c) { return c == '\r' || c == '\n' || c == '\0'; }

// Three searches of the C library are faster than one that compares byte by byte.
bool IsPlainValue(std::string_view value) {
  constexpr auto kNone = std::string_view::npos;
  return value.find('\r') == kNone && value.find('\n') == kNone && value.find('\0') == kNone;
}

}  // namespace

void HeaderBlock::Push(const nghttp2_nv& field) {
  if (size_ < few_.size()) {
    few_[size_++] = field;
    return;
  }
  if (many_.empty()) many_.assign(few_.begin(), few_.end());
  many_.push_back(field);
  ++size_;
}

std::span<char> HeaderBlock::Room(std::size_t bytes) {
  if (bytes > texts_.size() - texts_used_) {
    return {more_texts_.emplace_back(std::make_unique<char[]>(bytes)).get(), bytes};
  }
  char* const room = texts_.data() + texts_used_;
  texts_used_ += bytes;
  return {room, bytes};
}

// nghttp2 copies names and values when a block is submitted, so that they need not live longer.
void HeaderBlock::AddStatic(std::string_view name, std::string_view value) {
  Push(Field(name, value));
}

void HeaderBlock::AddAll(const Headers& headers, std::string_view skipped) {
  for (const Headers::Field& field : headers) {
    if (IsTransportHeader(field.name)) continue;
    const std::span<char> lower = Room(field.name.size());
    if (!LowerToken(field.name, lower)) continue;
    const std::string_view name(lower.data(), lower.size());
    std::string_view value = field.value;
    if (name == "upgrade" || name == "te" || name == skipped) continue;
    if (!IsPlainValue(value)) {
      const std::span<char> text = Room(value.size());
      std::ranges::replace_copy_if(value, text.begin(), IsLineEnd, ' ');
      value = {text.data(), text.size()};
    }
    Push(Field(name, value));
  }
}

bool SendTo(nghttp2_session* session, std::string& out, std::size_t limit) {
  while (out.size() < limit) {
    const uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session, &bytes);
    if (count < 0) return false;
    if (count == 0) return true;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace apiserver::v0::http
