#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"
#include "widget_server.h"

// Mixed load on widgets through a server of ours that forwards them to another one, which restarts
// again and again.
namespace apiserver::inline v0::testing {

// The two servers. `restart` starts the one behind anew, on the same objects.
struct LoadedChain {
  TestServer& front;
  std::function<TestServer&()> behind;
  std::function<void()> restart;
};

// Returns the text between `before` and the next `end`; empty if there is none.
inline std::string Between(std::string_view text, std::string_view before, std::string_view end) {
  const std::size_t found = text.find(before);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = text.substr(found + before.size());
  return std::string(rest.substr(0, rest.find(end)));
}
inline std::string VersionOf(std::string_view json) {
  return Between(json, R"("resourceVersion":")", R"(")");
}

// The sizes of widgets by name.
using Sizes = std::map<std::string, int>;

// Writes widgets of its own one after the other, and reads each again.
struct LoadWriter {
  bool Right(const http::ClientResponse& answer, std::initializer_list<int> codes) {
    if (answer.code == 503 || answer.code == 502) {
      ++refused;
      return false;
    }
    if (std::find(codes.begin(), codes.end(), answer.code) != codes.end()) return true;
    wrong = std::to_string(answer.code) + " " + answer.body;
    return false;
  }
  // A refused write may have been done, so that either size is right then.
  void Turn(TestServer& front, const std::string& name, int size) {
    const std::string path = std::string(kWidgets) + "/" + name;
    const bool made = Right(front.Call("POST", kWidgets, Widget(name, 1)), {201, 409});
    const bool set =
        Right(front.Call("PATCH", path, R"({"spec":{"size":)" + std::to_string(size) + "}}",
                         {{"Content-Type", "application/merge-patch+json"}}),
              {200, 404});
    const auto got = front.Call("GET", path);
    if (Right(got, {200, 404}) && made && set) {
      const int seen = std::atoi(Between(got.body, R"("size":)", "}").c_str());
      if (got.code != 200 || seen != size) wrong = "lost " + name + ": " + got.body;
    }
    if (size % 3 == 0) Right(front.Call("DELETE", path), {200, 404});
    ++turns;
  }

  int turns = 0;
  int refused = 0;
  std::string wrong;
};

// Follows all widgets by a watch, which it begins anew where the last one ended.
struct LoadFollower {
  void Read(TestServer& front, const Context& ctx) {
    const std::string target =
        std::string(kWidgets) + "?watch=1&resourceVersion=" + (version.empty() ? "0" : version);
    const auto connection = front.server().LoopbackConnection();
    auto stream = std::move(connection->Open({.target = target})).value();
    const auto head = stream->Head(ctx);
    if (!head.ok() || head->code != 200) {
      if (head.ok() && head->code != 503 && head->code != 502) wrong = std::to_string(head->code);
      return;
    }
    ++watches;
    for (std::string left;;) {
      const auto more = stream->Read(ctx);
      if (!more.ok() || more->empty()) return;
      left += *more;
      for (std::size_t end = 0; (end = left.find('\n')) != std::string::npos;) {
        Take(left.substr(0, end));
        left.erase(0, end + 1);
      }
    }
  }
  void Take(const std::string& line) {
    const std::string type = Between(line, R"("type":")", R"(")");
    if (type == "ERROR") {
      wrong = line;
      return;
    }
    const std::string at = VersionOf(line);
    // The first watch begins with what there is, in the order of names.
    if (!version.empty() && watches > 1 && std::stoull(at) <= std::stoull(version)) wrong = line;
    if (version.empty() || std::stoull(at) > std::stoull(version)) version = at;
    seen = std::stoull(version);
    const std::string name = Between(line, R"("name":")", R"(")");
    if (type == "DELETED") {
      sizes.erase(name);
    } else {
      sizes[name] = std::atoi(Between(line, R"("size":)", "}").c_str());
    }
    ++events;
  }

  Sizes sizes;
  std::string version;
  std::atomic<std::uint64_t> seen{0};  // `version`, for other threads.
  int events = 0;
  int watches = 0;
  std::string wrong;
};

inline Sizes ListedBy(TestServer& server) {
  Sizes sizes;
  std::string body = server.Call("GET", kWidgets).body;
  constexpr std::string_view kName = R"("name":")";
  for (std::size_t at = body.find(kName); at != std::string::npos; at = body.find(kName, at + 1)) {
    const std::string_view rest = std::string_view(body).substr(at);
    sizes[Between(rest, kName, R"(")")] = std::atoi(Between(rest, R"("size":)", "}").c_str());
  }
  return sizes;
}

// Creates the last widget once the server behind is there again; returns its version.
inline std::string WriteLast(TestServer& front) {
  const auto patience = RealClock().Now() + std::chrono::seconds(10);
  for (;;) {
    const auto last = front.Call("POST", kWidgets, Widget("last", 1));
    if (last.code == 201) return VersionOf(last.body);
    INFO(last.code << " " << last.body);
    REQUIRE(RealClock().Now() < patience);
    Notification().WaitFor(std::chrono::milliseconds(5));
  }
}

// Restarts the server behind again and again under writers and followers.
inline void RunChainedLoad(const LoadedChain& chain, std::chrono::milliseconds time,
                           std::chrono::milliseconds between_restarts) {
  constexpr std::size_t kClients = 4;
  std::array<LoadWriter, kClients> writers;
  std::array<LoadFollower, kClients> followers;
  std::atomic<bool> over{false};
  const Context ctx = Context::Child(Context::Background(), std::nullopt);
  std::vector<Thread> threads;
  for (std::size_t i = 0; i < kClients; ++i) {
    threads.emplace_back("writer", [&, i] {
      for (int n = 0; !over; ++n) {
        writers[i].Turn(chain.front, "w-" + std::to_string(i) + "-" + std::to_string(n % 7),
                        1 + n % 9);
      }
    });
    threads.emplace_back("follower", [&, i] {
      while (!ctx.done()) followers[i].Read(chain.front, ctx);
    });
  }
  int restarts = 0;
  for (const auto until = RealClock().Now() + time; RealClock().Now() < until; ++restarts) {
    Notification().WaitFor(between_restarts);
    chain.restart();
  }
  over = true;
  for (std::size_t i = 0; i < threads.size(); i += 2) threads[i].Join();

  const Sizes listed = ListedBy(chain.behind());
  // The followers have all when they have the last write.
  const std::string last = WriteLast(chain.front);
  const std::uint64_t all = std::stoull(last);
  const auto patience = RealClock().Now() + std::chrono::seconds(20);
  while (RealClock().Now() < patience &&
         std::any_of(followers.begin(), followers.end(),
                     [all](const LoadFollower& follower) { return follower.seen < all; })) {
    Notification().WaitFor(std::chrono::milliseconds(5));
  }
  ctx.Cancel(Status(Reason::kTimeout, "the test is over"));
  for (std::size_t i = 1; i < threads.size(); i += 2) threads[i].Join();
  int turns = 0;
  int refused = 0;
  for (const LoadWriter& writer : writers) {
    INFO(writer.wrong);
    CHECK(writer.wrong.empty());
    turns += writer.turns;
    refused += writer.refused;
  }
  for (LoadFollower& follower : followers) {
    INFO(follower.wrong);
    CHECK(follower.wrong.empty());
    CHECK(follower.version == last);
    follower.sizes.erase("last");
    CHECK(follower.sizes == listed);
    CHECK(follower.watches > 1);
  }
  CHECK(turns > 10 * restarts);
  WARN(turns << " turns of four requests, " << refused << " of them refused, " << restarts
             << " restarts, " << followers[0].events << " events by " << followers[0].watches
             << " watches");
}

}  // namespace apiserver::inline v0::testing
