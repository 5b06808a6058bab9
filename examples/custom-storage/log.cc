#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "threads.h"

namespace threads {

using apiserver::Context;
using apiserver::Result;
using apiserver::Waker;
namespace http = apiserver::http;
namespace meta = apiserver::meta;
namespace registry = apiserver::registry;
namespace rest = apiserver::rest;
namespace runtime = apiserver::runtime;
namespace watch = apiserver::watch;

namespace {

// A watch of one thread, event by event turned into lines as they are sent.
class LogBody final : public http::BodySource {
 public:
  explicit LogBody(std::unique_ptr<watch::Stream> stream) : stream_(std::move(stream)) {}

  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    std::vector<watch::Event> events;
    const watch::Stream::State state = stream_->Next(events, 16, waker);
    for (const watch::Event& event : events) {
      const bool here = event.object && event.type != watch::EventType::kDeleted;
      if (!here) {
        out.Write("gone\n");
        return http::Pull::kEnd;
      }
      const runtime::Value status = (*event.object)["status"];
      out.Write("state=" + std::string(status["state"].AsString()) +
                " cpu=" + std::to_string(status["cpuMilliseconds"].AsInt()) + "ms\n");
    }
    if (state == watch::Stream::State::kEnd) return http::Pull::kEnd;
    return state == watch::Stream::State::kMore ? http::Pull::kMore : http::Pull::kWait;
  }

 private:
  std::unique_ptr<watch::Stream> stream_;
};

class ThreadLog final : public rest::Storage, public rest::ResourceStreamer {
 public:
  explicit ThreadLog(std::shared_ptr<registry::PollingStore> store) : store_(std::move(store)) {}

  std::unique_ptr<runtime::Object> New() const override { return store_->New(); }

  Result<Input> InputStream(const Context& ctx, std::string_view name,
                            const meta::QueryValues&) override {
    const auto thread = store_->Get(ctx, name, {});
    if (!thread.ok()) return thread.status();
    meta::ListOptions options;
    options.watch = true;
    options.resource_version = "0";  // The state first.
    options.field_selector = meta::FieldSelector::Equals("metadata.name", std::string(name));
    constexpr std::chrono::hours kAYear(24 * 365);
    auto stream = store_->Watch(ctx, options, apiserver::RealClock().Now() + kAYear);
    if (!stream.ok()) return stream.status();
    return Input{.body = std::make_unique<LogBody>(std::move(*stream)), .media_type = "text/plain"};
  }

 private:
  std::shared_ptr<registry::PollingStore> store_;
};

}  // namespace

std::shared_ptr<rest::Storage> NewThreadLog(std::shared_ptr<registry::PollingStore> store) {
  return std::make_shared<ThreadLog>(std::move(store));
}

}  // namespace threads
