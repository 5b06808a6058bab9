#include "runtime/custom_prune.h"

#include <limits>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/kind.h"
#include "base/status_macros.h"
#include "runtime/custom_old.h"
#include "runtime/custom_walk.h"
#include "runtime/normalize.h"
#include "runtime/passes.h"
#include "runtime/plain_json.h"
#include "runtime/rewrite.h"

namespace apiserver::v0::runtime {

namespace {

// The schema of values that nothing is declared of: below them every member is dropped.
const Schema& Undeclared() {
  static const SchemaPtr schema = StructBuilder("").Build();
  return *schema;
}

// Content that a host keeps whatever it is.
bool KeepsAll(const Schema& schema) {
  if (schema.type == SchemaType::kRaw) return true;
  return schema.type == SchemaType::kAny && !schema.preserve_unknown_fields;
}

const Value* DefaultOf(const Schema& parent, std::string_view key, const Schema& schema) {
  const Field* const field = parent.FindField(key);
  return field != nullptr ? field->default_value() : schema.default_value();
}

// The error of an embedded resource whose own members do not fit. Empty: they do.
std::string EmbeddedProblem(const Value& resource, Arena& scratch, std::string_view& member,
                            Value& value) {
  for (const Member& each : resource.members()) {
    if (!IsResourceMember(each.key)) continue;
    member = each.key;
    value = each.value;
    SortKeys(scratch, value);  // As Go prints a map.
    if (each.key != "metadata") {
      if (!each.value.is_string()) return "must be a string";
      continue;
    }
    Value metadata = each.value;
    const Status fits = NormalizeStruct(*ObjectMetaSchema(), "ObjectMeta", scratch, metadata,
                                        std::numeric_limits<std::size_t>::max());
    if (!fits.ok()) return std::string(fits.message());
  }
  return "";
}

// Follows schema/pruning, defaulting.PruneNonNullableNullsWithoutDefaults and schema/objectmeta of
// apiextensions-apiserver in one pass.
class CustomPrunePass final : public RewritePass {
 public:
  CustomPrunePass(const PruneRules& rules, Arena& arena) : rules_(rules), arena_(arena) {}

  bool Open(const Schema& schema, Value source, Slots& slots, bool& changed) override {
    const bool root = std::exchange(root_, false);
    bool known = false;
    for (const Value& item : source.items()) {
      slots.push_back({"", item, KeptMember(schema, source, "", preserved_, known)});
    }
    for (const Member& member : source.members()) {
      const bool of_resource = IsResourceMember(member.key);
      if (of_resource && root) {
        slots.push_back({member.key, member.value});
      } else if (of_resource && schema.embedded_resource) {
        if (!AddOfResource(schema, member, slots, changed)) return false;
      } else {
        Add(schema, source, member, slots, changed);
      }
    }
    return true;
  }

 private:
  // A null that is kept is refused by validation, unless nothing says its type.
  bool IsDroppedNull(const Schema& parent, const Member& member) const {
    if (!member.value.is_null()) return false;
    bool additional = false;
    const Schema* const schema = CustomMember(parent, member.key, additional);
    if (schema == nullptr || schema == &Undeclared()) return false;
    if (rules_.keep_nulls && schema->type != SchemaType::kAny) return false;
    return !schema->nullable && DefaultOf(parent, member.key, *schema) == nullptr;
  }

  void Add(const Schema& parent, const Value& source, const Member& member, Slots& slots,
           bool& changed) {
    bool known = false;
    const Schema* const schema = KeptMember(parent, source, member.key, preserved_, known);
    const bool dropped = !known || IsDroppedNull(parent, member);
    changed |= dropped;
    if (!dropped) slots.push_back({member.key, member.value, schema});
  }

  // Adds a member of an embedded resource. False: it does not fit.
  bool AddOfResource(const Schema& parent, const Member& member, Slots& slots,
                     bool& changed) const {
    if (IsDroppedNull(parent, member)) {
      changed = true;
      return true;
    }
    if (member.key != "metadata") {
      const bool fits = member.value.is_string() || (rules_.keep_nulls && member.value.is_null());
      if (!fits && !rules_.stored) return false;
      if (fits) slots.push_back({member.key, member.value});
      changed |= !fits;
      return true;
    }
    Value metadata = member.value;
    const Status fits =
        NormalizeStruct(*SortedObjectMeta(), "ObjectMeta", arena_, metadata, rules_.arena_max);
    if (!fits.ok()) {
      if (!rules_.stored) return false;
      metadata = member.value.is_map() ? FittingMetadata(member.value, arena_) : member.value;
    }
    changed |= metadata.members().data() != member.value.members().data() ||
               metadata.type() != member.value.type();
    slots.push_back({member.key, metadata});
    return true;
  }

  const PruneRules rules_;
  Arena& arena_;
  PreservedItems preserved_;
  bool root_ = true;
};

// The error of the first embedded resource that does not fit.
Status WhyNotEmbedded(const Schema& schema, const Value& root) {
  Arena scratch;
  std::string message;
  CustomWalk walk;
  walk.Run(schema, root, [&](const Schema& at, const Value& value) {
    if (!message.empty()) return false;
    if (!at.embedded_resource || !value.is_map()) return true;
    std::string_view member;
    Value wrong;
    std::string problem = EmbeddedProblem(value, scratch, member, wrong);
    if (problem.empty()) return true;
    field::ErrorList errors;
    errors.InvalidPrinted(walk.Path().Child(member), PlainJson(wrong), std::move(problem));
    message = errors[0].Message();
    return false;
  });
  return Status(Reason::kBadRequest, std::move(message));
}

}  // namespace

bool IsResourceMember(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

const Schema* PreservedItems::Of(const Schema& items) {
  if (items.preserve_unknown_fields || KeepsAll(items)) return &items;
  SchemaPtr& made = made_[&items];
  if (made == nullptr) {
    SchemaParts parts(items);
    parts.preserve_unknown_fields = true;
    made = MakeSchema(parts);
  }
  return made.get();
}

// Follows prune and skipPrune of schema/pruning.
const Schema* KeptMember(const Schema& parent, const Value& holder, std::string_view key,
                         PreservedItems& preserved, bool& known) {
  known = true;
  if (KeepsAll(parent)) return nullptr;
  if (holder.is_list()) {
    const Schema* const items = CustomItems(parent);
    if (items != nullptr) return parent.preserve_unknown_fields ? preserved.Of(*items) : items;
    return parent.preserve_unknown_fields ? nullptr : &Undeclared();
  }
  bool additional = false;
  const Schema* const schema = CustomMember(parent, key, additional);
  if (schema != nullptr) return schema;
  const SchemaPtr& other = parent.type == SchemaType::kMap ? parent.items() : parent.members();
  // additionalProperties: true keeps the members, and nothing below them.
  if (other != nullptr) return &Undeclared();
  known = parent.preserve_unknown_fields;
  return nullptr;
}

Value FittingMetadata(const Value& metadata, Arena& arena) {
  MapBuilder kept(arena);
  for (const Member& member : metadata.members()) {
    MapBuilder single(arena);
    single.Add(member.key, member.value);
    Value one = single.Build();
    const Status fits = NormalizeStruct(*SortedObjectMeta(), "ObjectMeta", arena, one,
                                        std::numeric_limits<std::size_t>::max());
    if (fits.ok()) kept.Add(member.key, member.value);
  }
  Value fitting = kept.Build();
  (void)NormalizeStruct(*SortedObjectMeta(), "ObjectMeta", arena, fitting,
                        std::numeric_limits<std::size_t>::max());  // Each member fits.
  return fitting;
}

Status PruneCustom(Object& object, const PruneRules& rules) {
  const KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr || version->schema->type == SchemaType::kAny) return {};
  Value root = object.root();
  CustomPrunePass pass(rules, object.arena());
  switch (Rewrite(*version->schema, pass, object.arena(), root, {.arena_max = rules.arena_max})) {
    case Rewritten::kWhole:
      object.SetRoot(root);
      return {};
    case Rewritten::kTooLarge:
      return GrownTooLarge();
    case Rewritten::kEndedByPass:
      break;
  }
  return WhyNotEmbedded(*version->schema, root);
}

}  // namespace apiserver::v0::runtime
