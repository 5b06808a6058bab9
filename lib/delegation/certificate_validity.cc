#include "delegation/certificate_validity.h"

#include <chrono>

namespace apiserver::v0::delegation {

namespace {

using std::chrono::hours;

// The validity left below which a certificate causes a warning.
constexpr hours kSoon(24 * 14);

}  // namespace

Finding ValidityOf(const std::string& check, const http::CertificateFacts& facts, Clock::Wall now) {
  using Level = Finding::Level;
  if (now > facts.not_after) {
    return {Level::kProblem, check, facts.subject + " has expired", "Renew it."};
  }
  if (now < facts.not_before) {
    return {Level::kProblem, check, facts.subject + " is not valid yet",
            "Check the clocks of this machine and of the one that made it."};
  }
  if (facts.not_after - now < kSoon) {
    const auto left = std::chrono::duration_cast<hours>(facts.not_after - now).count();
    return {Level::kWarning, check,
            facts.subject + " expires in " + std::to_string(left) + " hours", "Renew it."};
  }
  return {Level::kOk, check, facts.subject};
}

}  // namespace apiserver::v0::delegation
