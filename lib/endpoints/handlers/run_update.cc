#include "endpoints/handlers/run_update.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "endpoints/handlers/answer.h"
#include "endpoints/handlers/too_large.h"

namespace apiserver::v0::endpoints {
namespace {

const std::string& NameOf(const UpdateWork& work) {
  return work.exchange.Get<request::RequestInfo>().name;
}

rest::UpdateRequest RequestOf(const UpdateWork& work, bool track_fields) {
  return {.info = work.Info(track_fields),
          .validate_create = work.validate_create,
          .validate_update = work.validate_update,
          .force_allow_create = work.applies(),
          .options = work.options};
}

// Waits for `first`, the update with owners, and answers.
template <class First>
http::Step Finish(const UpdateWork& work, First first) {
  const auto update = [&](bool with_owners) -> Result<rest::UpdateResult> {
    if (with_owners) return first();
    return work.scope->capabilities.updater->Update(work.exchange.ctx(), NameOf(work),
                                                    RequestOf(work, false));
  };
  const auto updated = work.applies() ? update(true) : WriteWithoutOwnersIfTooLarge(update);
  RETURN_IF_ERROR(updated.status());
  return response::WriteObject(work.exchange, updated->created ? 201 : 200, updated->object,
                               work.scope->target);
}

// An update that the storage has under way.
struct Running {
  Running(std::shared_ptr<const UpdateWork> of, http::Resume then)
      : work(std::move(of)), resume(std::move(then)) {}

  const std::shared_ptr<const UpdateWork> work;
  http::Resume resume;
  // The thread that begins the update, for as long as it does.
  std::atomic<std::thread::id> beginner = std::this_thread::get_id();
  // The outcome, if told within that: this thread finishes the update itself.
  std::optional<rest::AsyncUpdater::UpdateOutcome> at_once;
};

void OnOutcome(Running& running, rest::AsyncUpdater::UpdateOutcome outcome) {
  if (running.beginner.load() == std::this_thread::get_id()) {
    running.at_once = std::move(outcome);
    return;
  }
  const std::shared_ptr<const UpdateWork>& work = running.work;
  if (outcome.result.object) {
    return Answer(work->scope, work->exchange, outcome.result, std::move(running.resume));
  }
  running.resume(http::Step::OnPool([work, rest = std::move(outcome.rest)]() mutable {
    return Finish(*work, [&] { return rest(work->exchange.ctx()); });
  }));
}

void Begin(Running& running, rest::AsyncUpdater::UpdateDone done) {
  const UpdateWork& work = *running.work;
  work.scope->capabilities.async_updater->UpdateAsync(
      work.exchange.ctx(), NameOf(work), RequestOf(work, /*track_fields=*/true), std::move(done));
  running.beginner = std::thread::id();
  if (!running.at_once) return;
  rest::AsyncUpdater::UpdateOutcome& told = *running.at_once;
  const Context& here = work.exchange.ctx();
  if (told.result.object && !here.may_block()) {
    return Answer(work.scope, work.exchange, told.result, std::move(running.resume));
  }
  // On a loop a kWouldBlock makes the whole handler begin again, on the pool.
  running.resume(Finish(work, [&]() -> Result<rest::UpdateResult> {
    if (told.result.object) return std::move(told.result);
    return told.rest(here);
  }));
}

}  // namespace

http::Step RunUpdate(std::shared_ptr<const UpdateWork> work) {
  const rest::Capabilities& can = work->scope->capabilities;
  if (can.async_updater == nullptr) {
    return Finish(*work, [&] {
      return can.updater->Update(work->exchange.ctx(), NameOf(*work), RequestOf(*work, true));
    });
  }
  return http::Step::Later([work = std::move(work)](http::Resume resume) {
    const auto running = std::make_shared<Running>(work, std::move(resume));
    Begin(*running, [running](rest::AsyncUpdater::UpdateOutcome outcome) {
      OnOutcome(*running, std::move(outcome));
    });
  });
}

}  // namespace apiserver::v0::endpoints
