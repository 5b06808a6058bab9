#include "admission/webhook/review.h"

#include <algorithm>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "meta/propagation_name.h"

namespace apiserver::v0::admission {

namespace {

using runtime::Arena;
using runtime::MapBuilder;
using runtime::Value;

constexpr std::string_view kGroup = "admission.k8s.io";

// The texts live as long as the object: only kind and apiVersion are copied.
Value ObjectValue(const runtime::Object* object, Arena& arena) {
  if (object == nullptr) return {};
  const runtime::GroupVersionKind gvk = object->gvk();
  MapBuilder map(arena);
  map.Add("kind", Value::String(arena.Copy(gvk.kind)));
  map.Add("apiVersion", Value::String(arena.Copy(gvk.group_version().ToString())));
  for (const runtime::Member& member : object->root().members()) map.Add(member.key, member.value);
  return map.Build();
}

Value KindValue(const runtime::GroupVersionKind& kind, Arena& arena) {
  MapBuilder map(arena);
  map.Add("group", Value::String(kind.group));
  map.Add("version", Value::String(kind.version));
  map.Add("kind", Value::String(kind.kind));
  return map.Build();
}

Value ResourceValue(const runtime::GroupVersionResource& resource, Arena& arena) {
  MapBuilder map(arena);
  map.Add("group", Value::String(resource.group));
  map.Add("version", Value::String(resource.version));
  map.Add("resource", Value::String(resource.resource));
  return map.Build();
}

void AddText(MapBuilder& map, std::string_view key, std::string_view text) {
  // Go's JSON tags say omitempty for these.
  if (!text.empty()) map.Add(key, Value::String(text));
}

Value TextsValue(const std::vector<std::string>& texts, Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const std::string& text : texts) list.Add(Value::String(text));
  return list.Build();
}

Value UserValue(const auth::UserInfo* user, Arena& arena) {
  MapBuilder map(arena);
  if (user == nullptr) return map.Build();
  AddText(map, "username", user->name);
  AddText(map, "uid", user->uid);
  if (!user->groups.empty()) map.Add("groups", TextsValue(user->groups, arena));
  if (!user->extra.empty()) {
    MapBuilder extra(arena);
    for (const auto& [key, values] : user->extra) extra.Add(key, TextsValue(values, arena));
    map.Add("extra", extra.Build());
  }
  return map.Build();
}

Value DryRunValue(Arena& arena) {
  runtime::ListBuilder list(arena);
  list.Add(Value::String("All"));
  return list.Build();
}

MapBuilder OptionsHead(std::string_view kind, Arena& arena) {
  MapBuilder map(arena);
  map.Add("kind", Value::String(kind));
  map.Add("apiVersion", Value::String("meta.k8s.io/v1"));
  return map;
}

Value DeleteOptionsValue(const meta::DeleteOptions& options, Arena& arena) {
  MapBuilder map = OptionsHead("DeleteOptions", arena);
  if (options.grace_period_seconds) {
    map.Add("gracePeriodSeconds", Value::Int(*options.grace_period_seconds));
  }
  MapBuilder preconditions(arena);
  if (options.preconditions.uid) AddText(preconditions, "uid", *options.preconditions.uid);
  if (options.preconditions.resource_version) {
    AddText(preconditions, "resourceVersion", *options.preconditions.resource_version);
  }
  if (preconditions.size() > 0) map.Add("preconditions", preconditions.Build());
  if (options.orphan_dependents) {
    map.Add("orphanDependents", Value::Bool(*options.orphan_dependents));
  }
  AddText(map, "propagationPolicy", meta::PropagationName(options.propagation_policy));
  if (options.dry_run) map.Add("dryRun", DryRunValue(arena));
  if (options.ignore_store_read_error) {
    map.Add("ignoreStoreReadErrorWithClusterBreakingPotential", Value::Bool(true));
  }
  return map.Build();
}

// Null for CONNECT, whose options belong to the subresource.
Value OptionsValue(const Attributes& attributes, Arena& arena) {
  if (const auto* deletion = std::get_if<meta::DeleteOptions>(&attributes.options)) {
    return DeleteOptionsValue(*deletion, arena);
  }
  const auto* options = std::get_if<meta::CreateOptions>(&attributes.options);
  if (options == nullptr) return {};
  const bool update = attributes.operation == Operation::kUpdate;
  MapBuilder map = OptionsHead(update ? "UpdateOptions" : "CreateOptions", arena);
  if (options->dry_run) map.Add("dryRun", DryRunValue(arena));
  AddText(map, "fieldManager", options->field_manager);
  // Warn is the default; whether the client has set it is not known here.
  if (options->field_validation == meta::FieldValidation::kStrict) {
    map.Add("fieldValidation", Value::String("Strict"));
  } else if (options->field_validation == meta::FieldValidation::kIgnore) {
    map.Add("fieldValidation", Value::String("Ignore"));
  }
  return map.Build();
}

// The members of admission/v1.AdmissionRequest in Go's order.
Value RequestValue(const Attributes& attributes, const Invocation& invocation,
                   const ReviewObjects& objects, std::string_view uid, Arena& arena) {
  MapBuilder map(arena);
  map.Add("uid", Value::String(uid));
  map.Add("kind", KindValue(invocation.kind, arena));
  map.Add("resource", ResourceValue(invocation.resource, arena));
  AddText(map, "subResource", attributes.subresource);
  // The webhook gets its own version above and the client's here, so that it can tell a converted
  // object.
  map.Add("requestKind", KindValue(attributes.kind, arena));
  map.Add("requestResource", ResourceValue(attributes.resource, arena));
  AddText(map, "requestSubResource", attributes.subresource);
  AddText(map, "name", attributes.name);
  AddText(map, "namespace", attributes.namespace_);
  map.Add("operation", Value::String(OperationName(attributes.operation)));
  map.Add("userInfo", UserValue(attributes.user, arena));
  map.Add("object", ObjectValue(objects.object, arena));
  map.Add("oldObject", ObjectValue(objects.old_object, arena));
  map.Add("dryRun", Value::Bool(attributes.dry_run));
  map.Add("options", OptionsValue(attributes, arena));
  return map.Build();
}

// Prints as GroupVersionKind.String() does.
std::string GvkText(std::string_view api_version, std::string_view kind) {
  std::string text(api_version);
  if (text.find('/') == std::string::npos) text.insert(0, 1, '/');
  return text + ", Kind=" + std::string(kind);
}

}  // namespace

// The JSON is made here, so the result depends on no object of the request.
Result<ReviewRequest> NewReview(const Attributes& attributes, const Invocation& invocation,
                                const ReviewObjects& objects, Random& random) {
  const std::vector<std::string>& versions = invocation.webhook->review_versions;
  // The first version that both know, in the webhook's order of preference.
  const auto known = std::ranges::find_if(
      versions, [](const std::string& version) { return version == "v1" || version == "v1beta1"; });
  if (known == versions.end()) {
    return Status(Reason::kBadRequest,
                  "webhook does not accept known AdmissionReview versions (v1, v1beta1)");
  }
  ReviewRequest request{.uid = NewUuid(random), .version = *known};
  Arena arena;
  const std::string api_version = std::string(kGroup) + "/" + request.version;
  MapBuilder review(arena);
  review.Add("kind", Value::String("AdmissionReview"));
  review.Add("apiVersion", Value::String(api_version));
  review.Add("request", RequestValue(attributes, invocation, objects, request.uid, arena));
  codec::AppendJson(review.Build(), request.json);
  return request;
}

// Follows VerifyAdmissionResponse of webhook/request.
Status VerifyReview(const ReviewRequest& request, bool mutating, ReviewAnswer& answer) {
  const auto refuse = [](std::string why) { return Status(Reason::kInvalid, std::move(why)); };
  if (!answer.has_response) return refuse("webhook response was absent");
  if (request.version == "v1beta1") {
    // v1beta1 checks neither uid nor kind nor patchType.
    if (!mutating) answer.patch.clear();
    answer.patch_type.reset();
    if (!answer.patch.empty()) answer.patch_type = "JSONPatch";
    return {};
  }
  if (answer.uid != request.uid) {
    return refuse("expected response.uid=" + field::Quote(request.uid) + ", got " +
                  field::Quote(answer.uid));
  }
  const std::string expected = GvkText("admission.k8s.io/v1", "AdmissionReview");
  const std::string got = GvkText(answer.api_version, answer.kind);
  if (got != expected) return refuse("expected webhook response of " + expected + ", got " + got);
  // A validating webhook that returns a patch was written for the other kind: that is an error, not
  // ignored.
  if (!mutating) {
    if (!answer.patch.empty()) return refuse("validating webhook may not return response.patch");
    if (answer.patch_type) return refuse("validating webhook may not return response.patchType");
    return {};
  }
  if (!answer.patch.empty() && !answer.patch_type) {
    return refuse("webhook returned response.patch but not response.patchType");
  }
  if (answer.patch.empty() && answer.patch_type) {
    return refuse("webhook returned response.patchType but not response.patch");
  }
  if (answer.patch_type && answer.patch_type->empty()) {
    return refuse("webhook returned invalid response.patchType of \"\"");
  }
  return {};
}

// Follows ToStatusErr of webhook/errors.
Status RefusalOf(std::string_view webhook, const ReviewAnswer& answer) {
  // An answer without a result still needs a code that is an error.
  const Status result = answer.result.value_or(Status(Reason::kUnknown, "").WithCode(400));
  std::string message = "admission webhook " + field::Quote(webhook) + " denied the request";
  if (!result.message().empty()) {
    message.append(": ").append(result.message());
  } else if (!answer.result_reason.empty()) {
    message += ": " + answer.result_reason;
  } else {
    message += " without explanation";
  }
  return result.WithMessage(std::move(message));
}

}  // namespace apiserver::v0::admission
