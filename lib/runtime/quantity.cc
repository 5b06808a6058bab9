#include "apiserver/runtime/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/digits.h"

namespace apiserver::v0::runtime {

namespace {

using Format = Quantity::Format;

constexpr int kNano = -9;
// Numbers further apart than this are not aligned: adding them would only make zeros.
constexpr std::int64_t kAlignMax = 100'000;
// Go computes in int64 up to this many digits, and then keeps the text.
constexpr std::int64_t kFastDigits = 18;
constexpr std::int64_t kFastBinaryDigits = 15;

constexpr std::string_view kMalformed =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

struct Suffix {
  std::string_view text;
  int base;
  int exponent;
};

constexpr Suffix kSuffixes[] = {
    {"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"", 10, 0},   {"k", 10, 3},  {"M", 10, 6},
    {"G", 10, 9},  {"T", 10, 12}, {"P", 10, 15}, {"E", 10, 18}, {"Ki", 2, 10}, {"Mi", 2, 20},
    {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60},
};

// The pieces of a text; views of it.
struct Pieces {
  bool negative = false;
  std::string_view whole;  // Without leading zeros.
  std::string_view fraction;
  std::string_view suffix;
};

std::string_view Take(std::string_view& rest, std::string_view of) {
  const std::string_view taken = rest.substr(0, rest.find_first_not_of(of));
  rest.remove_prefix(taken.size());
  return taken;
}

constexpr std::string_view kDigits = "0123456789";

// Takes a text apart as the pattern in kMalformed says, but checks the suffix's letters only.
std::optional<Pieces> Split(std::string_view text) {
  Pieces pieces;
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    pieces.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  Take(rest, "0");
  pieces.whole = Take(rest, kDigits);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    pieces.fraction = Take(rest, kDigits);
  }
  pieces.suffix = rest;
  Take(rest, "eEinumkKMGTP");
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  Take(rest, kDigits);
  if (!rest.empty()) return std::nullopt;
  return pieces;
}

struct Unit {
  int base;
  std::int64_t exponent;
  Format format;
};

std::optional<Unit> UnitOf(std::string_view suffix) {
  for (const Suffix& known : kSuffixes) {
    if (known.text != suffix) continue;
    return Unit{known.base, known.exponent,
                known.base == 2 ? Format::kBinarySI : Format::kDecimalSI};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.starts_with('+')) {
    suffix.remove_prefix(1);
    if (suffix.starts_with('-')) return std::nullopt;
  }
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (error != std::errc() || end != suffix.data() + suffix.size()) return std::nullopt;
  // Go's cut to int32.
  return Unit{10, static_cast<std::int32_t>(exponent), Format::kDecimalExponent};
}

// Returns true if Go takes its int64 path, in which it may keep the text unchanged.
bool IsFast(const Unit& unit, std::int64_t whole_digits, std::int64_t fraction_digits) {
  if (unit.format != Format::kBinarySI) {
    return kFastDigits - whole_digits - fraction_digits >= 0 &&
           unit.exponent - fraction_digits >= kNano;
  }
  // Ten bits are counted as three digits, as in Go's ParseQuantity.
  return fraction_digits == 0 && kFastBinaryDigits - whole_digits - unit.exponent * 3 / 10 - 1 >= 0;
}

// Returns true for a text that ParseQuantity takes for canonical already.
bool KeepsText(const Unit& unit, std::string_view shifted, std::int64_t scale) {
  if (unit.format == Format::kBinarySI) return (digits::ToUint64(shifted) & 7U) != 0;
  return scale % 3 == 0 && !shifted.ends_with("000") && shifted.front() != '0';
}

}  // namespace

Quantity::Quantity(std::int64_t value, int scale, Format format)
    : negative_(value < 0),
      digits_(digits::Of(value < 0 ? 0 - static_cast<std::uint64_t>(value)
                                   : static_cast<std::uint64_t>(value))),
      scale_(scale),
      format_(format) {
  Strip();
}

Result<Quantity> Quantity::Parse(std::string_view text) {
  const std::optional<Pieces> pieces = Split(text);
  if (text.empty() || !pieces) return Status(Reason::kBadRequest, std::string(kMalformed));
  const std::optional<Unit> unit = UnitOf(pieces->suffix);
  if (!unit) return Status(Reason::kBadRequest, "unable to parse quantity's suffix");

  const std::string_view whole = pieces->whole.empty() ? "0" : pieces->whole;
  const std::string shifted = std::string(whole) + std::string(pieces->fraction);
  const auto fraction_digits = static_cast<std::int64_t>(pieces->fraction.size());

  Quantity quantity;
  quantity.negative_ = pieces->negative;
  quantity.format_ = unit->format;
  quantity.digits_ = shifted;
  digits::TrimLeadingZeros(quantity.digits_);
  quantity.scale_ = (unit->base == 10 ? unit->exponent : 0) - fraction_digits;
  const bool fast = IsFast(*unit, static_cast<std::int64_t>(whole.size()), fraction_digits);
  if (text == "0" || (fast && KeepsText(*unit, shifted, quantity.scale_))) quantity.text_ = text;
  if (unit->base == 2) {
    for (std::int64_t i = 0; i < unit->exponent; i += 10) digits::Multiply(quantity.digits_, 1024);
  }
  quantity.Strip();
  if (fast) return quantity;

  quantity.RoundUp(kNano);
  // Go caps binary quantities at the largest int64, and writes those below 1 in decimal.
  if (unit->format == Format::kBinarySI) {
    const Quantity max(std::numeric_limits<std::int64_t>::max());
    Quantity size = quantity;
    size.negative_ = false;
    if (Compare(size, max) > 0) {
      quantity.digits_ = max.digits_;
      quantity.scale_ = max.scale_;
    }
    if (!size.is_zero() && Compare(size, Quantity(1)) < 0) quantity.format_ = Format::kDecimalSI;
  }
  return quantity;
}

void Quantity::Strip() {
  const std::size_t kept = digits_.find_last_not_of('0') + 1;
  scale_ += static_cast<std::int64_t>(digits_.size() - kept);
  digits_.resize(kept);
  if (!digits_.empty()) return;
  scale_ = 0;
  negative_ = false;
}

bool Quantity::RoundUp(std::int64_t scale) {
  if (is_zero() || scale_ >= scale) return true;
  // Stripped digits end in none that is zero, so some of what is dropped counts.
  const auto drop = static_cast<std::uint64_t>(scale - scale_);
  digits_.resize(drop < digits_.size() ? digits_.size() - drop : 0);
  digits_ = digits::Add(digits_, "1");
  scale_ = scale;
  text_.clear();
  Strip();
  return false;
}

std::string Quantity::ToString() const { return text_.empty() ? Canonical() : text_; }

std::string Quantity::Canonical() const {
  if (is_zero()) return "0";
  Format format = format_;
  const std::string sign = negative_ ? "-" : "";
  if (format == Format::kBinarySI) {
    Quantity size = *this;
    size.negative_ = false;
    // As in Quantity.CanonicalizeBytes, small values and fractions are written in decimal.
    if (Compare(size, Quantity(1024)) < 0 || scale_ < 0) {
      format = Format::kDecimalSI;
    } else {
      std::string number = digits_ + std::string(static_cast<std::size_t>(scale_), '0');
      int exponent = 0;
      for (std::string next = number; digits::Divide(next, 1024) == 0; exponent += 10) {
        number = next;
      }
      for (const Suffix& suffix : kSuffixes) {
        if (suffix.base == 2 && suffix.exponent == exponent)
          return sign + number + suffix.text.data();
      }
      return sign + number;
    }
  }
  std::string number = digits_;
  std::int64_t exponent = scale_;
  // The suffixes are three powers of ten apart: zeros are added until one of them fits.
  for (; exponent % 3 != 0; --exponent) number += '0';
  if (format == Format::kDecimalExponent) {
    return sign + number + (exponent == 0 ? "" : "e" + std::to_string(exponent));
  }
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.base == 10 && suffix.exponent == exponent) return sign + number + suffix.text.data();
  }
  return sign + number;  // As Go, which has no suffix for more than E.
}

int Quantity::sign() const { return is_zero() ? 0 : negative_ ? -1 : 1; }

std::int64_t Quantity::ScaledValue(int scale) const {
  if (is_zero()) return 0;
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  Quantity rounded = *this;
  rounded.RoundUp(scale);
  const std::int64_t zeros = rounded.scale_ - scale;
  constexpr std::int64_t kDigitsMax = 19;
  if (zeros > kDigitsMax) return negative_ ? kMin : kMax;
  rounded.digits_.append(static_cast<std::size_t>(zeros), '0');
  const std::uint64_t size = digits::ToUint64(rounded.digits_);
  if (size > static_cast<std::uint64_t>(kMax)) return negative_ ? kMin : kMax;
  return negative_ ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
}

double Quantity::AsDouble() const {
  if (is_zero()) return 0;
  const std::string text = digits_ + "e" + std::to_string(scale_);
  double size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc::result_out_of_range) size = scale_ > 0 ? HUGE_VAL : 0;
  return negative_ ? -size : size;
}

void Quantity::Negate() {
  text_.clear();
  if (!is_zero()) negative_ = !negative_;
}

void Quantity::Add(const Quantity& other) {
  text_.clear();
  if (is_zero()) format_ = other.format_;
  AddSigned(other.digits_, other.scale_, other.negative_);
}

void Quantity::Subtract(const Quantity& other) {
  text_.clear();
  if (is_zero()) format_ = other.format_;
  AddSigned(other.digits_, other.scale_, !other.negative_);
}

void Quantity::AddSigned(std::string_view digits, std::int64_t scale, bool negative) {
  if (digits.empty()) return;
  std::string other(digits);
  if (is_zero()) {
    digits_ = std::move(other);
    scale_ = scale;
    negative_ = negative;
    return;
  }
  if (std::abs(scale_ - scale) > kAlignMax) {
    if (scale_ > scale) return;
    digits_.clear();
    return AddSigned(digits, scale, negative);
  }
  if (scale_ > scale) digits_.append(static_cast<std::size_t>(scale_ - scale), '0');
  if (scale > scale_) other.append(static_cast<std::size_t>(scale - scale_), '0');
  scale_ = std::min(scale_, scale);
  if (negative == negative_) {
    digits_ = digits::Add(digits_, other);
  } else if (digits::Compare(digits_, other) >= 0) {
    digits_ = digits::Subtract(digits_, other);
  } else {
    digits_ = digits::Subtract(other, digits_);
    negative_ = negative;
  }
  Strip();
}

int Compare(const Quantity& a, const Quantity& b) {
  if (a.sign() != b.sign()) return a.sign() < b.sign() ? -1 : 1;
  if (a.is_zero()) return 0;
  const int if_larger = a.sign();
  // The position of the first digit decides; only if it is the same are there digits to compare,
  // and those are left-aligned then.
  const std::int64_t top_a = static_cast<std::int64_t>(a.digits_.size()) + a.scale_;
  const std::int64_t top_b = static_cast<std::int64_t>(b.digits_.size()) + b.scale_;
  if (top_a != top_b) return top_a < top_b ? -if_larger : if_larger;
  const int order = a.digits_.compare(b.digits_);
  return order == 0 ? 0 : order < 0 ? -if_larger : if_larger;
}

}  // namespace apiserver::v0::runtime
