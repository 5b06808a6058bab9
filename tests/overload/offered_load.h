#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/dialer.h"

// Requests that are sent when it is time, whatever became of the ones before.
namespace overload {

// What became of one client's requests.
struct Tally {
  std::uint64_t sent = 0;
  std::uint64_t good = 0;       // 200.
  std::uint64_t refused = 0;    // 429.
  std::uint64_t broken = 0;     // Anything else, or no answer.
  std::vector<double> seconds;  // Of the good ones, from the moment each was due.

  double Percentile(double p) const;
};

struct Offer {
  std::string user;
  double per_second;
};

// Offers all of them side by side for `duration` and waits for the answers; in the order of
// `offers`.
std::vector<Tally> Run(const std::vector<std::shared_ptr<apiserver::http::Connection>>& connections,
                       const std::vector<Offer>& offers, std::chrono::milliseconds duration);

// Sends a request of `user`'s whenever one of `clients` has been answered; returns good ones a
// second.
double Peak(const std::vector<std::shared_ptr<apiserver::http::Connection>>& connections,
            const std::string& user, int clients, std::chrono::milliseconds duration);

}  // namespace overload
