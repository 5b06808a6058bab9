#include "http/nghttp2_session.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "http/copy_bytes.h"
#include "http/http1_head.h"
#include "http/tokens.h"
#include "text/scan.h"

namespace apiserver::v0::http {
namespace {

// An HPACK table entry for a value that never comes again would only push useful ones out.
bool IsUnique(std::string_view name) { return name == "audit-id" || name == "traceparent"; }

// A name as filters and handlers write it, and as HTTP/2 wants it.
struct UsualName {
  std::string_view written;
  std::string_view lower;
};
constexpr std::size_t kUsualNameMax = 33;

// The usual names of answers, each at the place of its size: their sizes differ.
constexpr auto kUsualNames = [] {
  std::array<UsualName, kUsualNameMax + 1> names{};
  for (const UsualName& name : std::initializer_list<UsualName>{
           {"Etag", "etag"},
           {"Warning", "warning"},
           {"Audit-Id", "audit-id"},
           {"Retry-After", "retry-after"},
           {"Content-Type", "content-type"},
           {"Cache-Control", "cache-control"},
           {"Content-Encoding", "content-encoding"},
           {"X-Content-Type-Options", "x-content-type-options"},
           {"Strict-Transport-Security", "strict-transport-security"},
           {"X-Kubernetes-PF-FlowSchema-UID", "x-kubernetes-pf-flowschema-uid"},
           {"X-Kubernetes-PF-PriorityLevel-UID", "x-kubernetes-pf-prioritylevel-uid"}}) {
    names[name.written.size()] = name;
  }
  return names;
}();

// Returns a usual name in lower case; it lives as long as the program. Empty: it is another name.
std::string_view UsualLower(std::string_view name) {
  if (name.empty() || name.size() > kUsualNameMax) return {};
  const UsualName& usual = kUsualNames[name.size()];
  return usual.written == name ? usual.lower : std::string_view();
}

// `flags`: NGHTTP2_NV_FLAG_NO_COPY_NAME for a name that lives as long as the program.
nghttp2_nv Field(std::string_view name, std::string_view value, std::uint8_t flags) {
  if (IsUnique(name)) flags |= NGHTTP2_NV_FLAG_NO_INDEX;
  // nghttp2 takes both without const for historical reasons.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          flags};
}

bool IsLineEnd(char c) { return c == '\r' || c == '\n' || c == '\0'; }

// Compares many bytes at once.
bool IsPlainValue(std::string_view value) {
  const auto line_ends = [](text::scan::Block block) {
    return (block == '\r') | (block == '\n') | (block == '\0');
  };
  return text::PrefixWithout(value, line_ends) == value.size();
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

// nghttp2 copies values when a block is submitted, so that they need not live longer. It would also
// lower the names that it copies.
void HeaderBlock::AddStatic(std::string_view name, std::string_view value) {
  Push(Field(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME));
}

std::string_view HeaderBlock::PlainValue(std::string_view value) {
  if (IsPlainValue(value)) return value;
  const std::span<char> text = Room(value.size());
  std::ranges::replace_copy_if(value, text.begin(), IsLineEnd, ' ');
  return {text.data(), text.size()};
}

void HeaderBlock::AddAll(const Headers& headers, std::string_view skipped) {
  for (const Headers::Field& field : headers) {
    if (const std::string_view usual = UsualLower(field.name); !usual.empty()) {
      if (usual != skipped) AddStatic(usual, PlainValue(field.value));
      continue;
    }
    if (IsTransportHeader(field.name)) continue;
    const std::span<char> lower = Room(field.name.size());
    if (!LowerToken(field.name, lower)) continue;
    const std::string_view name(lower.data(), lower.size());
    if (name == "upgrade" || name == "te" || name == skipped) continue;
    Push(Field(name, PlainValue(field.value), NGHTTP2_NV_FLAG_NONE));
  }
}

bool SendTo(nghttp2_session* session, std::string& out, std::size_t limit) {
  while (out.size() < limit) {
    const uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session, &bytes);
    if (count < 0) return false;
    if (count == 0) return true;
    AppendBytes(View(bytes, static_cast<std::size_t>(count)), out);
  }
  return true;
}

}  // namespace apiserver::v0::http
