#include "audit/packed_event.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "codec/protobuf_wire.h"

namespace apiserver::v0::audit {

namespace {

using codec::wire::PutVarint;

void PutText(std::string_view text, std::string& out) {
  PutVarint(text.size(), out);
  out += text;
}

// Reads a number that PutVarint() has written.
std::size_t TakeNumber(const char*& at) {
  std::size_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    number |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
}

std::string TakeText(const char*& at) {
  const std::size_t size = TakeNumber(at);
  return {std::exchange(at, at + size), size};
}

std::array<std::string*, 5> TextsOf(Event& event) {
  return {&event.audit_id, &event.request_uri, &event.verb, &event.impersonation_constraint,
          &event.user_agent};
}

std::array<std::string*, 8> TextsOf(ObjectReference& of) {
  return {&of.resource,    &of.namespace_,       &of.name,       &of.uid, &of.api_group,
          &of.api_version, &of.resource_version, &of.subresource};
}

std::array<std::string*, 3> TextsOf(ResponseStatus& of) {
  return {&of.status, &of.message, &of.reason};
}

template <class Texts>
void PutAll(const Texts& texts, std::string& out) {
  for (const std::string* text : texts) PutText(*text, out);
}

template <class Texts>
void TakeAll(const char*& at, const Texts& texts) {
  for (std::string* text : texts) *text = TakeText(at);
}

std::string TextOf(Event& event) {
  std::string text;
  PutAll(TextsOf(event), text);
  PutVarint(event.source_ips.size(), text);
  for (const std::string& address : event.source_ips) PutText(address, text);
  if (event.object_ref) PutAll(TextsOf(*event.object_ref), text);
  if (event.response_status) PutAll(TextsOf(*event.response_status), text);
  PutVarint(event.annotations.size(), text);
  for (const auto& [key, value] : event.annotations) {
    PutText(key, text);
    PutText(value, text);
  }
  return text;
}

}  // namespace

std::unique_ptr<const PackedEvent> PackedEvent::Pack(Event& event) {
  const bool details = event.response_status && event.response_status->details;
  if (event.request_object || event.response_object || details) return nullptr;
  const std::string text = TextOf(event);
  auto packed = std::unique_ptr<PackedEvent>(new PackedEvent);
  packed->texts_ = std::make_unique_for_overwrite<char[]>(text.size());
  std::memcpy(packed->texts_.get(), text.data(), text.size());
  packed->request_received_ = event.request_received;
  packed->stage_timestamp_ = event.stage_timestamp;
  packed->level_ = event.level;
  packed->stage_ = event.stage;
  packed->has_object_ref_ = event.object_ref.has_value();
  packed->has_response_status_ = event.response_status.has_value();
  if (event.response_status) packed->code_ = event.response_status->code;
  // Nothing below can fail.
  packed->user_ = std::move(event.user);
  packed->impersonated_user_ = std::move(event.impersonated_user);
  return packed;
}

Event PackedEvent::Unpack() const {
  Event event;
  const char* at = texts_.get();
  TakeAll(at, TextsOf(event));
  event.source_ips.resize(TakeNumber(at));
  for (std::string& address : event.source_ips) address = TakeText(at);
  if (has_object_ref_) TakeAll(at, TextsOf(event.object_ref.emplace(ObjectReference{})));
  if (has_response_status_) {
    TakeAll(at, TextsOf(event.response_status.emplace()));
    event.response_status->code = code_;
  }
  for (std::size_t left = TakeNumber(at); left > 0; --left) {
    std::string key = TakeText(at);
    event.annotations.emplace(std::move(key), TakeText(at));
  }
  event.user = user_;
  event.impersonated_user = impersonated_user_;
  event.request_received = request_received_;
  event.stage_timestamp = stage_timestamp_;
  event.level = level_;
  event.stage = stage_;
  return event;
}

}  // namespace apiserver::v0::audit
