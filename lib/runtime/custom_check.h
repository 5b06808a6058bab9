#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/base/field_path.h"
#include "runtime/custom_findings.h"
#include "runtime/custom_old.h"
#include "runtime/custom_path.h"

namespace apiserver::inline v0::runtime {

// Validates a value of a custom resource against its schema: kube-openapi's `validate`, with the
// ratcheting of apiextensions-apiserver. Iterative; both schema and value are a client's, so the
// work is limited too.
class CustomCheck {
 public:
  // The values and alternatives that are looked at, at most.
  static constexpr std::size_t kStepsMax = 20'000'000;

  // What is checked.
  struct Subject {
    const Schema* schema;
    Value value;
    // The value that it replaces: what is equal there is no error. Null: it is new.
    const Value* old = nullptr;
    bool whole = false;  // A whole object, which has kind and apiVersion besides its members.
    std::string_view prefix = {};  // Before the paths of errors. Empty: the object's root.
  };
  void Run(const Subject& subject, field::ErrorList& errors);

 private:
  // What is done next with a frame. In the order of kube-openapi's validators.
  enum class Phase : std::uint8_t { kAnyOf, kOneOf, kAllOf, kNot, kSelf, kItems, kMembers, kEnd };

  // How many findings there were at some time.
  struct Mark {
    std::size_t kept = 0;   // In findings_.
    std::size_t found = 0;  // Also those beyond its limit.
  };

  // A value that is being checked against a schema.
  struct Frame {
    const Schema* schema;
    Value value;
    const Value* old;
    CustomStep step;
    bool whole = false;
    Phase phase = Phase::kAnyOf;
    bool differs = false;  // A value below is known to differ from the old one.
    std::size_t next = 0;
    std::size_t field = 0;    // The field that is expected next.
    std::size_t matches = 0;  // kube-openapi's MatchCount, by which it chooses an alternative.
    std::uint32_t path = 0;   // 0: not made yet, but for the root.
    Mark begin;
    std::unique_ptr<OldItems> old_items;
  };

  // The alternatives of the innermost frame that has some.
  struct Junction {
    std::size_t valid = 0;
    std::size_t matches = 0;       // Of the first alternative that holds.
    std::size_t best_matches = 0;  // Of the one that fails least.
    std::size_t best_found = 0;
    bool failed = false;
    std::vector<CustomFinding> best = {};
  };

  // The value that a finding is about: that of the last frame, or one below it.
  struct Spot {
    const Schema& schema;
    const Value& value;
    CustomStep step;
    std::size_t size;  // The number of its members.
  };

  static bool Holds(const Schema& schema, std::string_view type);
  Mark Here() const { return {findings_.size(), found_}; }
  void Forget(const Mark& mark);
  void Report(CustomProblem problem, const Spot& spot, std::string_view name = {},
              std::size_t count = 0);
  std::uint32_t PathOf(std::size_t frame);

  void Push(const Schema& schema, const Value& value, const Value* old, const CustomStep& step);
  void Advance();
  void Alternative(std::span<const SchemaPtr> schemas);
  void EndAlternatives(CustomProblem problem, std::size_t wanted_max);
  void EndAll();
  void Self();
  void Items();
  void Members();
  const Field* NextField(Frame& frame, std::string_view key);
  void Required();
  void Below(const Schema& schema, const Value& value, const Value* old, const CustomStep& step);
  void Pop();
  void Take(const Frame& child, bool valid);

  // Check one thing each, and return the matches.
  std::size_t Null(const Spot& spot);
  std::size_t Type(const Spot& spot);
  std::size_t Text(const Spot& spot);
  std::size_t Number(const Spot& spot);
  std::size_t Scalar(const Spot& spot);
  void Bounds(const Spot& spot);
  void Multiple(const Spot& spot);
  void Enum(const Spot& spot);
  void ListSize(const Spot& spot);
  void MapSize(const Spot& spot);

  std::vector<Frame> frames_;
  std::vector<Junction> junctions_;
  std::vector<CustomFinding> findings_;
  CustomPaths paths_;
  std::size_t found_ = 0;
  std::size_t steps_ = 0;
  bool new_ = false;  // Nothing is ratcheted, so that findings outside junctors are final.
};

}  // namespace apiserver::inline v0::runtime
