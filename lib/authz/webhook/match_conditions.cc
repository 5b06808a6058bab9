#include "authz/webhook/match_conditions.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/environment.h"
#include "authz/aggregate.h"
#include "authz/webhook/requirements.h"
#include "text/trim.h"
#include "text/utf8.h"

namespace apiserver::v0::authz {
namespace {

using cel::StructField;
using cel::Type;
using runtime::Member;
using runtime::Value;

constexpr std::string_view kFieldSelector = "fieldSelector";
constexpr std::string_view kLabelSelector = "labelSelector";

// Makes a struct type of fields that are all strings, and of others.
Type Record(std::string name, const std::vector<std::string>& texts,
            std::vector<StructField> others = {}) {
  for (const std::string& text : texts) others.push_back({text, Type::String()});
  return Type::Struct({.name = std::move(name), .fields = std::move(others)});
}

// Makes the type of `request`: buildRequestType of the Go compiler.
Type RequestType() {
  const Type texts = Type::List(Type::String());
  const Type requirement =
      Record("kubernetes.SelectorRequirement", {"key", "operator"}, {{"values", texts}});
  const auto selector = [&requirement](const char* name) {
    return Record(name, {"rawSelector"}, {{"requirements", Type::List(requirement)}});
  };
  const Type resource =
      Record("kubernetes.ResourceAttributes",
             {"namespace", "verb", "group", "version", "resource", "subresource", "name"},
             {{std::string(kFieldSelector), selector("kubernetes.FieldSelectorAttributes")},
              {std::string(kLabelSelector), selector("kubernetes.LabelSelectorAttributes")}});
  const Type other = Record("kubernetes.NonResourceAttributes", {"path", "verb"});
  return Record("kubernetes.SubjectAccessReviewSpec", {"user", "uid"},
                {{"resourceAttributes", resource},
                 {"nonResourceAttributes", other},
                 {"groups", texts},
                 {"extra", Type::Map(Type::String(), texts)}});
}

// Builds data in the arena of an evaluation. Text is borrowed from the request, except text that is
// no UTF-8, as a path may hold: expressions see U+FFFD there.
class DataBuilder {
 public:
  explicit DataBuilder(cel::Arena& arena) : arena_(arena) {}

  Value Text(std::string_view text) {
    if (text::ValidUtf8(text)) return Value::String(text);
    return Value::String(arena_.Copy(text::ReplaceInvalidUtf8(text)));
  }
  // The same for text that the request does not hold.
  Value OwnText(std::string_view text) { return Text(arena_.Copy(text)); }
  Value Texts(const std::vector<std::string>& texts) {
    const std::span<Value> items = arena_.New<Value>(texts.size());
    std::ranges::transform(texts, items.begin(),
                           [this](const std::string& text) { return Text(text); });
    return Value::List(items);
  }
  Value OwnTexts(const std::vector<std::string>& texts) {
    const std::span<Value> items = arena_.New<Value>(texts.size());
    std::ranges::transform(texts, items.begin(),
                           [this](const std::string& text) { return OwnText(text); });
    return Value::List(items);
  }
  Value Map(std::span<const Member> members) { return Value::Map(arena_.Copy(members)); }
  Value Map(std::initializer_list<Member> members) {
    return Map(std::span(members.begin(), members.size()));
  }
  cel::Arena& arena() { return arena_; }

 private:
  cel::Arena& arena_;
};

Value ExtraOf(const auth::UserInfo& user, DataBuilder& builder) {
  const std::span<Member> members = builder.arena().New<Member>(user.extra.size());
  std::ranges::transform(user.extra, members.begin(), [&builder](const auto& entry) {
    return Member{builder.Text(entry.first).AsString(), builder.Texts(entry.second)};
  });
  return Value::Map(members);
}

Value SelectorOf(const std::vector<ReviewRequirement>& requirements, DataBuilder& builder) {
  const std::span<Value> items = builder.arena().New<Value>(requirements.size());
  std::ranges::transform(requirements, items.begin(), [&builder](const ReviewRequirement& each) {
    return builder.Map({{"key", builder.OwnText(each.key)},
                        {"operator", Value::String(each.op)},
                        {"values", builder.OwnTexts(each.values)}});
  });
  return builder.Map({{"requirements", Value::List(items)}});
}

// Adds the selector as `name` to the members of resourceAttributes unless it requires nothing.
void AddSelector(std::string_view name, const std::vector<ReviewRequirement>& requirements,
                 std::vector<Member>& members, DataBuilder& builder) {
  if (!requirements.empty()) members.push_back({name, SelectorOf(requirements, builder)});
}

// Returns the attributes of the resource. The array of members lies on the stack unless there are
// selectors.
Value ResourceOf(const auth::Attributes& asked, bool field_selector, bool label_selector,
                 DataBuilder& builder) {
  const std::array<Member, 7> plain = {{{"namespace", builder.Text(asked.namespace_)},
                                        {"verb", builder.Text(asked.verb)},
                                        {"group", builder.Text(asked.group)},
                                        {"version", builder.Text(asked.version)},
                                        {"resource", builder.Text(asked.resource)},
                                        {"subresource", builder.Text(asked.subresource)},
                                        {"name", builder.Text(asked.name)}}};
  const bool fields = field_selector && !asked.field_selector.empty();
  const bool labels = label_selector && !asked.label_selector.empty();
  if (!fields && !labels) return builder.Map(plain);
  std::vector<Member> members(plain.begin(), plain.end());
  if (fields)
    AddSelector(kFieldSelector, FieldRequirements(asked.field_selector), members, builder);
  if (labels)
    AddSelector(kLabelSelector, LabelRequirements(asked.label_selector), members, builder);
  return builder.Map(members);
}

// Reports why an expression does not compile. Go's convertCELErrorToValidationError.
void Refuse(const field::Path& path, const std::string& expression, cel::CompileStage stage,
            const Status& why, field::ErrorList& errors) {
  if (stage == cel::CompileStage::kProgram) {
    errors.Internal(path, std::string(why.message()));
  } else {
    errors.Invalid(path, expression, std::string(why.message()));
  }
}

std::string Failure(const std::string& expression, std::string_view what) {
  std::string text = "cel evaluation error: expression '";
  return text.append(expression).append("' ").append(what);
}

}  // namespace

std::unique_ptr<const MatchConditions> MatchConditions::Compile(
    const std::vector<std::string>& expressions, const field::Path& path,
    field::ErrorList& errors) {
  if (expressions.empty()) return nullptr;
  if (expressions.size() > kMatchConditionsMax) {
    errors.TooMany(path, expressions.size(), kMatchConditionsMax);
    return nullptr;
  }
  // A configuration file is no text that older servers must read: everything is allowed.
  const cel::Environment environment =
      cel::Environment::Kubernetes({}, cel::Mode::kStored).With({{"request", RequestType()}});
  auto made = std::make_unique<MatchConditions>();
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string& expression = expressions[i];
    const field::Path at = path.Index(i).Child("expression");
    if (text::TrimSpace(expression).empty()) {
      errors.Required(at);
    } else if (!seen.insert(expression).second) {
      errors.Duplicate(at, expression);
    } else {
      cel::CompileStage stage = cel::CompileStage::kDone;
      Result<cel::Program> program =
          cel::Compile(environment, expression, {.result_types = {Type::Bool()}}, &stage);
      if (!program.ok()) {
        Refuse(at, expression, stage, program.status(), errors);
        continue;
      }
      made->uses_field_selector_ |= program->UsesField(kFieldSelector);
      made->uses_label_selector_ |= program->UsesField(kLabelSelector);
      made->conditions_.push_back({expression, *std::move(program)});
    }
  }
  if (made->conditions_.size() < expressions.size()) return nullptr;
  return made;
}

Result<bool> MatchConditions::Match(const Context& ctx, const auth::Attributes& asked) const {
  const auto scratch = scratches_.Take();
  DataBuilder builder(scratch->arena());
  // As convertObjectToUnstructured: empty texts are present, unlike in JSON.
  const Value about =
      asked.resource_request
          ? ResourceOf(asked, uses_field_selector_, uses_label_selector_, builder)
          : builder.Map({{"verb", builder.Text(asked.verb)}, {"path", builder.Text(asked.path)}});
  const Value request = builder.Map(
      {{"user", builder.Text(asked.user->name)},
       {"groups", builder.Texts(asked.user->groups)},
       {"uid", builder.Text(asked.user->uid)},
       {"extra", ExtraOf(*asked.user, builder)},
       {asked.resource_request ? "resourceAttributes" : "nonResourceAttributes", about}});
  const cel::Input input{.value = cel::Value::FromData(request, nullptr, scratch->arena())};
  std::vector<std::string> failures;
  for (const Condition& condition : conditions_) {
    cel::Budget budget;
    const cel::Outcome outcome =
        cel::Evaluate(condition.program, std::span(&input, 1), budget, *scratch, ctx);
    if (!outcome.ok()) {
      failures.push_back(
          Failure(condition.expression, "resulted in error: " + std::string(outcome.error)));
    } else if (!outcome.value.is_bool()) {
      // Compile() lets no other type through; a wrong answer here would be worse than an error.
      failures.push_back(Failure(condition.expression, "eval result type should be bool"));
    } else if (!outcome.value.AsBool()) {
      return false;
    }
  }
  if (failures.empty()) return true;
  return Status(Reason::kInternalError, Aggregate(failures));
}

}  // namespace apiserver::v0::authz
