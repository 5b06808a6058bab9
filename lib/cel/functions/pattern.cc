#include "cel/functions/pattern.h"

#include <re2/re2.h>

#include <limits>
#include <utility>

#include "cel/declare/range.h"
#include "runtime/go_regexp.h"

namespace apiserver::v0::cel::functions {
namespace {

// Without UTF-8 a class of characters is one position, of whatever size its table is.
int PositionsOf(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  const re2::RE2 positions(pattern, options);
  return positions.ok() ? positions.ProgramSize() : std::numeric_limits<int>::max();
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(std::unique_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Pattern::~Pattern() = default;

std::shared_ptr<const Pattern> Pattern::Compile(std::string_view text, std::string& error) {
  std::unique_ptr<const re2::RE2> compiled = runtime::CompileGoRegexp(text, error);
  return compiled == nullptr ? nullptr : std::make_shared<const Pattern>(std::move(compiled));
}

// So few positions have few sets.
bool Pattern::has_few_positions() const {
  constexpr int kFewPositions = 12;
  if (positions_ == 0) positions_ = PositionsOf(compiled_->pattern());
  return positions_ <= kFewPositions;
}

// RE2 reads a text with an automaton whose states, sets of positions in the pattern, it makes as
// they come. If these become too many, it follows all positions of a set at once instead, which may
// be all that the program has.
std::uint64_t Pattern::WorkIn(std::string_view text) const {
  constexpr std::uint64_t kPositionsPerStep = 8;
  constexpr std::uint64_t kBytesPerStep = 8;
  constexpr std::uint64_t kFewSteps = 100'000;
  const auto positions = static_cast<std::uint64_t>(compiled_->ProgramSize());
  const std::uint64_t most = SaturatingMultiply(text.size(), positions) / kPositionsPerStep;
  if (most <= kFewSteps || !has_few_positions()) return most;
  return text.size() / kBytesPerStep;
}

bool Pattern::FoundIn(std::string_view text) const {
  return re2::RE2::PartialMatch(Piece(text), *compiled_);
}

std::optional<std::string_view> Pattern::FindFrom(std::string_view text, std::size_t from) const {
  re2::StringPiece match;
  if (!compiled_->Match(Piece(text), from, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
    return std::nullopt;
  }
  return text.substr(static_cast<std::size_t>(match.data() - text.data()), match.size());
}

}  // namespace apiserver::v0::cel::functions
