#include "program/nearest.h"

#include <algorithm>
#include <cstddef>

namespace apiserver::v0::program {

namespace {

// Optimal string alignment distance: Levenshtein's, in which two neighbours swapped are one
// mistake, because that is how flags are mistyped most.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

// At most a third of the letters may differ, so that no suggestion is far-fetched.
std::string Nearest(std::string_view name, const std::vector<std::string>& known) {
  std::size_t least = name.size() / 3 + 1;
  std::string nearest;
  for (const std::string& each : known) {
    const std::size_t distance = Distance(name, each);
    if (distance >= least) continue;
    least = distance;
    nearest = each;
  }
  return nearest;
}

}  // namespace apiserver::v0::program
