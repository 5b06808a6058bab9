#include "http/driver.h"

#include <exception>
#include <utility>

#include "http/body_stream.h"
#include "http/caught.h"

// The exchange as a whole: its start, what it logs, and the request's body. Its steps are in
// driver_steps.cc, its answer in driver_answer.cc.
namespace apiserver::v0::http {
namespace {

Status NoMemoryForDecoding() {
  return Status(Reason::kTooManyRequests,
                "decoding other requests takes all memory there is for it, please try again")
      .WithDetails({.retry_after_seconds = 1});
}

}  // namespace

ExchangeDriver::ExchangeDriver(Setup setup)
    : loop_(std::move(setup.loop)),
      service_(*setup.service),
      asked_(std::move(setup.asked)),
      count_(std::move(setup.count)),
      received_(loop_->now()),
      root_(Context::Child(Context::Background())),
      ctx_(root_.WithMayBlock(false)),
      queue_(service_.memory->output),
      incoming_(setup.body.present ? NewCollector(setup.body) : nullptr),
      decoding_(service_.memory->decoding) {
  (void)Panicked();
  if (count_) ++count_->live;
}

ExchangeDriver::~ExchangeDriver() = default;

std::unique_ptr<BodyCollector> ExchangeDriver::NewCollector(const IncomingBody& body) const {
  return std::make_unique<BodyCollector>(
      BodyCollector::Setup{.loop = *loop_, .memory = *service_.memory, .incoming = body});
}

// Made before the first request: when it is needed there may be no memory to make it.
const Status& ExchangeDriver::Panicked() {
  static const Status status(
      Reason::kInternalError,
      "This request caused apiserver to panic. Look in the logs for more info");
  return status;
}

// The exception may come from a lack of memory, so that the log line may fail in the same way.
Status ExchangeDriver::CaughtError(std::string_view where) const {
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      LogError("exception while serving a request", where, error.what());
    } catch (...) {
      LogError("exception while serving a request", where, "of unknown type");
    }
  } catch (...) {
    loop_->LogCaught("serving a request");
  }
  return Panicked();
}

void ExchangeDriver::LogError(std::string_view message, std::string_view where,
                              std::string_view error) const {
  Log(*service_.log, LogLevel::kError, message,
      {{"in", std::string(where)},
       {"error", std::string(error)},
       {"method", asked_.request().method},
       {"path", asked_.request().path}});
}

Status ExchangeDriver::CaughtInStep(std::string_view where) {
  Status error = CaughtError(where);
  try {
    try {
      throw;
    } catch (const std::exception& thrown) {
      ctx_.Set(Caught{thrown.what()});
    } catch (...) {
      ctx_.Set(Caught{"of unknown type"});
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; the audit log tells less
  }
  return error;
}

std::shared_ptr<const std::string> ExchangeDriver::body() const {
  static const auto empty = std::make_shared<const std::string>();
  return incoming_ && incoming_->body() ? incoming_->body() : empty;
}

Step ExchangeDriver::CollectBody(std::size_t bytes_max) {
  if (!incoming_) return Step::Next();
  if (Status status = incoming_->CheckLength(bytes_max); !status.ok()) return status;
  if (!incoming_->WillCollect()) {
    return Status(Reason::kConflict, "the request's body is read as it comes");
  }
  return Step::Later([this, self = shared_from_this(), bytes_max](Resume resume) {
    if (loop_->Inside()) return incoming_->Collect(bytes_max, self, std::move(resume));
    loop_->Post([this, self, bytes_max, resume = std::move(resume)]() mutable {
      incoming_->Collect(bytes_max, self, std::move(resume));
    });
  });
}

Result<std::unique_ptr<ReadStream>> ExchangeDriver::OpenBody(OpenBodyOptions options) {
  if (!incoming_) {
    struct Nothing {
      std::shared_ptr<ExchangeDriver> exchange;  // Keeps what the collector refers to.
      std::unique_ptr<BodyCollector> body;
    };
    const auto nothing = std::make_shared<Nothing>(Nothing{shared_from_this(), NewCollector({})});
    (void)nothing->body->WillPassOn();
    return NewBodyStream(loop_, *nothing->body, options, nothing);
  }
  if (!incoming_->WillPassOn()) {
    return Status(Reason::kConflict, "the request's body was read already");
  }
  return NewBodyStream(loop_, *incoming_, options, shared_from_this());
}

void ExchangeDriver::ChargeTo(const Tenant& tenant) {
  decoding_.SetTenant(tenant);
  const auto charge = [this, tenant] {
    queue_.SetTenant(tenant);
    if (incoming_) incoming_->ChargeTo(tenant);
  };
  if (loop_->Inside()) return charge();
  loop_->Post([self = shared_from_this(), charge] { charge(); });
}

Step ExchangeDriver::ReserveDecoding(std::size_t bytes) {
  if (decoding_.TryResize(bytes)) return Step::Next();
  return Step::Later([this, self = shared_from_this(), bytes](Resume resume) {
    if (loop_->Inside()) return AwaitDecodingRoom(bytes, std::move(resume));
    loop_->Post([this, self, bytes, resume = std::move(resume)]() mutable {
      AwaitDecodingRoom(bytes, std::move(resume));
    });
  });
}

void ExchangeDriver::AwaitDecodingRoom(std::size_t bytes, Resume resume) {
  if (answer_over_) return resume(Step::Done());
  if (!decoding_room_) {
    decoding_room_ = std::make_unique<RoomWait>(*loop_, decoding_, service_.memory->room_wait_max);
  }
  decoding_room_->Start(bytes, shared_from_this(), [resume = std::move(resume)](bool room) mutable {
    resume(room ? Step::Next() : Step(NoMemoryForDecoding()));
  });
}

}  // namespace apiserver::v0::http
