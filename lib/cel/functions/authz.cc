#include <memory>
#include <string>

#include "apiserver/auth/service_account.h"
#include "apiserver/cel/authorizer.h"
#include "apiserver/meta/validation.h"
#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"
#include "text/trim.h"

// k8s.io/apiserver/pkg/cel/library/authz.go.
namespace apiserver::v0::cel::functions {
namespace authz_rows {
namespace {

using types::kBool;
using types::kString;

constexpr TypeNode kAuthorizer = types::Object("kubernetes.authorization.Authorizer");
constexpr TypeNode kPathCheck = types::Object("kubernetes.authorization.PathCheck");
constexpr TypeNode kGroupCheck = types::Object("kubernetes.authorization.GroupCheck");
constexpr TypeNode kResourceCheck = types::Object("kubernetes.authorization.ResourceCheck");
constexpr TypeNode kDecision = types::Object("kubernetes.authorization.Decision");
constexpr std::uint8_t kSince = 27;
constexpr std::uint8_t kSelectorsSince = 31;

// A check is built by calls, each of which copies what the calls before it said. All text lives as
// long as the evaluation.

// The identity that is checked: the user of the request, or a service account.
struct Subject {
  const UserAuthorizer* user = nullptr;
  std::string_view account_namespace = {};
  std::string_view account_name = {};  // Empty: the user.
};
struct PathCheck {
  Subject subject;
  std::string_view path;
};
struct GroupCheck {
  Subject subject;
  std::string_view group;
};
struct ResourceCheck {
  GroupCheck group;
  std::string_view resource = {};
  std::string_view subresource = {};
  std::string_view namespace_ = {};
  std::string_view name = {};
  std::string_view field_selector = {};
  std::string_view label_selector = {};
};
struct Decision {
  bool allowed = false;
  bool errored = false;
  std::string_view reason = {};
  std::string_view error = {};
};

std::string TakeOut(const void*) { return "no such overload"; }

// Values of these kinds cannot be compared.
constexpr OpaqueKind kAuthorizerKind = {
    .type = &kAuthorizer, .equal = nullptr, .error_taken_out = TakeOut};
constexpr OpaqueKind kPathCheckKind = {
    .type = &kPathCheck, .equal = nullptr, .error_taken_out = TakeOut};
constexpr OpaqueKind kGroupCheckKind = {
    .type = &kGroupCheck, .equal = nullptr, .error_taken_out = TakeOut};
constexpr OpaqueKind kResourceCheckKind = {
    .type = &kResourceCheck, .equal = nullptr, .error_taken_out = TakeOut};
constexpr OpaqueKind kDecisionKind = {
    .type = &kDecision, .equal = nullptr, .error_taken_out = TakeOut};

template <class T>
Value Make(const OpaqueKind& kind, const T& object, Arena& arena) {
  return Value::Opaque(kind, &arena.Make(object));
}

// Go trims Unicode's white space.
bool IsBlank(std::string_view text) { return text::TrimSpace(text).empty(); }

Value Path(CallContext& call, std::span<const Value> arguments) {
  const std::string_view path = arguments[1].AsText();
  if (IsBlank(path)) return Value::Error("path must not be empty");
  return Make(kPathCheckKind, PathCheck{arguments[0].AsOpaque<Subject>(), path}, call.arena());
}

Value Group(CallContext& call, std::span<const Value> arguments) {
  return Make(kGroupCheckKind, GroupCheck{arguments[0].AsOpaque<Subject>(), arguments[1].AsText()},
              call.arena());
}

// The name is judged first, so that its error wins.
Value ServiceAccount(CallContext& call, std::span<const Value> arguments) {
  const std::string_view account_namespace = arguments[1].AsText();
  const std::string_view name = arguments[2].AsText();
  if (!meta::NameIsDNSSubdomain(name, false).empty()) {
    return Value::Error("Invalid service account name");
  }
  if (!meta::NameIsDNSLabel(account_namespace, false).empty()) {
    return Value::Error("Invalid service account namespace");
  }
  const Subject account{arguments[0].AsOpaque<Subject>().user, account_namespace, name};
  return Make(kAuthorizerKind, account, call.arena());
}

Value Resource(CallContext& call, std::span<const Value> arguments) {
  const std::string_view resource = arguments[1].AsText();
  if (IsBlank(resource)) return Value::Error("resource must not be empty");
  return Make(kResourceCheckKind, ResourceCheck{arguments[0].AsOpaque<GroupCheck>(), resource},
              call.arena());
}

// Returns the check with one part more.
template <std::string_view ResourceCheck::*part>
Value With(CallContext& call, std::span<const Value> arguments) {
  ResourceCheck check = arguments[0].AsOpaque<ResourceCheck>();
  check.*part = arguments[1].AsText();
  return Make(kResourceCheckKind, check, call.arena());
}

// Makes the user of a service account when it is asked about: an arena runs no destructors.
auth::UserInfoPtr UserOf(const Subject& subject) {
  if (subject.account_name.empty()) return subject.user->user;
  const auth::serviceaccount::ServiceAccountInfo account = {
      .name = std::string(subject.account_name),
      .namespace_ = std::string(subject.account_namespace)};
  return std::make_shared<const auth::UserInfo>(account.ToUserInfo());
}

// Asks the authorizer, which may wait.
Value Ask(CallContext& call, const Subject& subject, const auth::Attributes& attributes) {
  const Result<auth::Verdict> verdict =
      subject.user->authorizer->Authorize(call.context(), attributes);
  Decision decision;
  if (verdict.ok()) {
    decision.allowed = verdict->decision == auth::Decision::kAllow;
    decision.reason = call.arena().Copy(verdict->reason);
  } else if (verdict.status().reason() == Reason::kWouldBlock) {
    return call.WouldBlock();
  } else {
    decision.errored = true;
    decision.error = call.arena().Copy(verdict.status().message());
  }
  return Make(kDecisionKind, decision, call.arena());
}

Value CheckPath(CallContext& call, std::span<const Value> arguments) {
  const auto& check = arguments[0].AsOpaque<PathCheck>();
  return Ask(call, check.subject,
             {.user = UserOf(check.subject), .verb = arguments[1].AsText(), .path = check.path});
}

// Selectors that do not parse travel as they are: authorizers read them.
Value CheckResource(CallContext& call, std::span<const Value> arguments) {
  const auto& check = arguments[0].AsOpaque<ResourceCheck>();
  const Subject& subject = check.group.subject;
  return Ask(call, subject,
             {.user = UserOf(subject),
              .verb = arguments[1].AsText(),
              .resource_request = true,
              .group = check.group.group,
              .version = "*",
              .resource = check.resource,
              .subresource = check.subresource,
              .namespace_ = check.namespace_,
              .name = check.name,
              .field_selector = check.field_selector,
              .label_selector = check.label_selector});
}

// Return a member of a decision.
template <bool Decision::*part>
Value GetBool(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(arguments[0].AsOpaque<Decision>().*part);
}
template <std::string_view Decision::*part>
Value GetText(CallContext&, std::span<const Value> arguments) {
  return Value::String(arguments[0].AsOpaque<Decision>().*part);
}

// Two checks fit into the limit of one evaluation, 1,000,000.
constexpr std::uint64_t kCheckCost = 350'000;
std::optional<std::uint64_t> CostOfCheck(const CostCall&) { return kCheckCost; }
std::optional<CallEstimate> EstimateCheck(const EstimateCall&) {
  return CallEstimate{.cost = {kCheckCost, kCheckCost}};
}

// Reading a selector, and a list of requirements, of which each takes two characters at least.
CostRange SelectorCost(SizeRange length) {
  constexpr double kRequirementsOfCharacter = 0.5;
  const CostRange requirements = CostOf(length, kRequirementsOfCharacter);
  constexpr std::uint64_t kRequirementCost = kListCost + kMessageCost;
  return CostRange{kListCost, kListCost} + CostOf(length, kStringTraversal) +
         requirements * CostRange{kRequirementCost, kRequirementCost};
}
std::optional<std::uint64_t> CostOfSelector(const CostCall& call) {
  if (call.arguments.size() < 2) return std::nullopt;
  const std::uint64_t length = CostSize(call.arguments[1]);
  return SelectorCost({length, length}).max;
}
std::optional<CallEstimate> EstimateSelector(const EstimateCall& call) {
  return CallEstimate{.cost = SelectorCost(call.Size(1))};
}

// A function that adds one part to a check.
constexpr Overload Part(std::string_view id, Handler handler) {
  return {
      .id = id, .signature = Member(kResourceCheck, kResourceCheck, kString), .handler = handler};
}

constexpr Overload kPath[] = {{.id = "authorizer_path",
                               .signature = Member(kPathCheck, kAuthorizer, kString),
                               .handler = Path}};
constexpr Overload kGroup[] = {{.id = "authorizer_group",
                                .signature = Member(kGroupCheck, kAuthorizer, kString),
                                .handler = Group}};
constexpr Overload kServiceAccount[] = {
    {.id = "authorizer_serviceaccount",
     .signature = Member(kAuthorizer, kAuthorizer, kString, kString),
     .handler = ServiceAccount}};
constexpr Overload kResource[] = {{.id = "groupcheck_resource",
                                   .signature = Member(kResourceCheck, kGroupCheck, kString),
                                   .handler = Resource}};
constexpr Overload kSubresource[] = {
    Part("resourcecheck_subresource", With<&ResourceCheck::subresource>)};
constexpr Overload kNamespace[] = {
    Part("resourcecheck_namespace", With<&ResourceCheck::namespace_>)};
constexpr Overload kName[] = {Part("resourcecheck_name", With<&ResourceCheck::name>)};
constexpr Overload kFieldSelector[] = {
    Part("authorizer_fieldselector", With<&ResourceCheck::field_selector>)};
constexpr Overload kLabelSelector[] = {
    Part("authorizer_labelselector", With<&ResourceCheck::label_selector>)};
constexpr Overload kCheck[] = {{.id = "pathcheck_check",
                                .signature = Member(kDecision, kPathCheck, kString),
                                .handler = CheckPath},
                               {.id = "resourcecheck_check",
                                .signature = Member(kDecision, kResourceCheck, kString),
                                .handler = CheckResource}};
constexpr Overload kErrored[] = {{.id = "decision_errored",
                                  .signature = Member(kBool, kDecision),
                                  .handler = GetBool<&Decision::errored>}};
constexpr Overload kError[] = {{.id = "decision_error",
                                .signature = Member(kString, kDecision),
                                .handler = GetText<&Decision::error>}};
constexpr Overload kAllowed[] = {{.id = "decision_allowed",
                                  .signature = Member(kBool, kDecision),
                                  .handler = GetBool<&Decision::allowed>}};
constexpr Overload kReason[] = {{.id = "decision_reason",
                                 .signature = Member(kString, kDecision),
                                 .handler = GetText<&Decision::reason>}};

// A builder or an accessor.
constexpr Function Cheap(std::string_view name, std::span<const Overload> overloads) {
  return UnitCostRow(name, overloads, kSince);
}
constexpr Function Selector(std::string_view name, std::span<const Overload> overloads) {
  return {.name = name,
          .overloads = overloads,
          .run_cost = CostOfSelector,
          .estimate = EstimateSelector,
          .since = kSelectorsSince};
}

constexpr Function kFunctions[] = {
    Cheap("path", kPath),
    Cheap("group", kGroup),
    Cheap("serviceAccount", kServiceAccount),
    Cheap("resource", kResource),
    Cheap("subresource", kSubresource),
    Cheap("namespace", kNamespace),
    Cheap("name", kName),
    {.name = "check",
     .overloads = kCheck,
     .run_cost = CostOfCheck,
     .estimate = EstimateCheck,
     .since = kSince},
    Cheap("errored", kErrored),
    Cheap("error", kError),
    Cheap("allowed", kAllowed),
    Cheap("reason", kReason),
};
constexpr Function kSelectors[] = {
    Selector("fieldSelector", kFieldSelector),
    Selector("labelSelector", kLabelSelector),
};

}  // namespace
}  // namespace authz_rows

std::span<const Function> Authorizers() { return authz_rows::kFunctions; }
std::span<const Function> AuthorizerSelectors() { return authz_rows::kSelectors; }

}  // namespace apiserver::v0::cel::functions

namespace apiserver::v0::cel {

Type AuthorizerType() { return Type(functions::authz_rows::kAuthorizer); }
Type ResourceCheckType() { return Type(functions::authz_rows::kResourceCheck); }

Value AuthorizerValue(const UserAuthorizer& user, Arena& arena) {
  return functions::authz_rows::Make(functions::authz_rows::kAuthorizerKind,
                                     functions::authz_rows::Subject{&user}, arena);
}

Value ResourceCheckValue(const UserAuthorizer& user, const RequestResource& resource,
                         Arena& arena) {
  const functions::authz_rows::ResourceCheck check{.group = {{&user}, resource.group},
                                                   .resource = resource.resource,
                                                   .subresource = resource.subresource,
                                                   .namespace_ = resource.namespace_,
                                                   .name = resource.name};
  return functions::authz_rows::Make(functions::authz_rows::kResourceCheckKind, check, arena);
}

}  // namespace apiserver::v0::cel
