#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/runtime/settle.h"

#include "base/status_macros.h"
#include "codec/copy_over.h"
#include "codec/encode.h"
#include "codec/protobuf_message.h"
#include "codec/skimmer.h"
#include "codec/type_meta.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::KindPtr;
using runtime::Member;
using runtime::Object;
using runtime::Value;

// Inserts resourceVersion at its place in the canonical order, so that normalizing need not move
// it.
Value WithResourceVersion(Value metadata, std::string_view revision, bool sorted, Arena& arena) {
  const Value text = Value::String(arena.Copy(revision));
  const auto members = metadata.members();
  const auto goes_after = [&](const Member& member) {
    return BeforeResourceVersion(member.key, sorted);
  };
  const auto last = std::find_if(members.rbegin(), members.rend(), goes_after);
  const auto place = static_cast<std::size_t>(members.rend() - last);
  runtime::MapBuilder out(arena, members.size() + 1);
  for (std::size_t i = 0; i <= members.size(); ++i) {
    if (i == place) out.Add("resourceVersion", text);
    if (i < members.size() && members[i].key != "resourceVersion") {
      out.Add(members[i].key, members[i].value);
    }
  }
  return out.Build();
}

void AddRevision(Object& content, std::int64_t revision) {
  const bool structural = content.kind().semantics() == runtime::Semantics::kCustomResource;
  const Value metadata = WithResourceVersion(content.metadata(), std::to_string(revision),
                                             structural, content.arena());
  content.SetRoot(runtime::With(content.root(), "metadata", metadata, content.arena()));
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

// Reads the content, in the version of its bytes, and adds the revision.
Status LoadStored(const Object& object, Arena& arena, Value& root) {
  const KindPtr& kind = object.kind_ptr();
  ASSIGN_OR_RETURN(Stored stored, ParseStored(*kind, *object.stored_bytes(), arena));
  ASSIGN_OR_RETURN(const runtime::GroupVersion gv, ParseGroupVersion(stored.type.api_version));
  RETURN_IF_ERROR(CheckRegistered(*kind, {gv.group, gv.version, stored.type.kind}));
  if (gv.version != object.version()) {
    return Status(Reason::kInternalError, "apiVersion is there twice");
  }
  Object content(kind, gv.version, std::move(arena), stored.root);
  AddRevision(content, object.stored_version());
  RETURN_IF_ERROR(runtime::Settle(content, {.stored = true}));
  root = content.root();
  arena = std::move(content.arena());
  return {};
}

class StorageLoader final : public runtime::ContentLoader {
 public:
  Status Load(const Object& object, Arena& arena, Value& root) const override {
    Status status = LoadStored(object, arena, root);
    if (status.ok()) return status;
    return Status(Reason::kInternalError, "unable to decode an object of kind " +
                                              field::Quote(object.kind().kind()) +
                                              " from storage: " + std::string(status.message()));
  }
};
const StorageLoader kStorageLoader;

constexpr std::string_view kRevisionMember = R"("resourceVersion":")";
constexpr std::string_view kNextRevisionMember = R"(,"resourceVersion":")";

// Returns the part between TypeMeta and the newline; empty if the stored bytes are not of this
// form.
std::string_view StoredBody(const Object& object, std::string_view version) {
  const std::string_view stored = *object.stored_bytes();
  const std::string_view prefix = object.kind().JsonPrefix(version);
  if (!stored.starts_with(prefix) || !stored.ends_with("\n")) return {};
  return stored.substr(prefix.size(), stored.size() - prefix.size() - 1);
}

// Returns `body`, a part of the object's stored bytes, with `inserted` at `at`.
runtime::EncodingPtr Splice(const Object& object, std::string_view body, std::size_t at,
                            std::string_view inserted, const runtime::BodyMarks& marks) {
  runtime::Encoding::Splice splice;
  splice.bytes = object.stored_bytes();
  splice.begin = static_cast<std::uint32_t>(body.data() - splice.bytes->data());
  splice.size = static_cast<std::uint32_t>(body.size());
  splice.at = static_cast<std::uint32_t>(at);
  splice.inserted = inserted;
  return std::make_shared<const runtime::Encoding>(std::move(splice), marks);
}

// Puts the containers in `value` on `pending`. Returns false for a value that JSON does not give
// back: one with another form in it, or a key twice.
bool OpenPlain(const Value& value, std::vector<Value>& pending) {
  const auto open = [&pending](const Value& part) {
    switch (part.type()) {
      case Value::Type::kNull:
      case Value::Type::kBool:
      case Value::Type::kInt:
      case Value::Type::kString:
        return true;
      case Value::Type::kList:
      case Value::Type::kMap:
        pending.push_back(part);
        return true;
      default:
        return false;
    }
  };
  const auto twice = [](const Member& a, const Member& b) { return a.key == b.key; };
  const auto members = value.members();
  return std::ranges::all_of(value.items(), open) &&
         std::ranges::all_of(members, [&](const Member& member) { return open(member.value); }) &&
         std::adjacent_find(members.begin(), members.end(), twice) == members.end();
}

bool IsPlain(const Value& root) {
  std::vector<Value> pending = {root};
  while (!pending.empty()) {
    const Value at = pending.back();
    pending.pop_back();
    if (!OpenPlain(at, pending)) return false;
  }
  return true;
}

// Parses the sets of the owners, which are text when they have just been made, as reading them back
// does. Returns false if one of them is no set.
bool ParseOwners(Object& content) {
  const Value owners = content.metadata()["managedFields"];
  if (!owners.is_list()) return owners.is_null();
  const auto is_text = [](const Value& owner) {
    return owner["fieldsV1"].type() == Value::Type::kRaw;
  };
  if (std::ranges::none_of(owners.items(), is_text)) return true;
  runtime::ListBuilder parsed(content.arena());
  for (const Value& owner : owners.items()) {
    if (!is_text(owner)) {
      parsed.Add(owner);
      continue;
    }
    const auto set = ParseJson(owner["fieldsV1"].AsString(), content.arena());
    if (!set.ok() || !set->is_map()) return false;
    parsed.Add(runtime::With(owner, "fieldsV1", *set, content.arena()));
  }
  content.SetPath({"metadata", "managedFields"}, parsed.Build());
  return true;
}

// Returns what was written as `bytes` as reading it back gives it. Null: that cannot be told.
std::unique_ptr<Object> ContentAsRead(const Object& written,
                                      const std::shared_ptr<const std::string>& bytes) {
  // The writer replaces invalid UTF-8.
  if (bytes->find("\\ufffd") != std::string::npos) return nullptr;
  Object parsed(written.kind_ptr(), written.version(), Arena(), written.root());
  if (!ParseOwners(parsed) || !IsPlain(parsed.root())) return nullptr;
  auto content = std::make_unique<Object>(written.kind_ptr(), written.version());
  content->arena().Pin(bytes);
  content->SetRoot(CopyOver(*bytes, parsed.root(), content->arena()));
  if (content->kind().semantics() == runtime::Semantics::kGoType) return content;
  return runtime::Settle(*content, {.stored = true}).ok() ? std::move(content) : nullptr;
}

}  // namespace

// The spare room of stored bytes is at most one of so many parts of them.
static constexpr std::size_t kSpareParts = 16;

// The revision of the storage is the version of an object, so that neither it nor the old self link
// is kept, as in Go's APIObjectVersioner.PrepareObjectForStorage.
Result<StorageEncoding> EncodeForStorage(const Context& ctx, const Object& object,
                                         const StorageWishes& wishes) {
  const std::string& version = object.kind().storage_version();
  ASSIGN_OR_RETURN(const std::unique_ptr<Object> view, CanonicalView(ctx, object, version));
  view->Erase("metadata", "resourceVersion");
  view->Erase("metadata", "selfLink");
  runtime::EncodedBody body = EncodeJsonBody(*view, view->kind().JsonPrefix(version), wishes.bytes);
  std::string bytes = std::move(body.text);
  bytes += '\n';
  // Kept for as long as the object, so that much room to spare is worth a copy.
  if (bytes.capacity() - bytes.size() > bytes.size() / kSpareParts) bytes.shrink_to_fit();
  StorageEncoding stored;
  stored.bytes = std::make_shared<const std::string>(std::move(bytes));
  const Value before = view->root();
  // The stored bytes serve as an answer only if reading them back would default nothing.
  RETURN_IF_ERROR(runtime::Settle(*view, {.shape = false}));
  if (body.rv_begin > 0 && view->root() == before) stored.answer = body;
  if (stored.answer && wishes.content) stored.content = ContentAsRead(*view, stored.bytes);
  return stored;
}

runtime::ObjectPtr ReadBack(std::unique_ptr<runtime::Object> content, std::int64_t revision) {
  AddRevision(*content, revision);
  return content;
}

void StoreAnswer(const Object& object, const runtime::BodyMarks& answer, std::int64_t revision) {
  if (object.stored_bytes() == nullptr) return;
  const std::string& version = object.kind().storage_version();
  const std::string_view body = StoredBody(object, version);
  // The body is empty, and nothing is shared, if the stored bytes have another form.
  if (answer.rv_begin >= body.size()) return;
  const std::string text = std::to_string(revision);
  const bool first = body[answer.rv_begin - 1] == '{';
  const bool last = body[answer.rv_begin] == '}';
  const std::string_view before = first ? kRevisionMember : kNextRevisionMember;
  const std::string inserted =
      std::string(before).append(text).append(first && !last ? "\"," : "\"");
  runtime::BodyMarks marks = answer;
  marks.rv_begin += static_cast<std::uint32_t>(before.size());
  marks.rv_end = marks.rv_begin + static_cast<std::uint32_t>(text.size());
  marks.metadata_end += static_cast<std::uint32_t>(inserted.size());
  object.StoreEncoding(version, runtime::Format::kJson,
                       Splice(object, body, answer.rv_begin, inserted, marks));
}

// A cached object is then held once in memory, not once as stored and once as an answer.
runtime::EncodingPtr SharedWithStorage(const Object& object, std::string_view version,
                                       const runtime::EncodedBody& body) {
  if (object.stored_bytes() == nullptr || version != object.kind().storage_version() ||
      body.rv_begin == body.rv_end) {
    return nullptr;
  }
  const std::string_view stored = StoredBody(object, version);
  const std::string_view text = body.text;
  // The member with its quotes, and the comma that sets it apart.
  std::size_t begin = body.rv_begin - kRevisionMember.size();
  std::size_t end = body.rv_end + 1;
  if (text[begin - 1] == ',') {
    --begin;
  } else if (text[end] == ',') {
    ++end;
  }
  const bool same = stored.size() + (end - begin) == text.size() &&
                    stored.starts_with(text.substr(0, begin)) && stored.ends_with(text.substr(end));
  if (!same) return nullptr;
  return Splice(object, stored, begin, text.substr(begin, end - begin), body);
}

// Tells an object from bytes that are not even framed as one, such as a value that another server
// encrypted, without parsing: they must not read as an empty object.
static bool LooksLikeAnObject(std::string_view bytes) {
  if (bytes.starts_with(kProtobufPrefix)) return true;
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = bytes.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return false;
  return bytes[first] == '{' && bytes[bytes.find_last_not_of(kSpace)] == '}';
}

// Returns the apiVersion of stored bytes. Empty: there is none that can be read. Bytes as our
// encoder and Go's write them are not parsed for it.
static std::string ApiVersionOf(std::string_view bytes) {
  if (bytes.starts_with(kProtobufPrefix)) {
    auto envelope = OpenProtobufEnvelope(bytes);
    return envelope.ok() ? std::move(envelope->api_version) : std::string();
  }
  Skimmer skimmer(bytes);
  if (skimmer.Enter("apiVersion") == true) {
    const auto text = skimmer.Value();
    const bool plain = text && text->size() > 1 && text->front() == '"' &&
                       text->find('\\') == std::string_view::npos;
    if (plain) return std::string(text->substr(1, text->size() - 2));
  }
  Arena arena;
  auto root = ParseJson(bytes, arena);
  if (!root.ok()) return "";
  auto type = TakeTypeMeta(*root, arena);
  return type.ok() ? std::move(type->api_version) : std::string();
}

// Returns the version whose content `bytes` hold. If that is no version of the kind, reading the
// object fails.
static std::string StoredVersion(const runtime::Kind& kind, std::string_view bytes) {
  if (kind.versions().size() == 1) return kind.hub_version();
  const std::string& usual = kind.storage_version();
  const bool typed = kind.semantics() == runtime::Semantics::kGoType;
  if (typed && bytes.starts_with(kind.JsonPrefix(usual))) return usual;
  const auto stored = ParseGroupVersion(ApiVersionOf(bytes));
  const bool known =
      stored.ok() && stored->group == kind.group() && kind.FindVersion(stored->version) != nullptr;
  return known ? stored->version : kind.hub_version();
}

Result<runtime::ObjectPtr> DecodeFromStorage(const KindPtr& kind,
                                             std::shared_ptr<const std::string> bytes,
                                             std::int64_t resource_version) {
  if (bytes == nullptr) return Status(Reason::kInternalError, "no bytes to decode");
  if (!LooksLikeAnObject(*bytes)) {
    return Status(Reason::kInternalError,
                  "unable to decode an object of kind " + field::Quote(kind->kind()) +
                      " from storage: the stored value is not a JSON object; it may be encrypted");
  }
  const std::string version = StoredVersion(*kind, *bytes);
  return std::make_shared<const Object>(
      kind, version, Object::Source{std::move(bytes), resource_version, &kStorageLoader});
}

}  // namespace apiserver::v0::codec
