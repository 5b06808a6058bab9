#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/http/dialer.h"
#include "security/stub_peer.h"

// Our HTTP/2 client against servers that lie.
namespace apiserver::inline v0::security {
namespace {

std::string Frame(std::uint8_t kind, std::uint8_t flags, std::uint32_t stream,
                  std::string_view payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(payload.size() >> shift);
  frame += static_cast<char>(kind);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift);
  return frame.append(payload);
}

std::string Setting(std::uint16_t id, std::uint32_t value) {
  std::string entry;
  for (const int shift : {8, 0}) entry += static_cast<char>(id >> shift);
  for (const int shift : {24, 16, 8, 0}) entry += static_cast<char>(value >> shift);
  return entry;
}

constexpr std::uint8_t kHeaders = 1;
constexpr std::uint8_t kSettings = 4;
constexpr std::uint8_t kContinuation = 9;

Context Soon() {
  return Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(60));
}

// What a call to a server that says `opening` at once, and then `answer`, comes to.
Result<http::ClientResponse> CallTo(const std::string& opening, const std::string& answer = "") {
  StubPeer peer(opening, answer);
  const std::unique_ptr<http::Dialer> dialer = http::NewDialer();
  auto connection = dialer->Dial(Soon(), {.port = peer.port()});
  if (!connection.ok()) return connection.status();
  http::ClientRequest request{.target = "/"};
  // Longer than any frame may be: it must be cut.
  request.headers.Add("x-long", std::string(20'000, 'a'));
  return (*connection)->Call(Soon(), request);
}

// A literal that stays in the client's table, as entry 62; `value` has 127 bytes or more.
std::string Indexed(char name, const std::string& value) {
  std::string field = {'\x40', '\x01', name, '\x7f'};
  std::size_t rest = value.size() - 127;
  for (; rest >= 128; rest /= 128) field += static_cast<char>(128 | rest % 128);
  field += static_cast<char>(rest);
  return field + value;
}

// A status of 200, then `fields`, as the answer to the first call.
std::string AnswerOf(const std::string& fields) { return Frame(kHeaders, 5, 1, "\x88" + fields); }

}  // namespace

TEST_CASE("security: row 45, CVE-2026-33814: settings that no server may send", "[security]") {
  const std::vector<std::pair<const char*, std::string>> rows = {
      {"a frame size of nothing", Setting(5, 0)},
      {"a frame size below the least", Setting(5, 16'383)},
      {"a frame size over the most", Setting(5, 1U << 24)},
      {"a window over the most", Setting(4, 0x80000000U)},
      {"a push that is neither on nor off", Setting(2, 7)},
      {"thousands of entries",
       [] {
         std::string many;
         for (int i = 0; i < 2000; ++i) many += Setting(3, 100);
         return many;
       }()},
  };
  for (const auto& [what, settings] : rows) {
    CAPTURE(what);
    CHECK_FALSE(CallTo(Frame(kSettings, 0, 0, settings)).ok());
  }
  CHECK_FALSE(CallTo(Frame(kSettings, 0, 0, "12345")).ok());
  CHECK_FALSE(CallTo(Frame(kSettings, 0, 1, "")).ok());
  CHECK_FALSE(CallTo("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok());
}

TEST_CASE("security: rows 35 and 37: a server's honest answer is one", "[security]") {
  const auto answer =
      CallTo(Frame(kSettings, 0, 0, ""), AnswerOf(Indexed('a', std::string(4000, 'b')) + '\xbe'));
  REQUIRE(answer.ok());
  CHECK(answer->code == 200);
  CHECK(answer->headers.GetAll("a").size() == 2);
}

TEST_CASE("security: row 35, a server's endless CONTINUATION", "[security]") {
  std::string flood = Frame(kHeaders, 0, 1, "\x88");
  for (int i = 0; i < 20'000; ++i) flood += Frame(kContinuation, 0, 1, "");
  const auto answer = CallTo(Frame(kSettings, 0, 0, ""), flood);
  CHECK(answer.status().reason() == Reason::kServiceUnavailable);
}

TEST_CASE("security: row 37, a server's HPACK bomb", "[security]") {
  // One entry of 4,000 bytes, named ten thousand times; and one of hardly any, as often.
  for (const std::string& entry :
       {Indexed('a', std::string(4000, 'b')), Indexed('a', std::string(127, 'b'))}) {
    const auto answer =
        CallTo(Frame(kSettings, 0, 0, ""), AnswerOf(entry + std::string(10'000, '\xbe')));
    CHECK(answer.status().message() == "the answer's head is too large");
  }
}

}  // namespace apiserver::inline v0::security
