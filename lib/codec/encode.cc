#include "codec/encode.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/meta/status.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/settle.h"

#include "base/status_macros.h"
#include "codec/json_write.h"
#include "codec/protobuf_message.h"
#include "codec/stored_parts.h"
#include "codec/type_meta.h"
#include "runtime/convert_and_settle.h"

namespace apiserver::v0::codec {
namespace {

using runtime::EncodedBody;
using runtime::Encoding;
using runtime::EncodingPtr;
using runtime::Member;
using runtime::Object;
using runtime::Value;

// Writes a body and records the positions of metadata and the revision in it.
class BodyWriter {
 public:
  BodyWriter(const Object& object, std::string_view before, std::size_t bytes)
      : object_(object),
        sorted_(object.kind().semantics() == runtime::Semantics::kCustomResource),
        begin_(before.size()) {
    body_.text.reserve(bytes);
    body_.text.append(before);
  }

  // The body lacks its beginning, Kind::JsonPrefix, which is the same for all objects of a version.
  EncodedBody Write() && {
    std::vector<Member> members(object_.root().members().begin(), object_.root().members().end());
    const std::string api_version = object_.gvk().group_version().ToString();
    if (sorted_) {
      members.push_back({"apiVersion", Value::String(api_version)});
      members.push_back({"kind", Value::String(object_.kind().kind())});
    } else if (members.empty()) {
      members.push_back({"metadata", Value::Map({})});
    }
    Members(std::move(members), /*root=*/true);
    body_.text += '}';
    return std::move(body_);
  }

 private:
  void Members(std::vector<Member> members, bool root) {
    if (sorted_) {
      std::sort(members.begin(), members.end(),
                [](const Member& a, const Member& b) { return a.key < b.key; });
    }
    bool first = true;
    for (const Member& member : members) {
      if (!std::exchange(first, false)) body_.text += ',';
      AppendJsonString(member.key, body_.text);
      body_.text += ':';
      if (root && member.key == "metadata" && member.value.is_map()) {
        Metadata(member.value);
      } else {
        Other(member, /*in_metadata=*/!root);
      }
      // Without a revision, this is where one is inserted later.
      if (!root && !has_revision_ && BeforeResourceVersion(member.key, sorted_)) {
        body_.rv_begin = body_.rv_end = Here();
      }
    }
  }

  void Metadata(const Value& metadata) {
    body_.metadata_begin = Here();
    body_.text += '{';
    body_.rv_begin = body_.rv_end = Here();
    Members({metadata.members().begin(), metadata.members().end()}, /*root=*/false);
    body_.text += '}';
    body_.metadata_end = Here();
  }

  void Other(const Member& member, bool in_metadata) {
    const std::uint32_t begin = Here();
    if (sorted_) {
      AppendSortedJson(member.value, body_.text);
    } else {
      AppendJson(member.value, body_.text);
    }
    if (in_metadata && member.key == "resourceVersion" && member.value.is_string()) {
      has_revision_ = true;
      body_.rv_begin = begin + 1;
      body_.rv_end = Here() - 1;
    }
  }

  std::uint32_t Here() const { return static_cast<std::uint32_t>(body_.text.size() - begin_); }

  const Object& object_;
  const bool sorted_;
  const std::size_t begin_;
  bool has_revision_ = false;
  EncodedBody body_;
};

// Makes an object that shares the content of `object`, to be converted to `version`.
Result<std::unique_ptr<Object>> ViewFor(const Object& object, std::string_view version) {
  if (object.kind().FindVersion(version) == nullptr) {
    return CheckRegistered(object.kind(), object.kind().gvk(version));
  }
  RETURN_IF_ERROR(object.load_status());
  return std::make_unique<Object>(object.kind_ptr(), object.version(), runtime::Arena(),
                                  object.root());
}

// Custom resources have no Go type whose form their content would take.
Status MakeCanonical(Object& view) {
  if (view.kind().semantics() != runtime::Semantics::kGoType) return {};
  const Status fits = runtime::Settle(view, {.defaults = false});
  return fits.ok() ? Status() : Status(Reason::kInternalError, std::string(fits.message()));
}

Status CheckHasForm(const runtime::Kind& kind, std::string_view version, runtime::Format format) {
  if (format != runtime::Format::kProtobuf || HasProtobuf(kind, version)) return {};
  return Status(Reason::kNotAcceptable, NoProtobufMessage(kind, version));
}

// Encodes the canonical `view` of `object`, which keeps it.
Result<EncodingPtr> Encode(const Object& object, const Object& view, const EncodingForm& form) {
  EncodingPtr encoding;
  if (form.format == runtime::Format::kProtobuf) {
    ASSIGN_OR_RETURN(EncodedBody body, EncodeProtobufBody(view));
    encoding = std::make_shared<const Encoding>(std::move(body));
  } else {
    EncodedBody body = EncodeJsonBody(view);
    encoding = SharedWithStorage(object, form.version, body);
    if (encoding == nullptr) encoding = ComposedOfStored(object.stored_bytes(), body);
    if (encoding == nullptr) encoding = std::make_shared<const Encoding>(std::move(body));
  }
  return object.StoreEncoding(form.version, form.format, std::move(encoding), form.share);
}

// The objects of a list that need an encoding.
struct Chosen {
  std::span<const runtime::ObjectPtr> objects;
  const std::vector<std::size_t>& places;
};

// Converts all chosen objects in one call.
Status FillTogether(const Context& ctx, const Chosen& chosen, const EncodingForm& form,
                    std::span<EncodingPtr> encodings) {
  std::vector<std::unique_ptr<Object>> passing;  // Objects whose content the views share.
  std::vector<std::unique_ptr<Object>> views;
  std::vector<Object*> converted;
  for (const std::size_t place : chosen.places) {
    const Object& object = *chosen.objects[place];
    RETURN_IF_ERROR(CheckHasForm(object.kind(), form.version, form.format));
    passing.push_back(object.loaded() ? nullptr : object.Clone());
    ASSIGN_OR_RETURN(auto view,
                     ViewFor(passing.back() != nullptr ? *passing.back() : object, form.version));
    converted.push_back(view.get());
    views.push_back(std::move(view));
  }
  RETURN_IF_ERROR(runtime::Convert(ctx, converted, form.version));
  for (std::size_t i = 0; i < views.size(); ++i) {
    RETURN_IF_ERROR(MakeCanonical(*views[i]));
    const std::size_t place = chosen.places[i];
    ASSIGN_OR_RETURN(encodings[place], Encode(*chosen.objects[place], *views[i], form));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Object>> CanonicalView(const Context& ctx, const Object& object,
                                              std::string_view version) {
  ASSIGN_OR_RETURN(auto view, ViewFor(object, version));
  RETURN_IF_ERROR(runtime::ConvertAndSettle(ctx, *view, version));
  return view;
}

bool BeforeResourceVersion(std::string_view key, bool sorted) {
  if (sorted) return key < "resourceVersion";
  return key == "name" || key == "generateName" || key == "namespace" || key == "selfLink" ||
         key == "uid";
}

EncodedBody EncodeJsonBody(const Object& object, std::string_view before, std::size_t bytes) {
  return BodyWriter(object, before, bytes).Write();
}

Result<EncodingPtr> EncodingOf(const Context& ctx, const Object& object, std::string_view version,
                               runtime::Format format, const EncodingShare& share) {
  if (EncodingPtr found = object.FindEncoding(version, format)) return found;
  RETURN_IF_ERROR(CheckHasForm(object.kind(), version, format));
  // An object that no caller has read yet is not parsed for good: the encoding alone is kept.
  const std::unique_ptr<Object> passing = object.loaded() ? nullptr : object.Clone();
  ASSIGN_OR_RETURN(const std::unique_ptr<Object> view,
                   CanonicalView(ctx, passing != nullptr ? *passing : object, version));
  return Encode(object, *view, {version, format, share});
}

Status FillEncodings(const Context& ctx, std::span<const runtime::ObjectPtr> objects,
                     const EncodingForm& form, std::span<EncodingPtr> encodings) {
  std::vector<std::size_t> together;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (encodings[i] != nullptr) continue;
    const Object& object = *objects[i];
    if (object.version() != form.version && object.kind().converter().may_wait()) {
      // A converter that may wait, such as a webhook, gets one call for all objects.
      together.push_back(i);
      continue;
    }
    ASSIGN_OR_RETURN(encodings[i], EncodingOf(ctx, object, form.version, form.format, form.share));
  }
  return FillTogether(ctx, {objects, together}, form, encodings);
}

std::string StatusToJson(const Status& status, bool pretty) {
  runtime::Arena arena;
  const Value value = meta::StatusToValue(status, arena);
  std::string json;
  if (pretty) {
    AppendPrettyJson(value, json);
  } else {
    AppendJson(value, json);
    json += '\n';
  }
  return json;
}

}  // namespace apiserver::v0::codec
