#include <algorithm>
#include <unordered_map>
#include <utility>

#include "apiserver/testing/storage/history.h"

namespace apiserver::v0::testing::storage {
namespace {

using Outcome = Operation::Outcome;
using Verb = Operation::Verb;

// The state of the key. Revision or uid zero: not known.
struct State {
  std::int64_t value = 0;  // Zero: absent.
  std::int64_t revision = 0;
  std::int64_t uid = 0;

  bool absent() const { return value == 0; }
  friend bool operator==(const State&, const State&) = default;
};

bool MayBe(std::int64_t known, std::int64_t wanted) {
  return known == 0 || wanted == 0 || known == wanted;
}

bool Meets(const State& state, const Operation& op) {
  return MayBe(state.revision, op.wanted_revision) && MayBe(state.uid, op.wanted_uid);
}

// Returns whether a precondition may be unmet; what is not known may differ.
bool MayConflict(const State& state, const Operation& op) {
  const auto differs = [](std::int64_t known, std::int64_t wanted) {
    return wanted != 0 && (known == 0 || known != wanted);
  };
  return differs(state.revision, op.wanted_revision) || differs(state.uid, op.wanted_uid);
}

bool StepFailed(const State& state, const Operation& op) {
  switch (op.reason) {
    case Reason::kNotFound:
      return state.absent();
    case Reason::kAlreadyExists:
      return !state.absent();
    case Reason::kConflict:
      return !state.absent() && MayConflict(state, op);
    default:
      return true;
  }
}

// Applies `op` to `state`. False: it cannot take place there.
bool Step(State& state, const Operation& op) {
  if (op.outcome == Outcome::kFailed) return StepFailed(state, op);
  switch (op.verb) {
    case Verb::kCreate:
      if (!state.absent()) return false;
      state = {op.value, op.revision, op.uid};
      return true;
    case Verb::kGet:
      if (state.value != op.value || !MayBe(state.revision, op.revision)) return false;
      if (!MayBe(state.uid, op.uid)) return false;
      if (op.revision != 0) state.revision = op.revision;
      return true;
    case Verb::kUpdate:
      if (state.absent() || !MayBe(state.revision, op.based_on) || !Meets(state, op)) return false;
      if (op.revision != 0 && state.revision >= op.revision) return false;
      state.value = op.value;
      state.revision = op.revision;
      return true;
    case Verb::kDelete:
      if (state.absent() || !MayBe(state.revision, op.based_on) || !Meets(state, op)) return false;
      if (op.value != 0 && op.value != state.value) return false;
      state = {};
      return true;
  }
  return false;
}

// A call or an answer in the doubly linked list of those that are not yet in the order.
struct Node {
  std::size_t operation = 0;
  bool is_call = false;
  Node* answer = nullptr;  // The answer of a call. Null: it never came.
  Node* before = nullptr;
  Node* after = nullptr;
};

using Bits = std::vector<std::uint64_t>;

// The configurations that led nowhere: the operations in the order, and the state after them.
class Memory {
 public:
  bool Add(const Bits& done, const State& state) {
    std::uint64_t hash = Mix(static_cast<std::uint64_t>(state.value));
    hash = Mix(hash ^ static_cast<std::uint64_t>(state.revision));
    for (const std::uint64_t word : done) hash = Mix(hash ^ word);
    auto& same = seen_[hash];
    for (const auto& [bits, other] : same) {
      // The hash only finds candidates: a collision must not cut off a correct order.
      if (other == state && bits == done) return false;
    }
    same.emplace_back(done, state);
    return true;
  }

 private:
  static std::uint64_t Mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  std::unordered_map<std::uint64_t, std::vector<std::pair<Bits, State>>> seen_;
};

class Search {
 public:
  explicit Search(const std::vector<Operation>& operations)
      : operations_(operations), done_((operations.size() + 63) / 64) {
    Build();
  }

  std::size_t stuck() const { return stuck_; }

  Verdict Run(std::size_t steps_max) {
    Node* node = head_.after;
    for (std::size_t steps = 0; left_ > 0; ++steps) {
      // The search is exponential in the worst case.
      if (steps > steps_max) return Verdict::kUnknown;
      if (node != nullptr && node->is_call) {
        node = TryCall(*node) ? head_.after : node->after;
        continue;
      }
      // An answer whose call is not in the order: what was put there last was wrong.
      if (node != nullptr && order_.size() >= longest_) {
        longest_ = order_.size();
        stuck_ = node->operation;
      }
      if (order_.empty()) return Verdict::kNotLinearizable;
      node = Undo();
    }
    return Verdict::kLinearizable;
  }

 private:
  struct Chosen {
    Node* node;
    State state;  // Before it.
  };

  // An operation without an answer may have had no effect, and need not be in the order.
  bool Required(std::size_t i) const { return operations_[i].outcome != Outcome::kUnknown; }

  void Build() {
    struct Moment {
      std::int64_t time;
      Node* node;
    };
    nodes_.resize(operations_.size() * 2);
    std::vector<Moment> moments;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Operation& op = operations_[i];
      Node* call = &nodes_[2 * i];
      Node* answer = &nodes_[2 * i + 1];
      *call = {i, true};
      *answer = {i, false};
      moments.push_back({op.invoked, call});
      if (Required(i)) ++left_;
      // An operation without an answer stays a candidate for any later place.
      if (Required(i) && op.returned != kNever) {
        call->answer = answer;
        moments.push_back({op.returned, answer});
      }
    }
    // Histories written by hand may give one moment twice: then the first operation comes first.
    std::stable_sort(moments.begin(), moments.end(),
                     [](const Moment& a, const Moment& b) { return a.time < b.time; });
    Node* last = &head_;
    for (const Moment& moment : moments) {
      last->after = moment.node;
      moment.node->before = last;
      last = moment.node;
    }
  }

  bool TryCall(Node& node) {
    State next = state_;
    if (!Step(next, operations_[node.operation])) return false;
    Flip(node.operation);
    // The same operations led to the same state before, and nowhere from there.
    if (!memory_.Add(done_, next)) {
      Flip(node.operation);
      return false;
    }
    order_.push_back({&node, state_});
    state_ = next;
    Unlink(node);
    if (node.answer != nullptr) Unlink(*node.answer);
    if (Required(node.operation)) --left_;
    return true;
  }

  Node* Undo() {
    const Chosen last = order_.back();
    order_.pop_back();
    state_ = last.state;
    Flip(last.node->operation);
    if (last.node->answer != nullptr) Link(*last.node->answer);
    Link(*last.node);
    if (Required(last.node->operation)) ++left_;
    return last.node->after;
  }

  void Flip(std::size_t i) { done_[i / 64] ^= std::uint64_t{1} << (i % 64); }
  static void Unlink(Node& node) {
    node.before->after = node.after;
    if (node.after != nullptr) node.after->before = node.before;
  }
  static void Link(Node& node) {
    node.before->after = &node;
    if (node.after != nullptr) node.after->before = &node;
  }

  const std::vector<Operation>& operations_;
  std::vector<Node> nodes_;
  Node head_;
  Bits done_;
  State state_;
  std::size_t left_ = 0;
  std::vector<Chosen> order_;
  Memory memory_;
  std::size_t longest_ = 0;  // The longest order that met the answer of an operation outside of it.
  std::size_t stuck_ = 0;    // That operation.
};

}  // namespace

Verdict CheckLinearizable(const std::vector<Operation>& operations, std::size_t steps_max,
                          Operation* stuck) {
  Search search(operations);
  const Verdict verdict = search.Run(steps_max);
  if (stuck != nullptr && !operations.empty()) *stuck = operations[search.stuck()];
  return verdict;
}

}  // namespace apiserver::v0::testing::storage
