#include "client/answer.h"

#include <charconv>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/status.h"
#include "base/status_macros.h"

namespace apiserver::v0::client {
namespace {

using runtime::Arena;
using runtime::Value;

// Reads seconds. The header's other form, a date, reads as 0.
int RetryAfterOf(const http::Headers& headers) {
  const std::string_view text = headers.Get("Retry-After");
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

Status NotAnObject(std::string_view what) {
  return Status(Reason::kInternalError, "the server answered " + std::string(what));
}

struct Parsed {
  Arena arena;
  Value root;
};

Result<Parsed> Parse(std::string body) {
  Parsed parsed;
  const auto text = std::make_shared<const std::string>(std::move(body));
  // The Values borrow their text from the body.
  parsed.arena.Pin(text);
  Result<Value> root = codec::ParseJson(*text, parsed.arena);
  if (!root.ok()) return NotAnObject("no JSON: " + std::string(root.status().message()));
  parsed.root = *root;
  if (!parsed.root.is_map()) return NotAnObject("no JSON object");
  return parsed;
}

runtime::GroupVersionKind KindOf(Value content) {
  const auto version = runtime::GroupVersion::Parse(content["apiVersion"].AsString());
  return {version.group, version.version, std::string(content["kind"].AsString())};
}

Value WithoutTypeMeta(Value content, Arena& arena) {
  runtime::MapBuilder map(arena);
  for (const runtime::Member& member : content.members()) {
    if (member.key != "kind" && member.key != "apiVersion") map.Add(member.key, member.value);
  }
  return map.Build();
}

std::unique_ptr<runtime::Object> CopyOf(const runtime::KindPtr& kind, std::string_view version,
                                        Value content) {
  Arena building;
  Arena arena;
  // A copy of its own, so that one item that is kept does not hold the text of a whole list.
  const Value root = runtime::Copy(WithoutTypeMeta(content, building), arena);
  return std::make_unique<runtime::Object>(kind, version, std::move(arena), root);
}

bool Is(const runtime::KindPtr& kind, const runtime::GroupVersionKind& gvk) {
  return kind && kind->FindVersion(gvk.version) != nullptr && kind->gvk(gvk.version) == gvk;
}

// `last` is a kind to share with objects before; null: there is none.
runtime::KindPtr KindFor(const runtime::GroupVersionKind& gvk, const runtime::Scheme* scheme,
                         const runtime::KindPtr& last = nullptr) {
  if (scheme != nullptr) {
    runtime::KindPtr known = scheme->snapshot()->Find(gvk);
    if (Is(known, gvk)) return known;
  }
  return Is(last, gvk) ? last : runtime::Kind::Untyped(gvk);
}

// Returns the kind of the items of a list of the kind `list`, in the list's version.
Result<runtime::KindPtr> ItemKindOf(runtime::GroupVersionKind list, const runtime::Scheme* scheme) {
  if (scheme != nullptr) {
    const auto snapshot = scheme->snapshot();
    for (const runtime::KindPtr& kind : snapshot->kinds()) {
      if (kind->list_kind() == list.kind && kind->group() == list.group &&
          kind->FindVersion(list.version) != nullptr) {
        return kind;
      }
    }
  }
  // Items of a list carry no kind of their own; it is the list's without this ending.
  constexpr std::string_view kSuffix = "List";
  if (!list.kind.ends_with(kSuffix)) return NotAnObject("no list but a " + list.kind);
  list.kind.resize(list.kind.size() - kSuffix.size());
  return runtime::Kind::Untyped(list);
}

Status CheckKind(const runtime::GroupVersionKind& kind) {
  if (!kind.kind.empty() && !kind.version.empty()) return Status::Ok();
  return NotAnObject("an object without kind and apiVersion");
}

}  // namespace

Status ErrorOf(std::string_view method, const Target& target, const http::ClientResponse& answer) {
  // A proxy between may answer with a page of its own, which is no Status.
  if (const Result<Parsed> parsed = Parse(answer.body); parsed.ok()) {
    if (std::optional<Status> status = meta::StatusFromValue(parsed->root)) return *status;
  }
  return meta::NewGenericServerResponse(
      meta::ServerResponse{.code = answer.code,
                           .verb = method,
                           .resource = target.resource.group_resource(),
                           .name = target.name,
                           .message = answer.body,
                           .retry_after_seconds = RetryAfterOf(answer.headers),
                           .unexpected = true});
}

Result<std::unique_ptr<runtime::Object>> ObjectOf(std::string body, const runtime::Scheme* scheme) {
  ASSIGN_OR_RETURN(Parsed parsed, Parse(std::move(body)));
  const runtime::GroupVersionKind gvk = KindOf(parsed.root);
  RETURN_IF_ERROR(CheckKind(gvk));
  const Value root = WithoutTypeMeta(parsed.root, parsed.arena);
  return std::make_unique<runtime::Object>(KindFor(gvk, scheme), gvk.version,
                                           std::move(parsed.arena), root);
}

Result<std::unique_ptr<runtime::Object>> ObjectOf(Value content, runtime::KindPtr& kind,
                                                  const runtime::Scheme* scheme) {
  const runtime::GroupVersionKind gvk = KindOf(content);
  RETURN_IF_ERROR(CheckKind(gvk));
  kind = KindFor(gvk, scheme, kind);
  return CopyOf(kind, gvk.version, content);
}

Result<runtime::List> ListOf(std::string body, const runtime::Scheme* scheme) {
  ASSIGN_OR_RETURN(const Parsed parsed, Parse(std::move(body)));
  const runtime::GroupVersionKind gvk = KindOf(parsed.root);
  RETURN_IF_ERROR(CheckKind(gvk));
  ASSIGN_OR_RETURN(const runtime::KindPtr kind, ItemKindOf(gvk, scheme));

  runtime::List list;
  const Value metadata = parsed.root["metadata"];
  list.resource_version = metadata["resourceVersion"].AsString();
  list.continue_token = metadata["continue"].AsString();
  if (const Value* remaining = metadata.Find("remainingItemCount")) {
    list.remaining_item_count = remaining->AsInt();
  }
  for (const Value item : parsed.root["items"].items()) {
    list.items.push_back(CopyOf(kind, gvk.version, item));
  }
  return list;
}

std::string JsonOf(const runtime::Object& object) {
  Arena arena;
  runtime::MapBuilder map(arena);
  const runtime::GroupVersionKind gvk = object.gvk();
  const std::string api_version = gvk.group_version().ToString();
  map.Add("kind", Value::String(gvk.kind));
  map.Add("apiVersion", Value::String(api_version));
  for (const runtime::Member& member : object.root().members()) {
    map.Add(member.key, member.value);
  }
  std::string text;
  codec::AppendJson(map.Build(), text);
  return text;
}

}  // namespace apiserver::v0::client
