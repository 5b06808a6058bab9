#include "http/kept_request.h"

#include <cstring>
#include <string_view>
#include <utility>

namespace apiserver::v0::http {
namespace {

using Length = std::uint32_t;

void Put(std::string_view text, std::string& out) {
  const auto length = static_cast<Length>(text.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof(length));
  out += text;
}

// Reads what Put() has written, one text after the other.
std::string_view Take(const char*& at) {
  Length length = 0;
  std::memcpy(&length, at, sizeof(length));
  const std::string_view text(at + sizeof(length), length);
  at += sizeof(length) + length;
  return text;
}

// Returns whether a move leaves the characters where they are.
bool OnHeap(const std::string& text) { return text.capacity() > std::string().capacity(); }

}  // namespace

KeptRequest::KeptRequest(std::unique_ptr<Asked> asked) : asked_(std::move(asked)) {
  asked_->query = Query::Parse(asked_->request.query);
}

// Leaves out of the target what the path and the query tell. The parsed query is not kept, since it
// can be parsed again.
void KeptRequest::Pack() {
  if (packed_ || !OnHeap(asked_->request.path)) return;
  Request& request = asked_->request;
  std::string_view target = request.target;
  const bool path_begins_target = target.starts_with(request.path);
  if (path_begins_target) target.remove_prefix(request.path.size());
  const bool query_ends_target = target.ends_with(request.query);
  std::string texts;
  Put(target, texts);
  if (!query_ends_target) Put(request.query, texts);
  for (const std::string* text : {&request.method, &request.host, &request.remote_address}) {
    Put(*text, texts);
  }
  for (const Headers::Field& field : request.headers) {
    Put(field.name, texts);
    Put(field.value, texts);
  }
  auto packed = std::make_unique<Packed>();
  packed->texts = std::make_unique_for_overwrite<char[]>(texts.size());
  std::memcpy(packed->texts.get(), texts.data(), texts.size());
  packed->headers = static_cast<std::uint32_t>(request.headers.size());
  packed->http_major = request.http_major;
  packed->tls = request.tls;
  packed->path_begins_target = path_begins_target;
  packed->query_in_target =
      query_ends_target ? static_cast<std::int32_t>(request.query.size()) : -1;
  packed->path = std::move(request.path);
  packed->peer = std::move(request.peer);
  asked_.reset();
  packed_ = std::move(packed);
}

void KeptRequest::Unpack() const {
  auto asked = std::make_unique<Asked>();
  Request& request = asked->request;
  const char* at = packed_->texts.get();
  if (packed_->path_begins_target) request.target = packed_->path;
  request.target += Take(at);
  if (packed_->query_in_target >= 0) {
    const auto bytes = static_cast<std::size_t>(packed_->query_in_target);
    request.query = request.target.substr(request.target.size() - bytes);
  } else {
    request.query = Take(at);
  }
  for (std::string* text : {&request.method, &request.host, &request.remote_address}) {
    *text = Take(at);
  }
  request.headers.Reserve(packed_->headers);
  for (std::uint32_t i = 0; i < packed_->headers; ++i) {
    const std::string_view name = Take(at);
    request.headers.Add(std::string(name), std::string(Take(at)));
  }
  request.http_major = packed_->http_major;
  request.tls = packed_->tls;
  asked->query = Query::Parse(request.query);
  // Nothing below can fail.
  request.path = std::move(packed_->path);
  request.peer = std::move(packed_->peer);
  packed_.reset();
  asked_ = std::move(asked);
}

}  // namespace apiserver::v0::http
