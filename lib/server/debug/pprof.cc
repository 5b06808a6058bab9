#include "server/debug/pprof.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "base/status_macros.h"
#include "response/gzip.h"

namespace apiserver::v0::server::debug {

namespace {

constexpr std::int64_t kSecondsDefault = 30;
// Limits a profile: a longer one is refused, since other clients would wait for theirs.
constexpr std::int64_t kSecondsMax = 3600;
// The interval at which new threads are found and samples fetched; the kernel's buffers are small.
constexpr std::chrono::milliseconds kCollectPeriod(100);

constexpr char kProfileText[] =
    "CPU profile. You can specify the duration in the seconds GET parameter. After you get the "
    "profile file, use the go tool pprof command to investigate the profile.";
constexpr char kCmdlineText[] = "The command line invocation of the current program";

http::Headers PprofHeaders(std::string content_type) {
  return {{"Content-Type", std::move(content_type)}, {"X-Content-Type-Options", "nosniff"}};
}

// Answers as net/http/pprof does: `go tool pprof` prints the text of such a response.
http::Step PprofError(http::Exchange& exchange, int code, const std::string& text) {
  http::Headers headers = PprofHeaders("text/plain; charset=utf-8");
  headers.Add("X-Go-Pprof", "1");
  exchange.writer().Send({.code = code, .headers = std::move(headers)}, http::Bytes(text + "\n"));
  return http::Step::Done();
}

http::Step CannotProfile(http::Exchange& exchange, std::string_view why) {
  return PprofError(exchange, 500, "Could not enable CPU profiling: " + std::string(why));
}

// Returns the value of ?seconds=; one that is no positive number counts as absent, as in Go.
std::int64_t SecondsOf(http::Exchange& exchange) {
  const std::string_view text = exchange.query().Get("seconds");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && seconds > 0 ? seconds : kSecondsDefault;
}

std::string PprofPage(bool cmdline) {
  const auto row = [](const std::string& name, const std::string& text) {
    return "<li><a href='" + name + "'>" + name + "</a>: " + text + "</li>\n";
  };
  return "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
         "Types of profiles available:\n<ul>\n" +
         (cmdline ? row("cmdline", kCmdlineText) : std::string()) + row("profile", kProfileText) +
         "</ul>\n</body>\n</html>\n";
}

http::Step RedirectToPprof(http::Exchange& exchange) {
  const std::string& method = exchange.request().method;
  http::ResponseHead head{.code = 302, .headers = {{"Location", "/debug/pprof/"}}};
  // Only a GET gets a page, as from Go's http.Redirect.
  const bool get = method == "GET";
  if (get || method == "HEAD") head.headers.Add("Content-Type", "text/html; charset=utf-8");
  exchange.writer().Send(
      std::move(head),
      http::Bytes(std::string(get ? "<a href=\"/debug/pprof/\">Found</a>.\n\n" : "")));
  return http::Step::Done();
}

http::Step ServePprof(http::Exchange& exchange, bool cmdline) {
  if (exchange.request().path != "/debug/pprof/") {
    return PprofError(exchange, 404, "Unknown profile");
  }
  exchange.writer().Send({.headers = PprofHeaders("text/html; charset=utf-8")},
                         http::Bytes(PprofPage(cmdline)));
  return http::Step::Done();
}

// Answers with the program's arguments, with a NUL between them.
http::Step ServeCmdline(http::Exchange& exchange) {
  return http::Step::OnPool([&exchange]() -> http::Step {
    ASSIGN_OR_RETURN(std::string arguments, RealFileSystem().Read("/proc/self/cmdline"));
    if (arguments.ends_with('\0')) arguments.pop_back();
    exchange.writer().Send({.headers = PprofHeaders("text/plain; charset=utf-8")},
                           http::Bytes(std::move(arguments)));
    return http::Step::Done();
  });
}

}  // namespace

// One profile, on the pool in turns. However it ends, the next may begin when it is destroyed.
class Profiler::Run : public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<Profiler> profiler, http::Exchange& exchange, std::int64_t seconds,
      http::Resume resume)
      : profiler_(std::move(profiler)),
        exchange_(exchange),
        ctx_(exchange.ctx()),
        length_(std::chrono::seconds(seconds)),
        resume_(std::move(resume)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { MakeWay(); }

  void Begin() {
    until_ = clock().Now() + length_;
    auto profile = CpuProfile::Start(profiler_->needs_, {});
    if (!profile.ok()) {
      return Answer([why = std::string(profile.status().message())](http::Exchange& exchange) {
        return CannotProfile(exchange, why);
      });
    }
    profile_ = *std::move(profile);
    Wait();
  }

 private:
  const Clock& clock() const { return *profiler_->needs_.clock; }

  void Wait() {
    const auto left = until_ - clock().Now();
    if (left.count() <= 0 || ctx_.done()) return End();
    (void)exchange_.pool().PostAfter(std::min<std::chrono::nanoseconds>(left, kCollectPeriod),
                                     [self = shared_from_this()] {
                                       self->profile_->Collect();
                                       self->Wait();
                                     });
  }

  void End() {
    std::string bytes = response::Gzip(http::Bytes(profile_->Finish()));
    profile_ = nullptr;
    Answer([bytes = std::move(bytes)](http::Exchange& exchange) mutable {
      http::Headers headers = PprofHeaders("application/octet-stream");
      headers.Add("Content-Disposition", "attachment; filename=\"profile\"");
      exchange.writer().Send({.headers = std::move(headers)}, http::Bytes(std::move(bytes)));
      return http::Step::Done();
    });
  }

  void Answer(UniqueFunction<http::Step(http::Exchange&)> answer) {
    // Released before the client gets its answer: it may ask for the next profile at once.
    MakeWay();
    resume_.OnLoop(
        [&exchange = exchange_, answer = std::move(answer)]() mutable { return answer(exchange); });
  }

  // Lets the next profile begin; once.
  void MakeWay() {
    if (std::exchange(in_the_way_, false)) profiler_->busy_ = false;
  }

  const std::shared_ptr<Profiler> profiler_;
  bool in_the_way_ = true;
  http::Exchange& exchange_;  // It lives until it is resumed.
  const Context ctx_;
  const std::chrono::nanoseconds length_;
  http::Resume resume_;
  std::unique_ptr<CpuProfile> profile_;
  Clock::Monotonic until_;
};

http::Step Profiler::Serve(http::Exchange& exchange) {
  const std::int64_t seconds = SecondsOf(exchange);
  if (seconds > kSecondsMax) {
    return PprofError(exchange, 400,
                      "profile duration exceeds the " + std::to_string(kSecondsMax) +
                          " seconds this server allows");
  }
  if (busy_.exchange(true)) return CannotProfile(exchange, "cpu profiling already in use");
  return http::Step::Later([self = shared_from_this(), &exchange, seconds](http::Resume resume) {
    auto run = std::make_shared<Run>(self, exchange, seconds, std::move(resume));
    exchange.pool().Post([run = std::move(run)] { run->Begin(); });
  });
}

Status InstallProfiling(const Place& place, std::shared_ptr<Profiler> profiler, bool cmdline) {
  RETURN_IF_ERROR(place("/debug/pprof", &RedirectToPprof, /*reads_body=*/false));
  const auto serve = [cmdline](http::Exchange& exchange) { return ServePprof(exchange, cmdline); };
  RETURN_IF_ERROR(place("/debug/pprof/", serve, /*reads_body=*/false));
  if (cmdline) {
    RETURN_IF_ERROR(place("/debug/pprof/cmdline", &ServeCmdline, /*reads_body=*/false));
  }
  const auto profile = [profiler = std::move(profiler)](http::Exchange& exchange) {
    return profiler->Serve(exchange);
  };
  return place("/debug/pprof/profile", profile, /*reads_body=*/false);
}

}  // namespace apiserver::v0::server::debug
