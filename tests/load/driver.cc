// Load on one or two servers until standard input ends, and what became of it. A request is sent
// once; every answer but success, and every connection lost with a request on it, is a failure.
// Prints a line when it is under way and its figures, as JSON, at the end.
//
// usage: load-driver --ca FILE --cert FILE --key FILE --port PORT [--port PORT] [--writers N]
//                    [--watchers N] [--turns N]

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/codec/json.h"
#include "load/servers.h"

namespace {

using apiserver::Context;
using apiserver::RealClock;
using apiserver::Thread;
using apiserver::http::ClientRequest;
using apiserver::http::DialOptions;
using load::Figures;
using load::Servers;

constexpr char kFlunders[] = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders";

struct Options {
  std::string ca;
  std::string cert;
  std::string key;
  std::vector<int> ports;
  std::size_t writers = 4;
  std::size_t watchers = 2;
  std::size_t turns = 0;
};

std::string FlunderBody(const std::string& name) {
  return R"({"apiVersion":"wardle.example.com/v1alpha1","kind":"Flunder","metadata":{"name":")" +
         name + R"("},"spec":{"reference":"some-flunder"}})";
}

// Of a JSON text, the string after `key`.
std::string StringAfter(const std::string& json, const std::string& key) {
  const std::size_t at = json.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size();
  return json.substr(begin, json.find('"', begin) - begin);
}

std::string ListRevision(Servers& servers) {
  const auto list = servers.Call({.target = std::string(kFlunders) + "?limit=1"});
  return list.ok() ? StringAfter(list->body, "\"resourceVersion\":\"") : "";
}

// Creates, reads, lists and deletes, one after the other.
void Write(Servers& servers, std::size_t worker, Figures& figures, const std::atomic<bool>& stop) {
  for (std::size_t i = 0; !stop; ++i) {
    const std::string name = "f-" + std::to_string(worker) + "-" + std::to_string(i);
    const std::string path = std::string(kFlunders) + "/" + name;
    const auto made = servers.Call({.method = "POST",
                                    .target = kFlunders,
                                    .headers = {{"Content-Type", "application/json"}},
                                    .body = FlunderBody(name)});
    if (made.ok() && made->code == 201) ++figures.created;
    (void)servers.Call({.target = path});
    (void)servers.Call({.target = std::string(kFlunders) + "?limit=5"});
    if (i % 2 == 1) (void)servers.Call({.method = "DELETE", .target = path});
  }
}

// One watcher: what it has seen, and where it is.
class Watch {
 public:
  Watch(Servers& servers, Figures& figures, std::string revision)
      : servers_(servers), figures_(figures), revision_(std::move(revision)) {}

  // Until the stream ends, or `enough` says so.
  template <class Enough>
  void Follow(const Enough& enough) {
    apiserver::http::Connection* connection = servers_.Current();
    if (!connection) return;
    auto stream = connection->Open(
        {.target = std::string(kFlunders) +
                   "?watch=1&allowWatchBookmarks=true&resourceVersion=" + revision_});
    if (!stream.ok()) return;
    const auto head = (*stream)->Head(Soon(10'000));
    if (!head.ok()) return;  // The next try resumes where this one would have begun.
    if (head->code != 200) {
      // 503 of a server that stops; anything else is wrong.
      if (head->code != 503) figures_.Fail("watch: " + std::to_string(head->code));
      return;
    }
    ++figures_.watch_streams;
    std::string rest;
    while (!enough(*this)) {
      const auto bytes = (*stream)->Read(Soon(100));
      if (!bytes.ok() && bytes.status().reason() == apiserver::Reason::kTimeout) continue;
      if (!bytes.ok() || bytes->empty()) return;
      rest += *bytes;
      for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
        Take(rest.substr(0, end));
        rest.erase(0, end + 1);
      }
    }
  }
  std::size_t seen() const { return seen_.size(); }

 private:
  static Context Soon(int milliseconds) {
    return Context::Child(Context::Background(),
                          RealClock().Now() + std::chrono::milliseconds(milliseconds));
  }

  void Take(const std::string& line) {
    ++figures_.watch_events;
    const std::string type = StringAfter(line, "{\"type\":\"");
    if (type == "ERROR") {
      ++figures_.relists;
      figures_.Fail("watch: " + line.substr(0, 300));
      revision_ = ListRevision(servers_);
      return;
    }
    const std::string revision = StringAfter(line, "\"resourceVersion\":\"");
    if (!revision.empty()) revision_ = revision;
    if (type != "ADDED") return;
    // Twice the same event, and a resumed watch has begun too early.
    if (!seen_.insert(StringAfter(line, "\"name\":\"")).second) {
      figures_.Fail("watch: seen twice: " + line.substr(0, 300));
    }
  }

  Servers& servers_;
  Figures& figures_;
  std::string revision_;
  std::set<std::string> seen_;
};

// Follows until all that was created has been seen.
void FollowAll(Servers& servers, Figures& figures, const std::string& revision,
               const std::atomic<bool>& written) {
  Watch watch(servers, figures, revision);
  std::optional<apiserver::Clock::Monotonic> until;
  const auto enough = [&](const Watch& self) {
    if (!written) return false;
    if (!until) until = RealClock().Now() + std::chrono::seconds(60);
    return self.seen() >= figures.created || RealClock().Now() > *until;
  };
  while (!enough(watch)) watch.Follow(enough);
  if (watch.seen() != figures.created) {
    figures.Fail("watch: saw " + std::to_string(watch.seen()) + " of " +
                 std::to_string(figures.created) + " that were created");
  }
}

std::vector<DialOptions> Addresses(const Options& options, bool http2) {
  const apiserver::FileSystem& files = apiserver::RealFileSystem();
  const apiserver::http::ClientTls tls{
      .ca_pem = files.Read(options.ca).value(),
      .client = {files.Read(options.cert).value(), files.Read(options.key).value()}};
  std::vector<DialOptions> addresses;
  for (const int port : options.ports) {
    addresses.push_back({.port = port, .tls = tls, .http2 = http2});
  }
  return addresses;
}

void Print(const Figures& figures) {
  std::printf(
      "{\"requests\": %zu, \"failed\": %zu, \"created\": %zu, \"moves\": %zu, \"watch_streams\": "
      "%zu, \"watch_events\": %zu, \"relists\": %zu}\n",
      figures.requests.load(), figures.failed.load(), figures.created.load(), figures.moves.load(),
      figures.watch_streams.load(), figures.watch_events.load(), figures.relists.load());
}

int Drive(const Options& options) {
  const auto dialer = apiserver::http::NewDialer();
  Figures figures;
  std::atomic<bool> stop = false;
  std::atomic<bool> written = false;
  Servers first(*dialer, Addresses(options, true), 0, 0, figures);
  const std::string revision = ListRevision(first);
  std::vector<Thread> watchers;
  std::vector<Thread> writers;
  for (std::size_t i = 0; i < options.watchers; ++i) {
    watchers.emplace_back("watcher", [&, i] {
      Servers servers(*dialer, Addresses(options, i % 2 == 0), i, 0, figures);
      FollowAll(servers, figures, revision, written);
    });
  }
  for (std::size_t i = 0; i < options.writers; ++i) {
    writers.emplace_back("writer", [&, i] {
      // Every other one speaks HTTP/1.1.
      Servers servers(*dialer, Addresses(options, i % 2 == 0), i, options.turns, figures);
      Write(servers, i, figures, stop);
    });
  }
  std::printf("under way\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  stop = true;
  writers.clear();
  written = true;
  watchers.clear();
  {
    const auto failures = figures.failures.Lock();
    for (const std::string& failure : *failures) {
      std::fprintf(stderr, "FAILED: %s\n", failure.c_str());
    }
  }
  Print(figures);
  return figures.failed == 0 && figures.requests > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Options options;
  CLI::App app("Load on servers that come and go");
  app.add_option("--ca", options.ca)->required();
  app.add_option("--cert", options.cert)->required();
  app.add_option("--key", options.key)->required();
  app.add_option("--port", options.ports)->required();
  app.add_option("--writers", options.writers);
  app.add_option("--watchers", options.watchers);
  app.add_option("--turns", options.turns, "Requests on a connection; 0: no limit");
  CLI11_PARSE(app, argc, argv);
  return Drive(options);
}
