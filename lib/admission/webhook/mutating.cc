#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "admission/reinvoked.h"
#include "admission/versions.h"
#include "admission/webhook/conditions.h"
#include "admission/webhook/plugin.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "apiserver/patch/json_patch.h"
#include "apiserver/request/latency.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "codec/type_meta.h"

namespace apiserver::v0::admission {

namespace {

using runtime::Value;

constexpr std::string_view kPluginName = "MutatingAdmissionWebhook";

using WebhookReinvocation = Reinvoked<std::string>;  // By the webhook's uid.

// Checks that `patch` is a list of operations, and returns their number in `operations`.
// The patch is checked before it is applied, to tell an undecodable one from one that does not fit.
Status CheckPatch(std::string_view patch, std::size_t& operations) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value parsed, codec::ParseJson(patch, arena));
  if (!parsed.is_list() && !parsed.is_null()) {
    return Status(Reason::kBadRequest, "json: cannot unmarshal into a list of operations");
  }
  for (const Value& operation : parsed.items()) {
    if (!operation.is_map()) {
      return Status(Reason::kBadRequest, "json: cannot unmarshal an operation that is no object");
    }
  }
  operations = parsed.size();
  return {};
}

// Returns `object` after the patch, as a body of its version before defaults are set.
// Defaults are set by the caller after the comparison: a patch that changes nothing must not count
// as a change because of them.
Result<std::unique_ptr<runtime::Object>> Patched(const runtime::Object& object,
                                                 std::string_view patch) {
  std::unique_ptr<runtime::Object> patched = object.Clone();
  runtime::Arena& arena = patched->arena();
  const runtime::GroupVersionKind gvk = patched->gvk();
  const std::string_view api_version = arena.Copy(gvk.group_version().ToString());
  runtime::MapBuilder document(arena);
  document.Add("kind", Value::String(arena.Copy(gvk.kind)));
  document.Add("apiVersion", Value::String(api_version));
  for (const runtime::Member& member : patched->root().members()) {
    // A patch may address kind and apiVersion, which are not part of an Object's root.
    document.Add(member.key, member.value);
  }
  ASSIGN_OR_RETURN(Value root,
                   patch::ApplyJsonPatchExplained(document.Build(), arena.Copy(patch), arena));
  ASSIGN_OR_RETURN(const codec::TypeMeta type, codec::TakeTypeMeta(root, arena));
  // The object is stored under the request's kind, so the patch may not make another one of it.
  if (type.kind != gvk.kind || type.api_version != api_version) {
    return Status(Reason::kInvalid, "the patch must not change kind and apiVersion");
  }
  patched->SetRoot(root);
  RETURN_IF_ERROR(
      runtime::Settle(*patched, {.growth_max = runtime::kPatchedGrowthMax, .defaults = false}));
  return patched;
}

std::string AnnotationHead(const Webhook& webhook) {
  std::string text = R"({"configuration":)";
  codec::AppendJsonString(webhook.configuration, text);
  text += R"(,"webhook":)";
  codec::AppendJsonString(webhook.name, text);
  return text;
}

class MutatingWebhookAdmission final : public Plugin {
 public:
  explicit MutatingWebhookAdmission(WebhookAdmissionOptions options)
      : dispatcher_(std::move(options)) {}

  std::string_view name() const override { return kPluginName; }
  bool Handles(Operation) const override { return true; }
  bool RunsInline(Operation, std::string_view) const override { return dispatcher_.Idle(); }
  bool validates() const override { return false; }

  // Runs twice for a request at most; see Chain::Admit.
  Status Admit(const Context& ctx, Attributes& attributes) const override {
    ASSIGN_OR_RETURN(const auto webhooks, dispatcher_.WebhooksFor(attributes));
    if (webhooks->empty()) return {};
    WebhookReinvocation& again = WebhookReinvocation::Of(*attributes.reinvocation, kPluginName);
    // Other plugins made the changes in between, which all webhooks must then see.
    if (attributes.reinvocation->is_reinvoke() && again.ChangedSince(attributes.object)) {
      again.RequirePrevious();
    }
    WrittenVersion version(attributes);
    Status status = CallAll(ctx, attributes, *webhooks, version, again);
    if (status.ok()) status = version.WriteBack(ctx);
    // Kept as a copy, since later plugins change the object in place.
    again.last_output = attributes.object ? attributes.object->Clone() : nullptr;
    return status;
  }

 private:
  // The call of one webhook.
  struct Turn {
    const Invocation& invocation;
    WrittenVersion& version;
    WebhookDispatcher::Place place = {};
    bool changed = false;  // True if its patch changed the object.
  };

  // One after the other, each with the changes of those before it. Blocks.
  Status CallAll(const Context& ctx, Attributes& attributes, const Webhooks& webhooks,
                 WrittenVersion& version, WebhookReinvocation& again) const {
    const bool second = attributes.reinvocation->is_reinvoke();
    policy::RequestValues values = dispatcher_.ValuesOf(attributes);
    for (std::size_t i = 0; i < webhooks.size(); ++i) {
      const Webhook& webhook = webhooks[i];
      ASSIGN_OR_RETURN(const auto invocation,
                       dispatcher_.matcher().Match(ctx, webhook, attributes, version.current()));
      if (!invocation) continue;
      ASSIGN_OR_RETURN(const bool meets, Meets(ctx, attributes, *invocation, version, values));
      if (!meets) continue;
      // The second round calls no webhook for the first time.
      if (second && !again.reinvoke.contains(webhook.uid)) continue;
      RETURN_IF_ERROR(version.TurnTo(ctx, invocation->kind));
      if (!ctx.may_block()) return {Reason::kWouldBlock, "a webhook must be asked"};
      Turn turn{.invocation = *invocation,
                .version = version,
                .place = {.round = second ? 1 : 0, .index = static_cast<int>(i)}};
      const Status status = CallOne(ctx, attributes, turn);
      if (turn.changed) {
        // Both hold even if the call failed afterwards: the object has changed.
        again.RequirePrevious();
        attributes.reinvocation->SetShouldReinvoke();
      }
      if (webhook.reinvoke_if_needed) again.previously_invoked.insert(webhook.uid);
      RETURN_IF_ERROR(status);
    }
    return {};
  }

  // Evaluates the webhook's conditions over the object as it is now.
  static Result<bool> Meets(const Context& ctx, const Attributes& attributes,
                            const Invocation& invocation, WrittenVersion& version,
                            policy::RequestValues& values) {
    if (invocation.webhook->match_conditions.empty()) return true;
    RETURN_IF_ERROR(version.TurnTo(ctx, invocation.kind));
    // A webhook before may have changed the object, at the same address.
    values.ForgetObjects();
    return MeetsConditions(ctx, attributes, invocation, version.objects(), values);
  }

  // Records the mutation annotation for every call, with and without a change.
  Status CallOne(const Context& ctx, Attributes& attributes, Turn& turn) const {
    const Webhook& webhook = *turn.invocation.webhook;
    const Clock& clock = *dispatcher_.options().clock;
    const Clock::Monotonic began = clock.Now();
    CallResult result = Ask(ctx, attributes, turn.invocation, turn.version);
    if (result.kind == CallResult::Kind::kAllowed && !result.answer.patch.empty()) {
      result = Apply(attributes, std::move(result), turn);
    }
    result.took = clock.Now() - began;
    const std::string mutated = std::string(R"(,"mutated":)") + (turn.changed ? "true}" : "false}");
    (void)attributes.annotations->Add(WebhookAnnotationKey("mutation.", turn.place),
                                      AnnotationHead(webhook) + mutated);
    return dispatcher_.Conclude(ctx, attributes, webhook, result, turn.place);
  }

  CallResult Ask(const Context& ctx, const Attributes& attributes, const Invocation& invocation,
                 const WrittenVersion& version) const {
    WebhookCaller& caller = dispatcher_.caller();
    auto prepared = caller.Prepare(ctx, attributes, invocation, version.objects());
    auto* call = std::get_if<WebhookCall>(&prepared);
    if (call == nullptr) return std::get<CallResult>(std::move(prepared));
    trace::ScopedSpan span(ctx, "Call mutating webhook");
    DescribeCall(attributes, invocation, *call, span.span());
    // Measures the call alone; conversions and patches are this server's own time.
    const auto response = [&] {
      const request::LatencyTimer timer(ctx, request::Layer::kMutatingWebhook,
                                        *dispatcher_.options().clock);
      return call->client->Call(span.ctx(), call->request);
    }();
    span.span().EndWith(response.status());
    return caller.Judge(ctx, attributes, *invocation.webhook, *call, response);
  }

  // The object stays as it was unless all of the patch can be used.
  static CallResult Apply(const Attributes& attributes, CallResult result, Turn& turn) {
    const Webhook& webhook = *turn.invocation.webhook;
    const std::string& patch = result.answer.patch;
    std::size_t operations = 0;
    if (const Status checked = CheckPatch(patch, operations); !checked.ok()) {
      return CallResult::Failed(
          "received undecodable patch in webhook response: " + std::string(checked.message()),
          meta::NewServiceUnavailable("error decoding patch in webhook response"));
    }
    // An empty patch is no change, whatever its type.
    if (operations == 0) return result;
    const runtime::Object* before = turn.version.objects().object;
    if (before == nullptr) {
      return CallResult::Internal(meta::NewInternalError(
          "admission webhook " + field::Quote(webhook.name) +
          " attempted to modify the object, which is not supported for this operation"));
    }
    if (result.answer.patch_type != "JSONPatch") {
      return CallResult::Failed("unsupported patch type " + field::Quote(*result.answer.patch_type),
                                RefusalOf(webhook.name, result.answer));
    }
    auto patched = Patched(*before, patch);
    if (!patched.ok()) {
      // json-patch's message alone does not tell whose patch it was.
      return CallResult::Internal(meta::NewInternalError(
          "admission webhook " + field::Quote(webhook.name) +
          " sent a patch that cannot be used: " + std::string(patched.status().message())));
    }
    turn.changed = !((*patched)->root() == before->root());
    (void)attributes.annotations->Add(
        WebhookAnnotationKey("patch.", turn.place),
        AnnotationHead(webhook) + R"(,"patch":)" + Compact(patch) + R"(,"patchType":"JSONPatch"})",
        audit::Level::kRequest);
    const Status settled = runtime::Settle(**patched, {.growth_max = runtime::kPatchedGrowthMax});
    if (!settled.ok()) return CallResult::Internal(settled);
    turn.version.Set(*std::move(patched));
    return result;
  }

  // Returns the patch without white space; it has been parsed before.
  static std::string Compact(std::string_view json) {
    runtime::Arena arena;
    std::string text;
    if (const auto parsed = codec::ParseJson(json, arena); parsed.ok()) {
      codec::AppendJson(*parsed, text);
    }
    return text;
  }

  const WebhookDispatcher dispatcher_;
};

}  // namespace

std::shared_ptr<const Plugin> NewMutatingWebhookAdmission(WebhookAdmissionOptions options) {
  return std::make_shared<MutatingWebhookAdmission>(std::move(options));
}

}  // namespace apiserver::v0::admission
