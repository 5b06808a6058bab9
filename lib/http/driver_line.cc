#include <exception>
#include <utility>

#include "http/driver.h"

// Requests that arrived together and stand in line at each filter: before the next one begins, a
// filter has begun with all of them, and so it is with the heads of their answers. The code of all
// filters is larger than a CPU's first cache, of which a request alone would find little that the
// one before has left there.
namespace apiserver::v0::http {

void ExchangeDriver::GoOnAlone(Step step, std::exception_ptr& thrown) {
  try {
    Advance(std::move(step), true);
  } catch (...) {
    if (!thrown) thrown = std::current_exception();
  }
}

Clock::Monotonic ExchangeDriver::FilterBegan(const Clock& clock) const {
  if (!shares_clock_) return clock.Now();
  Loop::LineClock& line = loop_->line_clock();
  if (std::exchange(line.clock, &clock) != &clock) line.now = clock.Now();
  return line.now;
}

Clock::Wall ExchangeDriver::FilterBeganWall(const Clock& clock) const {
  if (!shares_clock_) return clock.WallNow();
  Loop::LineClock& line = loop_->line_clock();
  if (std::exchange(line.wall_clock, &clock) != &clock) line.wall_now = clock.WallNow();
  return line.wall_now;
}

bool ExchangeDriver::BeginInLine(const Filter& filter, std::exception_ptr& thrown) {
  begun_.store(++next_, std::memory_order_release);
  shares_clock_ = true;
  try {
    Step step = filter.Begin(*this);
    shares_clock_ = false;
    if (step.kind_ == Step::Kind::kNext && !cut_.load()) return true;
    GoOnAlone(std::move(step), thrown);
  } catch (...) {
    shares_clock_ = false;
    GoOnAlone(CaughtInStep(filter.name()), thrown);
  }
  return false;
}

bool ExchangeDriver::HandleInLine(std::exception_ptr& thrown) {
  in_line_ = true;
  GoOnAlone(Step::Next(), thrown);
  in_line_ = false;
  return !running_ && MayAnswerInLine();
}

bool ExchangeDriver::RunHeadInLine(const Filter& filter) {
  shares_clock_ = true;
  const bool dressed = RunHead(filter);
  shares_clock_ = false;
  return dressed;
}

void ExchangeDriver::AnswerOverInLine(bool first) {
  if (first) loop_->line_clock() = {};
  // A step that still runs may ask for the time from the pool.
  shares_clock_ = !running_;
  AnswerOver(true);
  shares_clock_ = false;
}

bool ExchangeDriver::MayAnswerInLine() const {
  return stored_.load() && !answer_over_ && !answer_started_ && !head_.verbatim;
}

void ExchangeDriver::AnswerInLine(bool dressed, std::exception_ptr& thrown) {
  try {
    answer_started_ = true;
    GiveAnswer(dressed);
    LeaveSteps();
  } catch (...) {
    if (!thrown) thrown = std::current_exception();
  }
}

void ExchangeDriver::StartTogether(std::span<Arrival> arrivals) {
  if (arrivals.empty()) return;
  std::exception_ptr thrown;
  for (const Arrival& arrival : arrivals) arrival.driver->Attach(*arrival.stream);
  const auto& filters = arrivals[0].driver->service_.filters;
  Loop::LineClock& line_clock = arrivals[0].driver->loop_->line_clock();
  for (const auto& filter : filters) {
    line_clock = {};
    for (Arrival& arrival : arrivals) {
      if (!arrival.in_line) continue;
      arrival.in_line = arrival.driver->BeginInLine(*filter, thrown);
    }
  }
  for (Arrival& arrival : arrivals) {
    if (arrival.in_line) arrival.in_line = arrival.driver->HandleInLine(thrown);
  }
  for (auto filter = filters.rbegin(); filter != filters.rend(); ++filter) {
    line_clock = {};
    for (Arrival& arrival : arrivals) {
      if (!arrival.in_line || arrival.driver->RunHeadInLine(**filter)) continue;
      arrival.in_line = false;
      arrival.driver->AnswerInLine(false, thrown);
    }
  }
  for (const Arrival& arrival : arrivals) {
    if (arrival.in_line) arrival.driver->AnswerInLine(true, thrown);
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace apiserver::v0::http
