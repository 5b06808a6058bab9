// The output of an HTTP/2 session, whose DATA frames are put together where they are written.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/nghttp2_session.h"
#include "http/session_output.h"

namespace http_test {
namespace {

using apiserver::http::Callbacks;
using apiserver::http::SendTo;
using apiserver::http::Session;
using apiserver::http::SessionOutput;
using apiserver::http::View;

constexpr std::size_t kFrameBytes = 16384 + 9;  // The largest frame by default, and its header.

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

// A server that answers stream 1 with what `left` holds, and waits where that is empty and `more`
// is to come.
struct Answerer {
  SessionOutput output;
  std::string left;
  bool more = false;
  Session session;

  static ssize_t Read(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source*, void* user) {
    auto& self = *static_cast<Answerer*>(user);
    std::string& out = self.output.BeginData();
    if (self.left.empty() && self.more) {
      self.output.DropData();
      return NGHTTP2_ERR_DEFERRED;
    }
    const std::size_t count = std::min(size, self.left.size());
    out.append(self.left, 0, count);
    self.left.erase(0, count);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (self.left.empty() && !self.more) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }

  Answerer() {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    const Callbacks callbacks(made);
    nghttp2_session_callbacks_set_send_data_callback(
        made, [](nghttp2_session*, nghttp2_frame*, const std::uint8_t* header, std::size_t,
                 nghttp2_data_source*,
                 void* user) { return static_cast<Answerer*>(user)->output.EndData(header); });
    nghttp2_session* server = nullptr;
    nghttp2_session_server_new(&server, made, this);
    session.reset(server);
    nghttp2_submit_settings(server, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  void Answer() {
    const nghttp2_nv status = Field(":status", "200");
    nghttp2_data_provider provider{};
    provider.read_callback = Read;
    nghttp2_submit_response(session.get(), 1, &status, 1, &provider);
  }
};

// A client of one request that gathers the answer's body.
struct Asker {
  std::string body;
  bool closed = false;
  Session session;

  Asker() {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    const Callbacks callbacks(made);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        made, [](nghttp2_session*, std::uint8_t, std::int32_t, const std::uint8_t* data,
                 std::size_t size, void* user) {
          static_cast<Asker*>(user)->body += View(data, size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        made, [](nghttp2_session*, std::int32_t, std::uint32_t code, void* user) {
          static_cast<Asker*>(user)->closed = code == NGHTTP2_NO_ERROR;
          return 0;
        });
    nghttp2_session* client = nullptr;
    nghttp2_session_client_new(&client, made, this);
    session.reset(client);
    nghttp2_submit_settings(client, NGHTTP2_FLAG_NONE, nullptr, 0);
    const nghttp2_nv fields[] = {Field(":method", "GET"), Field(":scheme", "https"),
                                 Field(":authority", "a"), Field(":path", "/")};
    nghttp2_submit_request(client, nullptr, fields, 4, nullptr, nullptr);
  }

  // Takes what the server has sent, and tells it so.
  void Take(std::string_view bytes, Answerer& server) {
    Feed(session.get(), bytes);
    std::string out;
    REQUIRE(SendTo(session.get(), out, 1 << 20));
    Feed(server.session.get(), out);
  }

  static void Feed(nghttp2_session* to, std::string_view bytes) {
    REQUIRE(nghttp2_session_mem_recv(to, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                     bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
};

TEST_CASE("http: a long body leaves a session in pieces of the limit, behind what was there",
          "[http]") {
  std::string body;
  while (body.size() < 200'000) body += std::to_string(body.size()) + ' ';
  Answerer server;
  Asker client;
  client.Take("", server);
  server.left = body;
  server.Answer();

  constexpr std::size_t kLimit = 20'000;
  for (int turns = 0; !client.closed && turns < 100; ++turns) {
    std::string out = "before";
    REQUIRE(server.output.Send(server.session.get(), out, kLimit));
    CHECK(out.starts_with("before"));
    CHECK(out.size() < kLimit + kFrameBytes);
    client.Take(std::string_view(out).substr(6), server);
  }

  CHECK(client.closed);
  CHECK(client.body == body);
}

TEST_CASE("http: a frame that is taken back leaves nothing in a session's output", "[http]") {
  Answerer server;
  Asker client;
  client.Take("", server);
  server.more = true;
  server.Answer();
  std::string out;
  REQUIRE(server.output.Send(server.session.get(), out, 1 << 20));
  client.Take(out, server);
  CHECK(client.body.empty());
  out.clear();
  REQUIRE(server.output.Send(server.session.get(), out, 1 << 20));
  out.clear();
  REQUIRE(nghttp2_session_resume_data(server.session.get(), 1) == 0);
  REQUIRE(server.output.Send(server.session.get(), out, 1 << 20));
  CHECK(out.empty());

  server.left = "late";
  server.more = false;
  REQUIRE(nghttp2_session_resume_data(server.session.get(), 1) == 0);
  REQUIRE(server.output.Send(server.session.get(), out, 1 << 20));
  client.Take(out, server);

  CHECK(client.body == "late");
  CHECK(client.closed);
}

}  // namespace
}  // namespace http_test
