#include "apiserver/base/log.h"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <regex>
#include <vector>

#include "apiserver/base/verbosity.h"

namespace apiserver::inline v0 {
namespace {

// What `write` prints to standard error.
template <class Write>
std::string Captured(Write write) {
  std::FILE* file = std::tmpfile();
  const int before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  write();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  std::rewind(file);
  std::array<char, 4096> buffer{};
  std::string out(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), file));
  std::fclose(file);
  return out;
}

TEST_CASE("base: the stderr sink writes level, time, message and quoted fields", "[base]") {
  const auto sink = NewStderrLogSink();

  const std::string line = Captured([&] {
    Log(*sink, LogLevel::kWarning, "slow {} request", {{"verb", "get"}, {"uri", "/a\n\"b\""}});
  });

  const std::regex form(
      R"re(W\d{4} \d\d:\d\d:\d\d\.\d{3} slow \{\} request verb="get" uri="/a\\n\\"b\\""\n)re");
  CHECK(std::regex_match(line, form));
}

TEST_CASE("base: the stderr sink drops what lies below its level", "[base]") {
  const auto sink = NewStderrLogSink(LogLevel::kWarning);

  const std::string lines = Captured([&] {
    Log(*sink, LogLevel::kInfo, "unheard");
    Log(*sink, LogLevel::kError, "heard");
  });

  CHECK(lines.find("unheard") == std::string::npos);
  CHECK(lines.find(" heard\n") != std::string::npos);
  CHECK(lines.front() == 'E');
}

TEST_CASE("base: a verbosity sink passes on debug lines from four on, as it is told to", "[base]") {
  class Last final : public LogSink {
   public:
    bool Enabled(LogLevel level) const override { return level != LogLevel::kInfo; }
    void Write(LogLevel, std::string_view message, std::span<const LogField>) override {
      text = message;
    }
    std::string text;
  } last;
  VerbositySink sink(last, 3);

  sink.Write(LogLevel::kDebug, "unheard", {});
  CHECK(last.text.empty());
  CHECK_FALSE(sink.Enabled(LogLevel::kDebug));
  CHECK(sink.Enabled(LogLevel::kWarning));
  sink.SetVerbosity(4);
  CHECK(sink.Enabled(LogLevel::kDebug));
  CHECK_FALSE(sink.Enabled(LogLevel::kInfo));  // The one behind it does not want it.
  Log(sink, LogLevel::kDebug, "heard");
  CHECK(last.text == "heard");
  sink.SetVerbosity(0);
  Log(sink, LogLevel::kDebug, "unheard");
  CHECK(last.text == "heard");
}

TEST_CASE("base: the null sink wants nothing", "[base]") {
  CHECK_FALSE(NullLogSink().Enabled(LogLevel::kError));
}

}  // namespace
}  // namespace apiserver::inline v0
