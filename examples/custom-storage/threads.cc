#include "threads.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace threads {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
namespace registry = apiserver::registry;
namespace runtime = apiserver::runtime;

namespace {

// One line of proc(5)'s stat: "12 (name) R 1 …", fields 14 and 15 are ticks.
bool Parse(const std::string& line, ThreadStat& thread) {
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return false;
  thread.id = std::atoi(line.c_str());
  thread.command = line.substr(open + 1, close - open - 1);
  std::istringstream rest(line.substr(close + 1));
  std::string skipped;
  std::int64_t user = 0;
  std::int64_t system = 0;
  rest >> thread.state;
  for (int field = 4; field < 14; ++field) rest >> skipped;
  rest >> user >> system;
  thread.cpu_milliseconds = (user + system) * 1000 / sysconf(_SC_CLK_TCK);
  return static_cast<bool>(rest);
}

std::unique_ptr<runtime::Object> ObjectOf(const runtime::KindPtr& kind, const ThreadStat& thread) {
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  object->Edit("metadata", "name") = std::to_string(thread.id);
  object->Edit("status", "command") = thread.command;
  object->Edit("status", "state") = thread.state;
  object->Edit("status", "cpuMilliseconds") = thread.cpu_milliseconds;
  return object;
}

}  // namespace

Source ProcessThreads() {
  return []() -> Result<std::vector<ThreadStat>> {
    std::vector<ThreadStat> threads;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
      std::ifstream file(entry.path() / "stat");
      std::string line;
      ThreadStat thread;
      // A thread that has ended meanwhile has no file.
      if (std::getline(file, line) && Parse(line, thread)) threads.push_back(std::move(thread));
    }
    if (error) return Status(Reason::kInternalError, "/proc/self/task: " + error.message());
    return threads;
  };
}

Result<runtime::KindPtr> NewThreadKind() {
  const auto status =
      runtime::StructBuilder("com.example.process.v1.ThreadStatus", "What a thread does.")
          .Field("command", runtime::StringSchema(), {.description = "Its name."})
          .Field("state", runtime::StringSchema(), {.description = "R, S, D, …: as ps shows it."})
          .Field("cpuMilliseconds", runtime::IntegerSchema(64),
                 {.description = "CPU time used so far."})
          .Build();
  const auto schema = runtime::StructBuilder("com.example.process.v1.Thread", "A thread.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("status", status)
                          .Build();
  const auto column = [](const char* name, const char* type, const char* path) {
    return runtime::PrinterColumn{.name = name, .type = type, .json_path = path};
  };
  return runtime::Kind::New(
      {.group = kGroup,
       .kind = "Thread",
       .plural = "threads",
       .namespaced = false,
       .versions = {{.version = "v1",
                     .schema = schema,
                     .columns = {column("Command", "string", ".status.command"),
                                 column("State", "string", ".status.state"),
                                 column("CPU ms", "integer", ".status.cpuMilliseconds")}}}});
}

Result<std::shared_ptr<registry::PollingStore>> NewThreadStore(const runtime::KindPtr& kind,
                                                               Source source,
                                                               apiserver::Executor& executor,
                                                               std::chrono::milliseconds interval) {
  registry::PollingOptions options;
  options.kind = kind;
  options.interval = interval;
  options.executor = &executor;
  options.poll = [kind, source = std::move(source)](
                     const Context&) -> Result<registry::PollingOptions::Objects> {
    const auto threads = source();
    if (!threads.ok()) return threads.status();
    registry::PollingOptions::Objects objects;
    for (const ThreadStat& thread : *threads) objects.push_back(ObjectOf(kind, thread));
    return objects;
  };
  return registry::NewPollingStore(std::move(options));
}

}  // namespace threads
