#include "patch/strategic_order.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::patch {

using runtime::Value;

namespace {

bool Less(const Ranked& a, const Ranked& b) {
  return a.own_rank < 0 || b.own_rank < 0 || a.own_rank < b.own_rank;
}

// Merge sort in place by symmetric comparisons (Kim and Kutzner), over blocks that were sorted by
// insertion, as Go's stable sort works. It ends even if Less() is inconsistent.
class StableSort {
 public:
  explicit StableSort(std::vector<Ranked>& elements) : elements_(elements) {}

  void Run() {
    const std::size_t size = elements_.size();
    std::size_t block = 20;
    for (std::size_t begin = 0; begin < size; begin += block) {
      Insert(begin, std::min(begin + block, size));
    }
    for (; block < size; block *= 2) {
      for (std::size_t begin = 0; begin + block < size; begin += 2 * block) {
        Merge({begin, begin + block, std::min(begin + 2 * block, size)});
      }
    }
  }

 private:
  // Two sorted neighbours.
  struct Halves {
    std::size_t begin;
    std::size_t middle;
    std::size_t end;
  };

  bool LessAt(std::size_t a, std::size_t b) const { return Less(elements_[a], elements_[b]); }
  auto At(std::size_t index) { return elements_.begin() + static_cast<std::ptrdiff_t>(index); }

  void Insert(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin + 1; i < end; ++i) {
      for (std::size_t j = i; j > begin && LessAt(j, j - 1); --j) {
        std::swap(elements_[j], elements_[j - 1]);
      }
    }
  }

  void Merge(const Halves& all) {
    std::vector<Halves> left = {all};
    while (!left.empty()) {
      const Halves halves = left.back();
      left.pop_back();
      if (halves.middle - halves.begin == 1) {
        InsertFirst(halves);
      } else if (halves.end - halves.middle == 1) {
        InsertLast(halves);
      } else {
        Split(halves, left);
      }
    }
  }

  // A single element on the left goes before its equals, one on the right behind them: the sort
  // stays stable.
  void InsertFirst(const Halves& halves) {
    std::size_t low = halves.middle;
    for (std::size_t high = halves.end; low < high;) {
      const std::size_t at = (low + high) / 2;
      if (LessAt(at, halves.begin)) {
        low = at + 1;
      } else {
        high = at;
      }
    }
    std::rotate(At(halves.begin), At(halves.begin + 1), At(low));
  }

  void InsertLast(const Halves& halves) {
    std::size_t low = halves.begin;
    for (std::size_t high = halves.middle; low < high;) {
      const std::size_t at = (low + high) / 2;
      if (!LessAt(halves.middle, at)) {
        low = at + 1;
      } else {
        high = at;
      }
    }
    std::rotate(At(low), At(halves.middle), At(halves.middle + 1));
  }

  void Split(const Halves& halves, std::vector<Halves>& left) {
    const auto [begin, middle, end] = halves;
    const std::size_t centre = (begin + end) / 2;
    const std::size_t sum = centre + middle;
    std::size_t start = middle > centre ? sum - end : begin;
    for (std::size_t stop = middle > centre ? centre : middle; start < stop;) {
      const std::size_t at = (start + stop) / 2;
      if (!LessAt(sum - 1 - at, at)) {
        start = at + 1;
      } else {
        stop = at;
      }
    }
    const std::size_t stop = sum - start;
    if (start < middle && middle < stop) std::rotate(At(start), At(middle), At(stop));
    if (begin < start && start < centre) left.push_back({begin, start, centre});
    if (centre < stop && stop < end) left.push_back({centre, stop, end});
  }

  std::vector<Ranked>& elements_;
};

}  // namespace

Ranks::Ranks(const std::vector<ScalarKey>& keys_in_order) {
  places_.reserve(keys_in_order.size());
  std::ptrdiff_t rank = 0;
  for (const ScalarKey& key : keys_in_order) places_.push_back({key, rank++});
  std::stable_sort(places_.begin(), places_.end(),
                   [](const Place& a, const Place& b) { return a.key < b.key; });
}

std::ptrdiff_t Ranks::Of(const ScalarKey& key) const {
  const auto found = std::lower_bound(
      places_.begin(), places_.end(), key,
      [](const Place& place, const ScalarKey& wanted) { return place.key < wanted; });
  return found == places_.end() || !(found->key == key) ? -1 : found->rank;
}

bool IsScalar(const Value& value) { return !value.is_map() && !value.is_list(); }

ScalarKey KeyOfScalar(const Value& value) {
  switch (value.type()) {
    case Value::Type::kBool:
      return {.type = value.type(), .text = "", .whole = value.AsBool() ? 1 : 0};
    case Value::Type::kInt:
      return {.type = value.type(), .text = "", .whole = value.AsInt()};
    case Value::Type::kDouble:
      return {.type = value.type(), .text = "", .number = value.AsDouble()};
    default:
      return {.type = value.type(), .text = value.AsString()};
  }
}

void SortByRank(std::vector<Ranked>& elements) {
  const bool ranked = std::all_of(elements.begin(), elements.end(),
                                  [](const Ranked& each) { return each.own_rank >= 0; });
  // With all ranks known Less() is an order, and every stable sort has the same result. Otherwise
  // the result depends on the algorithm, which must be Go's.
  if (ranked) {
    std::stable_sort(elements.begin(), elements.end(), Less);
  } else {
    StableSort(elements).Run();
  }
}

Nodes MergeSorted(std::span<const Ranked> server_only, std::span<const Ranked> patch) {
  Nodes merged;
  merged.reserve(server_only.size() + patch.size());
  while (!server_only.empty() && !patch.empty()) {
    const std::ptrdiff_t left = server_only.front().server_rank;
    const std::ptrdiff_t right = patch.front().server_rank;
    std::span<const Ranked>& next = left >= 0 && right >= 0 && left < right ? server_only : patch;
    merged.push_back(next.front().node);
    next = next.subspan(1);
  }
  for (const Ranked& each : server_only) merged.push_back(each.node);
  for (const Ranked& each : patch) merged.push_back(each.node);
  return merged;
}

}  // namespace apiserver::v0::patch
