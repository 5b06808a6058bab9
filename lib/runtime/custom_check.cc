#include "runtime/custom_check.h"
#include "runtime/value_kinds.h"

#include <utility>

namespace apiserver::v0::runtime {

namespace {

// Findings that are kept; later ones only make a value invalid.
constexpr std::size_t kFindingsMax = 100'000;

bool IsTypeMeta(std::string_view name) { return name == "apiVersion" || name == "kind"; }

}  // namespace

void CustomCheck::Run(const Subject& subject, field::ErrorList& errors) {
  new_ = subject.old == nullptr;
  Push(*subject.schema, subject.value, subject.old, {});
  frames_.back().whole = subject.whole;
  while (!frames_.empty() && steps_ <= kStepsMax) {
    ++steps_;
    // Nobody is told of more; the rest need not be looked for.
    const bool enough = found_ > field::kErrorsMax + field::kMoreCountedMax;
    if (enough && new_ && junctions_.empty()) break;
    Advance();
  }
  WriteFindings(findings_, paths_, subject.prefix, errors);
  if (steps_ > kStepsMax) {
    errors.Internal(field::Path(std::string(subject.prefix)),
                    "the object and its schema are too large together to be validated");
  }
}

void CustomCheck::Forget(const Mark& mark) {
  findings_.resize(mark.kept, {CustomProblem::kType, 0, nullptr, {}});
  found_ = mark.found;
}

void CustomCheck::Report(CustomProblem problem, const Spot& spot, std::string_view name,
                         std::size_t count) {
  ++found_;
  if (findings_.size() >= kFindingsMax) return;
  const std::uint32_t path = paths_.Below(PathOf(frames_.size() - 1), spot.step);
  findings_.push_back({problem, path, &spot.schema, spot.value, name, count});
}

// Makes the paths of the frames above that have none yet.
std::uint32_t CustomCheck::PathOf(std::size_t frame) {
  std::size_t known = frame;
  while (known > 0 && frames_[known].path == 0) --known;
  for (; known < frame; ++known) {
    frames_[known + 1].path = paths_.Below(frames_[known].path, frames_[known + 1].step);
  }
  return frames_[frame].path;
}

void CustomCheck::Push(const Schema& schema, const Value& value, const Value* old,
                       const CustomStep& step) {
  Frame frame{&schema, value, old, step};
  frame.begin = Here();
  if (schema.has_junctors()) {
    junctions_.emplace_back();
  }
  // Of null only type and enum are checked.
  if (!schema.has_junctors() || value.is_null()) frame.phase = Phase::kSelf;
  frames_.push_back(std::move(frame));
}

void CustomCheck::Advance() {
  Frame& frame = frames_.back();
  const Schema& schema = *frame.schema;
  switch (frame.phase) {
    case Phase::kAnyOf:
      if (frame.next < schema.any_of().size()) return Alternative(schema.any_of());
      return EndAlternatives(CustomProblem::kAnyOf, schema.any_of().size());
    case Phase::kOneOf:
      if (frame.next < schema.one_of().size()) return Alternative(schema.one_of());
      return EndAlternatives(CustomProblem::kOneOf, schema.one_of().empty() ? 0 : 1);
    case Phase::kAllOf:
      if (frame.next < schema.all_of().size()) return Alternative(schema.all_of());
      return EndAll();
    case Phase::kNot:
      if (frame.next == 0 && schema.not_of() != nullptr) return Alternative({&schema.not_of(), 1});
      frame.phase = Phase::kSelf;
      frame.next = 0;
      return;
    case Phase::kSelf:
      return Self();
    case Phase::kItems:
      return Items();
    case Phase::kMembers:
      return Members();
    case Phase::kEnd:
      return Pop();
  }
}

// Checks the same value against the next schema of a junctor. The old value plays no part there.
void CustomCheck::Alternative(std::span<const SchemaPtr> schemas) {
  Frame& frame = frames_.back();
  const Schema& schema = *schemas[frame.next++];
  const Value value = frame.value;
  const bool whole = frame.whole;
  Push(schema, value, nullptr, {});
  frames_.back().whole = whole;
}

// Ends anyOf and oneOf, of whose schemas at least one and at most `wanted_max` must hold. The
// findings about the schema that fails least are told.
void CustomCheck::EndAlternatives(CustomProblem problem, std::size_t wanted_max) {
  Frame& frame = frames_.back();
  Junction& junction = junctions_.back();
  if (wanted_max > 0 && (junction.valid == 0 || junction.valid > wanted_max)) {
    Report(problem, {*frame.schema, frame.value, {}, 0}, {}, junction.valid);
    if (junction.failed) {
      found_ += junction.best_found;
      findings_.insert(findings_.end(), junction.best.begin(), junction.best.end());
      frame.matches += junction.best_matches;
    }
  } else {
    frame.matches += junction.matches;
  }
  junction = Junction();
  frame.next = 0;
  frame.phase = problem == CustomProblem::kAnyOf ? Phase::kOneOf : Phase::kAllOf;
}

void CustomCheck::EndAll() {
  Frame& frame = frames_.back();
  const std::size_t valid = junctions_.back().valid;
  if (valid != frame.schema->all_of().size()) {
    Report(CustomProblem::kAllOf, {*frame.schema, frame.value, {}, 0}, {}, valid);
  }
  junctions_.back() = Junction();
  frame.next = 0;
  frame.phase = Phase::kNot;
}

// Checks the value itself, and then goes on to what it holds.
void CustomCheck::Self() {
  Frame& frame = frames_.back();
  // Go counts kind and apiVersion, too.
  const std::size_t size = frame.value.size() + (frame.whole ? 2 : 0);
  const Spot spot{*frame.schema, frame.value, {}, size};
  std::size_t matches = Scalar(spot);
  if (frame.value.is_list()) matches += 1;
  frame.matches += matches;
  frame.phase = frame.value.is_list()  ? Phase::kItems
                : frame.value.is_map() ? Phase::kMembers
                                       : Phase::kEnd;
  if (frame.value.is_list()) ListSize(spot);
  if (frame.value.is_map()) MapSize(spot);
}

void CustomCheck::Items() {
  const std::size_t depth = frames_.size();
  const Schema* const schema = CustomItems(*frames_.back().schema);
  while (schema != nullptr && frames_.size() == depth) {
    Frame& frame = frames_.back();
    if (frame.next == frame.value.size()) break;
    const std::size_t at = frame.next++;
    const Value& item = frame.value.items()[at];
    const Value* old = nullptr;
    const bool keyed = frame.schema->list_type == Schema::ListType::kMap;
    if (keyed && frame.old != nullptr && frame.old->is_list()) {
      if (!frame.old_items) frame.old_items = std::make_unique<OldItems>(*frame.schema, *frame.old);
      old = frame.old_items->Find(item);
    }
    Below(*schema, item, old, {CustomStep::Kind::kItem, {}, at});
  }
  if (frames_.size() == depth) frames_.back().phase = Phase::kEnd;
}

// Returns the field of that name. Members are sorted, and so are the fields of many schemas.
const Field* CustomCheck::NextField(Frame& frame, std::string_view key) {
  const std::span<const Field> fields = frame.schema->fields();
  if (frame.field < fields.size() && fields[frame.field].name() == key) {
    return &fields[frame.field++];
  }
  steps_ += fields.size() / 8;
  const Field* const found = frame.schema->FindField(key);
  if (found != nullptr && found >= fields.data() && found < fields.data() + fields.size()) {
    frame.field = static_cast<std::size_t>(found - fields.data()) + 1;
  }
  return found;
}

void CustomCheck::Members() {
  const std::size_t depth = frames_.size();
  while (frames_.size() == depth) {
    Frame& frame = frames_.back();
    if (frame.next == frame.value.size()) break;
    const Member& member = frame.value.members()[frame.next++];
    // The metadata of an object has rules of its own; a definition may restrict names.
    const bool metadata = frame.whole && member.key == "metadata";
    const Field* const field = NextField(frame, member.key);
    bool additional = field == nullptr;
    const Schema* schema = field != nullptr ? field->schema.get() : nullptr;
    if (metadata && schema == ObjectMetaSchema().get()) continue;
    if (additional) {
      if (frame.schema->closed() && !(frame.whole && IsTypeMeta(member.key))) {
        Report(CustomProblem::kForbidden, {*frame.schema, frame.value, {}, 0}, member.key);
        continue;
      }
      schema = CustomMember(*frame.schema, member.key, additional);
    }
    if (schema == nullptr) continue;
    const Value* const old =
        frame.old != nullptr && frame.old->is_map() ? frame.old->Find(member.key) : nullptr;
    const auto kind = additional ? CustomStep::Kind::kAdditional : CustomStep::Kind::kField;
    Below(*schema, member.value, old, {kind, member.key, 0});
  }
  if (frames_.size() != depth) return;
  Required();
  frames_.back().phase = Phase::kEnd;
}

void CustomCheck::Required() {
  Frame& frame = frames_.back();
  const Spot spot{*frame.schema, frame.value, {}, 0};
  for (const Field& field : frame.schema->fields()) {
    if (!field.required || frame.value.Find(field.name()) != nullptr) continue;
    Report(CustomProblem::kRequired, spot, field.name());
  }
  for (const std::string_view name : frame.schema->required_names()) {
    if (frame.value.Find(name) != nullptr || (frame.whole && IsTypeMeta(name))) continue;
    Report(CustomProblem::kRequired, spot, name);
  }
}

// Checks a value in the last frame: at once, or in a frame of its own.
void CustomCheck::Below(const Schema& schema, const Value& value, const Value* old,
                        const CustomStep& step) {
  ++steps_;
  if (IsContainer(value) || schema.has_junctors()) return Push(schema, value, old, step);
  const Mark begin = Here();
  const std::size_t matches = Scalar({schema, value, step, 0});
  Frame& frame = frames_.back();
  frame.matches += matches;
  if (found_ == begin.found || old == nullptr) return;
  if (*old == value) {
    Forget(begin);
  } else {
    frame.differs = true;
  }
}

void CustomCheck::Pop() {
  Frame& frame = frames_.back();
  bool valid = found_ == frame.begin.found;
  bool differs = frame.differs;
  if (!valid && frame.old != nullptr) {
    differs = differs || !SameAsOld(*frame.schema, frame.value, *frame.old, steps_);
    if (!differs) {
      Forget(frame.begin);
      valid = true;
    }
  }
  const Frame child = std::move(frame);
  frames_.pop_back();
  if (child.schema->has_junctors()) junctions_.pop_back();
  if (frames_.empty()) return;
  if (differs && child.old != nullptr) frames_.back().differs = true;
  Take(child, valid);
}

// Hands the result of a frame to the one above.
void CustomCheck::Take(const Frame& child, bool valid) {
  Frame& frame = frames_.back();
  const bool any = frame.phase == Phase::kAnyOf;
  if (any || frame.phase == Phase::kOneOf) {
    Junction& junction = junctions_.back();
    if (valid) {
      if (++junction.valid == 1) junction.matches = child.matches;
      junction.failed = false;
      junction.best.clear();
      if (any) frame.next = frame.schema->any_of().size();
    } else if (junction.valid == 0 && (!junction.failed || child.matches > junction.best_matches)) {
      const auto begin = findings_.begin() + static_cast<std::ptrdiff_t>(child.begin.kept);
      junction.best.assign(begin, findings_.end());
      junction.best_found = found_ - child.begin.found;
      junction.best_matches = child.matches;
      junction.failed = true;
    }
    return Forget(child.begin);
  }
  if (frame.phase == Phase::kNot) {
    Forget(child.begin);
    if (valid) Report(CustomProblem::kNot, {*frame.schema, frame.value, {}, 0});
    return;
  }
  if (frame.phase == Phase::kAllOf && valid) ++junctions_.back().valid;
  frame.matches += child.matches;
}

}  // namespace apiserver::v0::runtime
