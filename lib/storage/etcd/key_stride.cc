#include "storage/etcd/key_stride.h"

#include <algorithm>
#include <cmath>

namespace apiserver::v0::storage::etcd {
namespace {

// The characters of names, in the order of their bytes. Digits are often followed by nothing else,
// so that a number has ten of them and not as many as there are here.
constexpr std::string_view kDigits = "-.0123456789abcdefghijklmnopqrstuvwxyz";
constexpr double kDigitsUsual = 10;
constexpr double kStepsMax = 16;

std::size_t RankOf(char c) {
  const auto* const place = std::lower_bound(kDigits.begin(), kDigits.end(), c, [](char a, char b) {
    return static_cast<unsigned char>(a) < static_cast<unsigned char>(b);
  });
  return static_cast<std::size_t>(place - kDigits.begin());
}

}  // namespace

void KeyStride::Learn(std::string_view first, std::string_view last, std::size_t keys) {
  const auto [a, b] = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  if (a == first.end() || b == last.end()) return;
  const std::size_t steps = RankOf(*b) - std::min(RankOf(*a), RankOf(*b));
  digit_ = static_cast<std::size_t>(b - last.begin());
  of_step_ = static_cast<double>(keys) / static_cast<double>(std::max<std::size_t>(steps, 1));
}

void KeyStride::Learn(const Part& part, std::size_t keys) {
  // Another part has told it already.
  if (part.digit != digit_) return;
  if (keys == 0) {
    (void)Coarser();
  } else {
    of_step_ = static_cast<double>(keys) / static_cast<double>(part.steps);
  }
}

bool KeyStride::Coarser() {
  if (digit_ <= fixed_) {
    of_step_ = 0;
    return false;
  }
  --digit_;
  of_step_ *= kDigitsUsual;
  return true;
}

KeyStride::Part KeyStride::Cut(std::string_view from, std::size_t keys) {
  while (of_step_ > 0) {
    const double steps = std::max(std::round(static_cast<double>(keys) / of_step_), 1.0);
    if (digit_ < from.size() && steps <= kStepsMax) {
      const std::size_t rank = RankOf(from[digit_]) + static_cast<std::size_t>(steps);
      if (rank < kDigits.size()) {
        Part part{std::string(from.substr(0, digit_ + 1)), digit_, static_cast<std::size_t>(steps)};
        part.end.back() = kDigits[rank];
        return part;
      }
    }
    (void)Coarser();
  }
  return {};
}

}  // namespace apiserver::v0::storage::etcd
