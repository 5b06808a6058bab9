#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "cel/rules/correlate.h"
#include "cel/rules/rule_tree.h"
#include "cel/run/print.h"
#include "cel/run/views.h"
#include "text/base64.h"
#include "text/trim.h"

namespace apiserver::v0::cel {
namespace {

using runtime::SchemaType;
using Data = runtime::Value;

// The longest text that a messageExpression may yield; of a longer one the message is used.
constexpr std::size_t kMessageBytesMax = 5120;
constexpr std::string_view kOutOfBudget =
    "validation failed due to running out of cost budget, no further validation rules will be run";
constexpr std::string_view kMessageOutOfBudget =
    "messageExpression evaluation failed due to running out of cost budget, no further validation "
    "rules will be run";

// Prints a value as an error shows it. Objects and lists are left out.
std::string Printed(const Data& value, std::string_view type, Arena& arena) {
  if (type == "object" || type == "array") return "";
  switch (value.type()) {
    case Data::Type::kBool:
      return value.AsBool() ? "true" : "false";
    case Data::Type::kInt:
      return std::to_string(value.AsInt());
    case Data::Type::kDouble:
      return PrintValue(Value::Double(value.AsDouble()), arena);
    case Data::Type::kString:
      return field::QuoteShort(value.AsString());
    case Data::Type::kBytes: {
      std::string base64;
      text::AppendBase64(value.AsString(), base64);
      return field::QuoteShort(base64);
    }
    default: {
      std::string json;
      codec::AppendJson(value, json);
      return json;
    }
  }
}

// One validation of an object: the values on the way from it to the one whose rules run now.
class RuleWalk {
 public:
  RuleWalk(const RuleSubject& subject, const Budget& budget, Scratch& scratch,
           const Context& context)
      : subject_(subject), budget_(budget), scratch_(scratch), context_(context) {
    frames_.reserve(kUsualDepth);
  }

  RuleFindings Run(const RuleNode& root);

 private:
  struct Frame {
    const RuleNode* node;
    const Data* value;
    std::size_t at;        // The place among the items or members of the frame before it.
    std::size_t next = 0;  // The item or member that is visited next.
    // The old value, once it was looked for. Null: there is none.
    const Data* old = nullptr;
    bool old_known = false;
    std::unique_ptr<OldItems> old_items = nullptr;
  };

  void Enter(const RuleNode* node, const Data& value, std::size_t at);
  bool EnterNext();
  const Data* OldOf(std::size_t depth);
  const Data* OldChild(Frame& parent, const Frame& child);
  bool Ratchets();

  void RunRules(const RuleNode& node);
  void RunRule(const RuleNodeEntry& rule);
  void TellFailure(const RuleNodeEntry& rule, const Outcome& outcome);
  void TellFalse(const RuleNodeEntry& rule);
  std::optional<std::string> MessageOf(const RuleNodeEntry& rule);
  template <class Write>
  void Add(const RuleNodeEntry& rule, const Write& write);
  void Invalid(std::string detail);
  void End(std::string detail);

  Value ViewOf(const Data& value);
  field::Path Path() const;
  // The type as the schema says it, which stands for the value where a rule did not run.
  std::string_view TypeWord() const { return OpenApiType(*frames_.back().node->schema); }

  const RuleSubject& subject_;
  Budget budget_;
  Scratch& scratch_;
  const Context& context_;
  RuleFindings findings_;
  bool ended_ = false;
  // Room for the frames of most objects, so that validating them takes nothing from the heap.
  static constexpr std::size_t kUsualDepth = 12;
  alignas(Frame) std::array<std::byte, kUsualDepth * sizeof(Frame)> room_;
  std::pmr::monotonic_buffer_resource resource_{room_.data(), room_.size()};
  std::pmr::vector<Frame> frames_{&resource_};
  // The values of the innermost frame as expressions see them.
  Value self_;
  Value old_self_;
  bool has_old_ = false;
};

RuleFindings RuleWalk::Run(const RuleNode& root) {
  Enter(&root, subject_.object, 0);
  while (!frames_.empty() && !ended_ && !findings_.errors.full()) {
    if (!EnterNext()) frames_.pop_back();
  }
  findings_.remaining = ended_ ? -1 : budget_.remaining;
  return std::move(findings_);
}

// Runs the rules about a value; those below it come afterwards.
void RuleWalk::Enter(const RuleNode* node, const Data& value, std::size_t at) {
  if (node == nullptr || value.is_null()) return;
  frames_.push_back(Frame{.node = node, .value = &value, .at = at});
  RunRules(*node);
}

// Enters the next part of the innermost value. False: all were visited.
bool RuleWalk::EnterNext() {
  Frame& frame = frames_.back();
  const RuleNode& node = *frame.node;
  const std::size_t at = frame.next++;
  if (frame.value->is_list()) {
    const bool ends = node.items == nullptr || node.schema->type != SchemaType::kList;
    if (ends || at >= frame.value->size()) return false;
    Enter(node.items, frame.value->items()[at], at);
    return true;
  }
  if (at >= frame.value->members().size()) return false;
  const runtime::Member& member = frame.value->members()[at];
  const bool is_map = node.schema->type == SchemaType::kMap;
  Enter(is_map ? node.items : node.MemberNode(member.key), member.value, at);
  return true;
}

// Returns the old value of a frame's value. Found when it is first asked for, as most updates break
// no rule.
const Data* RuleWalk::OldOf(std::size_t depth) {
  std::size_t known = depth;
  while (known > 0 && !frames_[known].old_known) --known;
  Frame& first = frames_[known];
  if (!first.old_known) {
    first.old = subject_.old;
    first.old_known = true;
  }
  for (std::size_t i = known + 1; i <= depth; ++i) {
    frames_[i].old = OldChild(frames_[i - 1], frames_[i]);
    frames_[i].old_known = true;
  }
  const Data* const old = frames_[depth].old;
  return old == nullptr || old->is_null() ? nullptr : old;
}

const Data* RuleWalk::OldChild(Frame& parent, const Frame& child) {
  if (parent.old == nullptr) return nullptr;
  if (parent.value->is_map()) {
    return FindMember(parent.old->members(), parent.value->members()[child.at].key);
  }
  const RuleNode& node = *parent.node;
  if (node.schema->list_type != runtime::Schema::ListType::kMap) return nullptr;
  if (parent.old_items == nullptr) {
    parent.old_items = std::make_unique<OldItems>(node.list_keys, parent.old->items());
  }
  return parent.old_items->Find(*child.value);
}

// Tells if an update left the value as it was, or the nearest value around it that has an old one.
bool RuleWalk::Ratchets() {
  if (!subject_.ratchet || subject_.old == nullptr) return false;
  std::size_t depth = frames_.size() - 1;
  const Frame& root = frames_.front();
  if (depth == 1 && root.value->is_map()) {
    // The server sets these, so that both objects have the new ones.
    const std::string_view key = root.value->members()[frames_[1].at].key;
    if (key == "apiVersion" || key == "kind") return false;
  }
  while (depth > 0 && OldOf(depth) == nullptr) --depth;
  // Every write of a resource changes its metadata, of which the schema says nothing.
  if (depth == 0 && !subject_.api_version.empty()) return false;
  const Data* const old = OldOf(depth);
  const Frame& frame = frames_[depth];
  return old != nullptr && SameAsOld(*frame.value, *old, *frame.node->schema);
}

// Returns a value as expressions see it. The whole object gets its apiVersion and kind back.
Value RuleWalk::ViewOf(const Data& value) {
  const runtime::Schema* const view = frames_.back().node->view;
  const bool whole = frames_.size() == 1 && !subject_.api_version.empty() && value.is_map();
  if (!whole) return Value::FromData(value, view, scratch_.arena());
  const std::span<const runtime::Member> members = value.members();
  const std::span<runtime::Member> all = scratch_.arena().New<runtime::Member>(members.size() + 2);
  std::copy(members.begin(), members.end(), all.begin());
  all[members.size()] = {"apiVersion", Data::String(subject_.api_version)};
  all[members.size() + 1] = {"kind", Data::String(subject_.kind)};
  return Value::FromData(Data::Map(all), view, scratch_.arena());
}

field::Path RuleWalk::Path() const {
  field::Path path = subject_.path;
  for (std::size_t i = 1; i < frames_.size(); ++i) {
    const Frame& parent = frames_[i - 1];
    const std::size_t at = frames_[i].at;
    if (parent.value->is_list()) {
      path = path.Index(at);
    } else if (parent.node->schema->type == SchemaType::kMap) {
      path = path.Key(parent.value->members()[at].key);
    } else {
      path = path.Child(parent.value->members()[at].key);
    }
  }
  return path;
}

void RuleWalk::Invalid(std::string detail) {
  findings_.errors.Invalid(Path(), TypeWord(), std::move(detail));
}

// Adds the error after which no more rules run.
void RuleWalk::End(std::string detail) {
  Invalid(std::move(detail));
  ended_ = true;
}

void RuleWalk::RunRules(const RuleNode& node) {
  if (!node.error.empty()) return Invalid("rule compiler initialization error: " + node.error);
  if (node.rules.empty()) return;
  if (budget_.remaining <= 0) return End(std::string(kOutOfBudget));
  scratch_.Reset();
  self_ = ViewOf(*frames_.back().value);
  const Data* const old = node.uses_old_self ? OldOf(frames_.size() - 1) : nullptr;
  has_old_ = old != nullptr;
  if (has_old_) old_self_ = ViewOf(*old);
  for (const RuleNodeEntry& rule : node.rules) {
    RunRule(rule);
    if (ended_) return;
  }
}

void RuleWalk::RunRule(const RuleNodeEntry& rule) {
  const CompiledRule& compiled = rule.compiled;
  if (!compiled.error.empty()) return Invalid("rule compile error: " + compiled.error);
  if (!compiled.program.has_value()) return;
  const bool optional = rule.source.optional_old_self.value_or(false);
  if (compiled.uses_old_self && !has_old_ && !optional) return;
  std::array<Input, 2> inputs = {Input{self_}, Input{old_self_}};
  if (compiled.uses_old_self && optional) {
    inputs[1].value = has_old_ ? Value::Optional(old_self_, scratch_.arena()) : Value::None();
  }
  const Outcome outcome = Evaluate(*compiled.program, inputs, budget_, scratch_, context_);
  if (budget_.remaining < 0) return End(std::string(kOutOfBudget));
  if (!outcome.ok()) return TellFailure(rule, outcome);
  if (!outcome.value.is_bool() || !outcome.value.AsBool()) TellFalse(rule);
}

// Adds the error of a rule that could not be evaluated to the end.
void RuleWalk::TellFailure(const RuleNodeEntry& rule, const Outcome& outcome) {
  const std::string error(outcome.error);
  if (outcome.end == End::kCostLimit) {
    return End("'" + error +
               "': no further validation rules will be run due to call cost exceeds limit for "
               "rule: " +
               rule.shown);
  }
  if (error.starts_with("no such overload")) {
    return Invalid("'" + error +
                   "': call arguments did not match a supported operator, function or macro "
                   "signature for rule: " +
                   rule.shown);
  }
  Invalid(error + " evaluating rule: " + rule.shown);
}

// Adds the error of a rule that a value breaks.
void RuleWalk::TellFalse(const RuleNodeEntry& rule) {
  std::string detail = rule.message;
  if (rule.compiled.message.has_value()) {
    if (std::optional<std::string> message = MessageOf(rule)) detail = *std::move(message);
    if (ended_) return;
  }
  const std::string_view type = TypeWord();
  Add(rule, [&](const field::Path& path, field::ErrorList& errors) {
    const std::string_view reason = rule.source.reason;
    if (reason == "FieldValueForbidden") return errors.Forbidden(path, std::move(detail));
    if (reason == "FieldValueRequired") return errors.Required(path, std::move(detail));
    std::string value = Printed(*frames_.back().value, type, scratch_.arena());
    if (reason == "FieldValueDuplicate") return errors.DuplicatePrinted(path, std::move(value));
    errors.InvalidPrinted(path, std::move(value), std::move(detail));
  });
}

// Evaluates a rule's messageExpression. nullopt: it yields no text that can be used, or the
// validation has ended. Kubernetes logs why; the message of the rule stands in for it.
std::optional<std::string> RuleWalk::MessageOf(const RuleNodeEntry& rule) {
  const std::array<Input, 2> inputs = {Input{self_}, Input{old_self_}};
  // As Go: oldSelf is there if a rule beside it reads it, and is the value itself also where its
  // type is an optional.
  const auto given = std::span(inputs).first(has_old_ ? 2 : 1);
  const Outcome outcome = Evaluate(*rule.compiled.message, given, budget_, scratch_, context_);
  const bool exceeded = outcome.end == End::kCostLimit;
  if (budget_.remaining < 0 || exceeded) {
    ended_ = true;
    Add(rule, [&](const field::Path& path, field::ErrorList& errors) {
      errors.Invalid(path, TypeWord(),
                     budget_.remaining < 0
                         ? std::string(kMessageOutOfBudget)
                         : "no further validation rules will be run due to call cost exceeds limit "
                           "for messageExpression: " +
                               field::Quote(rule.source.message_expression));
    });
    return std::nullopt;
  }
  if (!outcome.ok() || !outcome.value.is_string()) return std::nullopt;
  const std::string_view text = text::TrimSpace(outcome.value.AsText());
  if (text.empty() || text.size() > kMessageBytesMax || text.find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(text);
}

// Adds the error that `write` makes, or a warning if the update does not touch the value.
template <class Write>
void RuleWalk::Add(const RuleNodeEntry& rule, const Write& write) {
  field::Path path = Path();
  if (!rule.compiled.field_path.empty()) path = path.Child(rule.compiled.field_path);
  if (rule.compiled.uses_old_self || !Ratchets()) return write(path, findings_.errors);
  if (findings_.warnings.size() >= field::kErrorsMax) return;
  field::ErrorList single;
  write(path, single);
  findings_.warnings.push_back(single[0].Message());
}

}  // namespace

RuleFindings RuleSet::Validate(const RuleSubject& subject, const Budget& budget, Scratch& scratch,
                               const Context& context) const {
  if (tree_ == nullptr) return {.errors = {}, .warnings = {}, .remaining = budget.remaining};
  return RuleWalk(subject, budget, scratch, context).Run(*tree_->root);
}

}  // namespace apiserver::v0::cel
