#include <vector>

#include "apiserver/base/status.h"
#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/functions/pattern.h"
#include "cel/types/spell.h"
#include "text/utf8.h"

// "matches" of cel-go, and k8s.io/apiserver/pkg/cel/library/regex.go. Constant patterns are
// compiled with the program.
namespace apiserver::v0::cel::functions {
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

Value Matches(CallContext& call, std::span<const Value> arguments) {
  // Calls with a constant pattern are another function in Go.
  if (!arguments[0].is_string()) {
    return call.prepared() != nullptr ? CallContext::NoSuchOverload({})
                                      : call.NoSuchOverloadByName();
  }
  if (!arguments[1].is_string()) return CallContext::NoSuchOverload({});
  const PatternOfCall pattern(call, arguments[1].AsText());
  if (!pattern.error().empty()) return call.Error(pattern.error());
  return Value::Bool(pattern->FoundIn(arguments[0].AsText()));
}

Value IllegalRegex(CallContext& call, const PatternOfCall& pattern) {
  return call.Error("Illegal regex: " + pattern.error());
}

Value Find(CallContext& call, std::span<const Value> arguments) {
  const PatternOfCall pattern(call, arguments[1].AsText());
  if (!pattern.error().empty()) return IllegalRegex(call, pattern);
  return Value::String(pattern->FindFrom(arguments[0].AsText(), 0).value_or(""));
}

// Walks over the matches of a pattern as Go's regexp.allMatches: an empty match next to the one
// before does not count.
class AllMatches {
 public:
  AllMatches(const PatternOfCall& pattern, std::string_view text)
      : pattern_(pattern), text_(text) {}

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
  // Each search may read to the end of the text.
  constexpr std::size_t kMatchesBetweenChecks = 100;
  AllMatches matches(pattern, arguments[0].AsText());
  std::vector<Value> found;
  while (most < 0 || found.size() < static_cast<std::uint64_t>(most)) {
    const std::optional<std::string_view> match = matches.Next();
    if (!match.has_value()) break;
    if (!call.CanBuild((found.size() + 1) * sizeof(Value))) return call.OverLimit();
    found.push_back(Value::String(*match));
    if (found.size() % kMatchesBetweenChecks == 0 && call.context().done()) {
      return Value::Error("operation interrupted");
    }
  }
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

std::span<const Function> Matches() { return kStandard; }
std::span<const Function> Regex() { return kFunctions; }

}  // namespace apiserver::v0::cel::functions
