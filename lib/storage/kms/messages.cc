#include "storage/kms/messages.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/status_macros.h"
#include "codec/protobuf_wire.h"

namespace apiserver::v0::storage::kms {
namespace {

namespace wire = codec::wire;

// The place for a field of a message; exactly one pointer is set.
struct Place {
  int number;
  std::string* text = nullptr;
  Annotations* map = nullptr;
  std::uint64_t* varint = nullptr;
};

Status Malformed() {
  return Status(Reason::kInternalError, "proto: cannot parse invalid wire-format data");
}

Status Read(std::string_view bytes, std::initializer_list<Place> places);

Status ReadEntry(std::string_view bytes, Annotations& map) {
  std::string key;
  std::string value;
  RETURN_IF_ERROR(Read(bytes, {{.number = 1, .text = &key}, {.number = 2, .text = &value}}));
  map[std::move(key)] = std::move(value);
  return {};
}

Status Put(const wire::Token& token, const Place& place) {
  const bool varint = place.varint != nullptr;
  if (token.type != (varint ? wire::Type::kVarint : wire::Type::kLength)) return Malformed();
  if (varint) *place.varint = token.scalar;
  if (place.text != nullptr) *place.text = token.bytes;
  return place.map != nullptr ? ReadEntry(token.bytes, *place.map) : Status();
}

// Fields without a place are skipped: a newer plugin may send more.
Status Read(std::string_view bytes, std::initializer_list<Place> places) {
  wire::Reader reader(bytes);
  while (!reader.done()) {
    const auto token = reader.Next();
    if (!token.ok()) return Malformed();
    const auto* const place = std::find_if(places.begin(), places.end(), [&](const Place& one) {
      return one.number == token->number;
    });
    if (place != places.end()) RETURN_IF_ERROR(Put(*token, *place));
  }
  return {};
}

// Empty fields are left out, as proto3 does.
void PutText(int number, std::string_view text, std::string& out) {
  if (!text.empty()) wire::PutBytes(number, text, out);
}

// The map is sorted, so that equal sources have equal bytes: see CacheKeyOf().
void PutMap(int number, const Annotations& map, std::string& out) {
  for (const auto& [key, value] : map) {
    wire::Nested entry(number, out);
    wire::PutBytes(1, key, out);
    wire::PutBytes(2, value, out);
    entry.Close();
  }
}

}  // namespace

std::string Encode(const EncryptRequest& message) {
  std::string out;
  PutText(1, message.plaintext, out);
  PutText(2, message.uid, out);
  return out;
}

std::string Encode(const DecryptRequest& message) {
  std::string out;
  PutText(1, message.ciphertext, out);
  PutText(2, message.uid, out);
  PutText(3, message.key_id, out);
  PutMap(4, message.annotations, out);
  return out;
}

std::string Encode(const EncryptedObject& message) {
  std::string out;
  PutText(1, message.encrypted_data, out);
  PutText(2, message.key_id, out);
  PutText(3, message.encrypted_dek_source, out);
  PutMap(4, message.annotations, out);
  // Zero is left out, as proto3 does.
  if (message.source_type != 0) {
    wire::PutInt(5, static_cast<std::int64_t>(message.source_type), out);
  }
  return out;
}

std::string Encode(const StatusResponse& message) {
  std::string out;
  PutText(1, message.version, out);
  PutText(2, message.healthz, out);
  PutText(3, message.key_id, out);
  return out;
}

std::string Encode(const EncryptResponse& message) {
  std::string out;
  PutText(1, message.ciphertext, out);
  PutText(2, message.key_id, out);
  PutMap(3, message.annotations, out);
  return out;
}

std::string Encode(const DecryptResponse& message) {
  std::string out;
  PutText(1, message.plaintext, out);
  return out;
}

Status Decode(std::string_view bytes, StatusResponse& message) {
  return Read(bytes, {{.number = 1, .text = &message.version},
                      {.number = 2, .text = &message.healthz},
                      {.number = 3, .text = &message.key_id}});
}

Status Decode(std::string_view bytes, EncryptResponse& message) {
  return Read(bytes, {{.number = 1, .text = &message.ciphertext},
                      {.number = 2, .text = &message.key_id},
                      {.number = 3, .map = &message.annotations}});
}

Status Decode(std::string_view bytes, DecryptResponse& message) {
  return Read(bytes, {{.number = 1, .text = &message.plaintext}});
}

Status Decode(std::string_view bytes, EncryptedObject& message) {
  return Read(bytes, {{.number = 1, .text = &message.encrypted_data},
                      {.number = 2, .text = &message.key_id},
                      {.number = 3, .text = &message.encrypted_dek_source},
                      {.number = 4, .map = &message.annotations},
                      {.number = 5, .varint = &message.source_type}});
}

Status Decode(std::string_view bytes, EncryptRequest& message) {
  return Read(bytes,
              {{.number = 1, .text = &message.plaintext}, {.number = 2, .text = &message.uid}});
}

Status Decode(std::string_view bytes, DecryptRequest& message) {
  return Read(bytes, {{.number = 1, .text = &message.ciphertext},
                      {.number = 2, .text = &message.uid},
                      {.number = 3, .text = &message.key_id},
                      {.number = 4, .map = &message.annotations}});
}

}  // namespace apiserver::v0::storage::kms
