#include "admission/webhook/conditions.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/metrics.h"
#include "admission/policy/cel_expressions.h"
#include "admission/policy/match_conditions.h"
#include "apiserver/meta/errors.h"

namespace apiserver::v0::admission {

namespace {

std::string_view TypeOf(const Webhook& webhook) {
  return webhook.type == WebhookType::kMutating ? "admit" : "validating";
}

// Conditions of webhooks know neither parameters nor variables.
std::shared_ptr<const policy::MatchConditions> Compiled(const Webhook& webhook) {
  const policy::Declarations declarations{.authorizer = true};
  const auto composition =
      std::make_shared<policy::Composition>(policy::SharedExpressionCompiler(), declarations);
  std::vector<std::optional<std::string_view>> texts;
  for (const MatchCondition& condition : webhook.match_conditions) {
    texts.emplace_back(composition->Keep(condition.expression));
  }
  policy::MatchConditionsOptions options{
      .conditions = policy::CompileList(composition, policy::ExpressionUse::kMatchCondition, texts,
                                        declarations),
      .fail_open = webhook.fail_open,
      .name = webhook.name,
      .kind = "webhook",
      .type = TypeOf(webhook),
      .asks_authorizer = composition->asks_authorizer()};
  composition->Finish();
  return std::make_shared<const policy::MatchConditions>(std::move(options));
}

}  // namespace

void CompileMatchConditions(Webhooks& webhooks) {
  for (Webhook& webhook : webhooks) {
    if (webhook.match_conditions.empty() || webhook.compiled_conditions) continue;
    webhook.compiled_conditions = Compiled(webhook);
  }
}

Result<bool> MeetsConditions(const Context& ctx, const Attributes& attributes,
                             const Invocation& invocation, const ReviewObjects& objects,
                             policy::RequestValues& values) {
  const Webhook& webhook = *invocation.webhook;
  if (webhook.match_conditions.empty()) return true;
  policy::MatchResult result{.matches = false, .error = "match conditions have not been compiled"};
  if (webhook.compiled_conditions) {
    if (webhook.compiled_conditions->asks_authorizer() && !ctx.may_block()) {
      return Status(Reason::kWouldBlock, "the authorizer may wait");
    }
    // The resource is the requested one, the kind that of the webhook's version, as upstream.
    const policy::Variables variables =
        values.ForConditions({attributes.resource, invocation.kind}, objects);
    result = webhook.compiled_conditions->Match(ctx, variables, attributes.metrics);
  } else if (webhook.fail_open) {
    return false;
  }
  if (!result.error.empty()) {
    return meta::NewForbidden(attributes.resource.group_resource(), attributes.name, result.error);
  }
  if (!result.matches && attributes.metrics) {
    attributes.metrics->policies().ObserveConditionExclusion({.name = webhook.name,
                                                              .kind = "webhook",
                                                              .type = TypeOf(webhook),
                                                              .operation = attributes.operation});
  }
  return result.matches;
}

}  // namespace apiserver::v0::admission
