#include <algorithm>
#include <string>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"

#include "base/status_macros.h"
#include "codec/encode.h"
#include "codec/protobuf_message.h"
#include "codec/type_meta.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::KindPtr;
using runtime::Member;
using runtime::Object;
using runtime::Value;

// Where the canonical order has it, so that normalizing need not move it.
Value WithResourceVersion(Value metadata, std::string_view revision, bool sorted, Arena& arena) {
  const Value text = Value::String(arena.Copy(revision));
  const auto members = metadata.members();
  const auto goes_after = [&](const Member& member) {
    return BeforeResourceVersion(member.key, sorted);
  };
  const auto last = std::find_if(members.rbegin(), members.rend(), goes_after);
  const auto place = static_cast<std::size_t>(members.rend() - last);
  runtime::MapBuilder out(arena);
  for (std::size_t i = 0; i <= members.size(); ++i) {
    if (i == place) out.Add("resourceVersion", text);
    if (i < members.size() && members[i].key != "resourceVersion") {
      out.Add(members[i].key, members[i].value);
    }
  }
  return out.Build();
}

struct Stored {
  TypeMeta type;
  Value root;
};

Result<Stored> ParseStored(const runtime::Kind& kind, std::string_view bytes, Arena& arena) {
  Stored stored;
  if (bytes.starts_with(kProtobufPrefix)) {
    ASSIGN_OR_RETURN(const ProtobufEnvelope envelope, OpenProtobufEnvelope(bytes));
    stored.type = {envelope.api_version, envelope.kind};
    ASSIGN_OR_RETURN(const runtime::GroupVersion gv, ParseGroupVersion(envelope.api_version));
    RETURN_IF_ERROR(CheckRegistered(kind, {gv.group, gv.version, envelope.kind}));
    ASSIGN_OR_RETURN(stored.root,
                     DecodeMessage(envelope.raw, *kind.FindVersion(gv.version)->schema, arena));
    return stored;
  }
  ASSIGN_OR_RETURN(stored.root, ParseJson(bytes, arena));
  ASSIGN_OR_RETURN(stored.type, TakeTypeMeta(stored.root, arena));
  return stored;
}

// Bytes -> content in the hub version, with its revision.
Status Load(const KindPtr& kind, std::int64_t revision, std::string_view bytes, Arena& arena,
            Value& root) {
  ASSIGN_OR_RETURN(Stored stored, ParseStored(*kind, bytes, arena));
  ASSIGN_OR_RETURN(const runtime::GroupVersion gv, ParseGroupVersion(stored.type.api_version));
  RETURN_IF_ERROR(CheckRegistered(*kind, {gv.group, gv.version, stored.type.kind}));
  const bool structural = kind->semantics() == runtime::Semantics::kStructural;
  const Value metadata =
      WithResourceVersion(stored.root["metadata"], std::to_string(revision), structural, arena);
  stored.root = runtime::With(stored.root, "metadata", metadata, arena);

  Object object(kind, gv.version, std::move(arena), stored.root);
  if (structural) {
    runtime::Prune(object);
  } else {
    RETURN_IF_ERROR(runtime::Normalize(object));
  }
  runtime::SetDefaults(object);
  if (gv.version != kind->hub_version()) {
    RETURN_IF_ERROR(runtime::ConvertTo(object, kind->hub_version()));
  }
  root = object.root();
  arena = std::move(object.arena());
  return {};
}

}  // namespace

Result<StorageEncoding> EncodeForStorage(const Object& object) {
  const std::string& version = object.kind().storage_version();
  ASSIGN_OR_RETURN(const std::unique_ptr<Object> view, CanonicalView(object, version));
  view->Erase("metadata", "resourceVersion");
  view->Erase("metadata", "selfLink");
  runtime::Encoding encoding = EncodeJsonBody(*view);
  StorageEncoding stored;
  stored.bytes.append(view->kind().JsonPrefix(version)).append(encoding.body).append("\n");
  const Value before = view->root();
  runtime::SetDefaults(*view);
  if (encoding.rv_begin > 0 && view->root() == before) stored.answer = std::move(encoding);
  return stored;
}

void StoreAnswer(const Object& object, const runtime::Encoding& answer, std::int64_t revision) {
  const std::string text = std::to_string(revision);
  const bool first = answer.body[answer.rv_begin - 1] == '{';
  const bool last = answer.body[answer.rv_begin] == '}';
  const std::string before = first ? R"("resourceVersion":")" : R"(,"resourceVersion":")";
  const std::string after = first && !last ? "\"," : "\"";
  auto encoding = std::make_shared<runtime::Encoding>();
  const std::string_view body = answer.body;
  encoding->body.reserve(body.size() + before.size() + text.size() + after.size());
  encoding->body.append(body.substr(0, answer.rv_begin)).append(before);
  encoding->rv_begin = static_cast<std::uint32_t>(encoding->body.size());
  encoding->body.append(text);
  encoding->rv_end = static_cast<std::uint32_t>(encoding->body.size());
  encoding->body.append(after).append(body.substr(answer.rv_begin));
  encoding->metadata_begin = answer.metadata_begin;
  encoding->metadata_end =
      answer.metadata_end + static_cast<std::uint32_t>(encoding->body.size() - body.size());
  object.StoreEncoding(object.kind().storage_version(), runtime::Format::kJson,
                       std::move(encoding));
}

Result<runtime::ObjectPtr> DecodeFromStorage(const KindPtr& kind,
                                             std::shared_ptr<const std::string> bytes,
                                             std::int64_t resource_version) {
  if (bytes == nullptr) return Status(Reason::kInternalError, "no bytes to decode");
  const std::string& hub = kind->hub_version();
  auto load = [kind, resource_version](std::string_view text, Arena& arena, Value& root) {
    Status status = Load(kind, resource_version, text, arena, root);
    if (status.ok()) return status;
    return Status(Reason::kInternalError, "unable to decode an object of kind " +
                                              field::Quote(kind->kind()) +
                                              " from storage: " + std::string(status.message()));
  };
  return std::make_shared<const Object>(kind, hub, std::move(bytes), std::move(load));
}

}  // namespace apiserver::inline v0::codec
