#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/functions/pattern.h"
#include "cel/types/spell.h"
#include "text/utf8.h"

// "matches" of cel-go, and k8s.io/apiserver/pkg/cel/library/regex.go. Constant patterns are
// compiled with the program.
namespace apiserver::v0::cel::functions {
namespace regex_rows {
namespace {

using types::kBool;
using types::kInt;
using types::kListOf;
using types::kString;

Result<std::shared_ptr<const void>> CompilePattern(std::span<const Value* const> arguments) {
  if (arguments.size() < 2 || arguments[1] == nullptr || !arguments[1]->is_string()) {
    return std::shared_ptr<const void>();
  }
  std::string error;
  std::shared_ptr<const Pattern> pattern = Pattern::Compile(arguments[1]->AsText(), error);
  if (pattern == nullptr) return Status(Reason::kBadRequest, error);
  return std::shared_ptr<const void>(std::move(pattern));
}

// The pattern of a call: the one that was compiled with the program, or one for this call.
class PatternOfCall {
 public:
  PatternOfCall(CallContext& call, std::string_view text) {
    pattern_ = static_cast<const Pattern*>(call.prepared());
    if (pattern_ != nullptr) return;
    made_ = Pattern::Compile(text, error_);
    pattern_ = made_.get();
  }

  // Empty: there is a pattern.
  const std::string& error() const { return error_; }
  const Pattern* operator->() const { return pattern_; }

 private:
  std::shared_ptr<const Pattern> made_;
  const Pattern* pattern_;
  std::string error_;
};

// Counts the time of searches as work, as RE2 does not tell how much of a text it reads, nor how
// often.
class SearchWork {
 public:
  explicit SearchWork(Arena& arena) : arena_(arena) {}

  // Begins a search that takes at most `bound` steps. False: that is more than is left.
  bool Begin(std::uint64_t bound) {
    if (bound > arena_.work_left()) return false;
    // Looking at the clock takes as long as this.
    constexpr std::uint64_t kFewSteps = 256;
    if (!runs_ && bound > kFewSteps) {
      runs_ = true;
      long_ = bound > kManySteps;
      begin_ = Now();
    }
    bound_ += runs_ ? bound : 0;
    return true;
  }
  // Tells if the searches since the last Count() may have taken long.
  bool is_long() const { return bound_ > kManySteps; }
  // Counts the searches since the last time, which are done.
  void Count() {
    if (!runs_) return;
    const auto steps = static_cast<std::uint64_t>((Now() - begin_) / kStep);
    (void)arena_.TakeWork(std::min({steps, bound_, arena_.work_left()}));
    runs_ = false;
    bound_ = 0;
  }

 private:
  static constexpr std::chrono::nanoseconds kStep{30};
  static constexpr std::uint64_t kManySteps = 1'000'000;

  // Short searches read the quick clock, long ones that of the thread, which does not run while it
  // waits for a CPU.
  std::chrono::nanoseconds Now() const {
    if (!long_) return RealClock().Now().time_since_epoch();
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  Arena& arena_;
  bool runs_ = false;
  bool long_ = false;
  std::uint64_t bound_ = 0;
  std::chrono::nanoseconds begin_{0};
};

Value Matches(CallContext& call, std::span<const Value> arguments) {
  // Calls with a constant pattern are another function in Go.
  if (!arguments[0].is_string()) {
    return call.prepared() != nullptr ? CallContext::NoSuchOverload({})
                                      : call.NoSuchOverloadByName(arguments[0]);
  }
  if (!arguments[1].is_string()) return CallContext::NoSuchOverload({});
  const PatternOfCall pattern(call, arguments[1].AsText());
  if (!pattern.error().empty()) return call.Error(pattern.error());
  SearchWork work(call.arena());
  if (!work.Begin(pattern->WorkIn(arguments[0].AsText()))) return call.OverLimit();
  const bool found = pattern->FoundIn(arguments[0].AsText());
  work.Count();
  return Value::Bool(found);
}

Value IllegalRegex(CallContext& call, const PatternOfCall& pattern) {
  return call.Error("Illegal regex: " + pattern.error());
}

Value Find(CallContext& call, std::span<const Value> arguments) {
  const PatternOfCall pattern(call, arguments[1].AsText());
  if (!pattern.error().empty()) return IllegalRegex(call, pattern);
  SearchWork work(call.arena());
  if (!work.Begin(pattern->WorkIn(arguments[0].AsText()))) return call.OverLimit();
  const std::optional<std::string_view> found = pattern->FindFrom(arguments[0].AsText(), 0);
  work.Count();
  return Value::String(found.value_or(""));
}

// Walks over the matches of a pattern as Go's regexp.allMatches: an empty match next to the one
// before does not count.
class AllMatches {
 public:
  AllMatches(const PatternOfCall& pattern, std::string_view text)
      : pattern_(pattern), text_(text) {}

  // The part of the text that is not searched yet.
  std::string_view Rest() const { return text_.substr(std::min(at_, text_.size())); }

  std::optional<std::string_view> Next() {
    while (at_ <= text_.size()) {
      const std::optional<std::string_view> match = pattern_->FindFrom(text_, at_);
      if (!match.has_value()) break;
      const auto begin = static_cast<std::size_t>(match->data() - text_.data());
      const std::size_t end = begin + match->size();
      const bool empty_here = end == at_;
      const bool counts = !(empty_here && begin == last_end_);
      at_ = empty_here ? AfterCharacter(end) : end;
      last_end_ = end;
      if (counts) return match;
    }
    return std::nullopt;
  }

 private:
  std::size_t AfterCharacter(std::size_t at) const {
    return at < text_.size() ? at + text::FirstRune(text_.substr(at)).text.size() : at + 1;
  }

  const PatternOfCall& pattern_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t last_end_ = std::string_view::npos;
};

Value FindAll(CallContext& call, std::span<const Value> arguments) {
  const PatternOfCall pattern(call, arguments[1].AsText());
  if (!pattern.error().empty()) return IllegalRegex(call, pattern);
  const std::int64_t most = arguments.size() > 2 ? arguments[2].AsInt() : -1;
  // Each search may read the text to its end.
  SearchWork work(call.arena());
  AllMatches matches(pattern, arguments[0].AsText());
  std::vector<Value> found;
  while (most < 0 || found.size() < static_cast<std::uint64_t>(most)) {
    if (!work.Begin(pattern->WorkIn(matches.Rest()))) return call.OverLimit();
    const std::optional<std::string_view> match = matches.Next();
    if (!match.has_value()) break;
    if (work.is_long()) {
      work.Count();
      if (call.context().done()) return call.Interrupted();
    }
    if (!call.CanBuild((found.size() + 1) * sizeof(Value))) return call.OverLimit();
    found.push_back(Value::String(*match));
  }
  work.Count();
  return Value::List(call.arena().Copy<Value>(found));
}

std::optional<CallEstimate> EstimateMatches(const EstimateCall& call) {
  return CallEstimate{.cost = EstimateRegex(call.Size(0), call.Size(1))};
}

// In the worst case every character is a match.
std::optional<CallEstimate> EstimateFind(const EstimateCall& call) {
  return CallEstimate{.cost = EstimateRegex(call.Size(0), call.Size(1)),
                      .result_size = SizeRange{0, call.Size(0).max}};
}

// Only the member call pays for the pattern: cel-go's quirk.
constexpr Overload kMatches[] = {
    {.id = "matches", .signature = Free(kBool, kString, kString)},
    {.id = "matches_string",
     .signature = Member(kBool, kString, kString),
     .run_cost = CostRegex,
     .estimate = EstimateMatches},
};
constexpr Overload kFind[] = {
    {.id = "string_find_string", .signature = Member(kString, kString, kString), .handler = Find},
};
constexpr Overload kFindAll[] = {
    {.id = "string_find_all_string",
     .signature = Member(kListOf<kString>, kString, kString),
     .handler = FindAll},
    {.id = "string_find_all_string_int",
     .signature = Member(kListOf<kString>, kString, kString, kInt),
     .handler = FindAll},
};

constexpr Function kStandard[] = {
    {.name = "matches",
     .overloads = kMatches,
     .handler = Matches,
     .prepare = CompilePattern,
     .replaced_if_prepared = true},
};
constexpr Function kFunctions[] = {
    {.name = "find",
     .overloads = kFind,
     .run_cost = CostRegex,
     .estimate = EstimateFind,
     .prepare = CompilePattern,
     .replaced_if_prepared = true},
    {.name = "findAll",
     .overloads = kFindAll,
     .run_cost = CostRegex,
     .estimate = EstimateFind,
     .prepare = CompilePattern,
     .replaced_if_prepared = true},
};

}  // namespace
}  // namespace regex_rows

std::span<const Function> Matches() { return regex_rows::kStandard; }
std::span<const Function> Regex() { return regex_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
