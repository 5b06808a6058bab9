#include "apiserver/codec/proto_schema.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/base/field_path.h"

#include "base/status_macros.h"
#include "codec/proto_rules.h"

namespace apiserver::v0::codec {
namespace {

namespace pb = google::protobuf;

using runtime::Field;
using runtime::FieldParts;
using runtime::SchemaParts;
using runtime::SchemaPool;
using runtime::SchemaPtr;
using runtime::SchemaType;

// Messages are read by recursion, so their depth is limited. Real ones stay far below.
constexpr int kNestingMax = 200;

// The one message that contains itself and yet has a protobuf form: json_schema_message.h.
constexpr std::string_view kJsonSchemaProps =
    "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

Status Refused(std::string_view where, std::string_view what) {
  return Status(Reason::kInvalid, std::string(where) + ": " + std::string(what));
}

// Adds the place of an error.
Status At(std::string_view where, const Status& status) { return Refused(where, status.message()); }

SchemaPtr FieldsV1Schema() {
  SchemaParts schema;
  schema.type = SchemaType::kRaw;
  schema.name = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";
  return MakeSchema(schema);
}

// The schemas that stand for Kubernetes' shared messages in Go. Null: an ordinary message.
SchemaPtr WellKnown(std::string_view message) {
  constexpr std::string_view kMachinery = "k8s.io.apimachinery.pkg.";
  if (!message.starts_with(kMachinery)) return nullptr;
  static const std::map<std::string_view, SchemaPtr> schemas = {
      {"apis.meta.v1.Time", runtime::TimeSchema()},
      {"apis.meta.v1.MicroTime", runtime::MicroTimeSchema()},
      {"apis.meta.v1.Duration", runtime::DurationSchema()},
      {"apis.meta.v1.FieldsV1", FieldsV1Schema()},
      {"apis.meta.v1.ObjectMeta", runtime::ObjectMetaSchema()},
      {"apis.meta.v1.ListMeta", runtime::ListMetaSchema()},
      {"runtime.RawExtension", runtime::RawExtensionSchema()},
      {"api.resource.Quantity", runtime::QuantitySchema()},
      {"util.intstr.IntOrString", runtime::IntOrStringSchema()},
  };
  const auto found = schemas.find(message.substr(kMachinery.size()));
  return found == schemas.end() ? nullptr : found->second;
}

template <class Descriptor>
ProtoComment CommentOf(const Descriptor& descriptor) {
  pb::SourceLocation location;
  if (!descriptor.GetSourceLocation(&location)) return {};
  return ParseProtoComment(location.leading_comments.empty() ? location.trailing_comments
                                                             : location.leading_comments);
}

// The name of the OpenAPI definition.
Result<std::string> OpenApiName(const pb::Descriptor& message, const MessageRules& rules) {
  if (!rules.openapi_name.empty()) return rules.openapi_name;
  const pb::FileDescriptor& file = *message.file();
  ASSIGN_OR_RETURN(const FileRules file_rules, ReadFileRules(file.options().SerializeAsString()));
  std::string package =
      file_rules.openapi_package.empty() ? file.package() : file_rules.openapi_package;
  // As Kubernetes' own definitions, whose names begin with the reversed domain.
  if (file_rules.openapi_package.empty() && package.starts_with("k8s.io.")) {
    package.replace(0, 6, "io.k8s");
  }
  const std::size_t own = file.package().empty() ? 0 : file.package().size() + 1;
  return package + "." + message.full_name().substr(own);
}

class Loader {
 public:
  using Schemas = std::map<std::string, Result<SchemaPtr>, std::less<>>;

  // Returns the schema of a message. The result is kept, errors too.
  Result<SchemaPtr> Message(const pb::Descriptor& message) {
    const std::string& name = message.full_name();
    if (const auto found = schemas_.find(name); found != schemas_.end()) return found->second;
    if (open_.size() > kNestingMax) return Refused(name, "is nested too deeply");
    if (!open_.insert(&message).second) return Refused(name, "contains itself");
    SchemaPtr known = WellKnown(name);
    Result<SchemaPtr> schema =
        known != nullptr ? Result<SchemaPtr>(std::move(known)) : Build(message);
    open_.erase(&message);
    schemas_.emplace(name, schema);
    return schema;
  }

  // Builds every message now: the descriptors are gone after Load().
  void Nested(const pb::Descriptor& message) {
    if (message.options().map_entry()) return;
    (void)Message(message);  // Its error is reported when it is asked for.
    for (int i = 0; i < message.nested_type_count(); ++i) Nested(*message.nested_type(i));
  }

  Schemas Take() && { return std::move(schemas_); }

 private:
  struct Placed {
    FieldParts field;
    int place;
    bool said;
  };

  Result<SchemaPtr> Build(const pb::Descriptor& message) {
    const std::string& name = message.full_name();
    if (message.real_oneof_decl_count() > 0) return Refused(name, "oneof has no form in JSON");
    if (message.extension_range_count() > 0) return Refused(name, "must not be extended");
    const Result<MessageRules> rules = ReadMessageRules(message.options().SerializeAsString());
    if (!rules.ok()) return At(name, rules.status());
    const ProtoComment comment = CommentOf(message);
    SchemaParts schema;
    if (rules->any) {
      if (message.field_count() > 0) return Refused(name, "any value has no fields");
      schema.proto_message = name == kJsonSchemaProps;
    } else if (rules->list) {
      ASSIGN_OR_RETURN(schema, ListMessage(message));
    } else {
      schema.type = SchemaType::kStruct;
      RETURN_IF_ERROR(Fields(message, rules->type_meta, schema));
    }
    schema.description = comment.description;
    ASSIGN_OR_RETURN(schema.name, OpenApiName(message, *rules));
    if (const Status applied = ApplyMarkers(comment, schema); !applied.ok()) {
      return At(name, applied);
    }
    return pool_.Make(schema);
  }

  // Kubernetes' form of a named slice, such as meta/v1's Verbs: a message with one repeated field.
  Result<SchemaParts> ListMessage(const pb::Descriptor& message) {
    const bool right = message.field_count() == 1 && message.field(0)->is_repeated() &&
                       !message.field(0)->is_map() && message.field(0)->number() == 1;
    if (!right) return Refused(message.full_name(), "a list has one field, repeated, of number 1");
    ASSIGN_OR_RETURN(const FieldParts items, OneField(*message.field(0), {}));
    SchemaParts schema(*items.schema);
    schema.proto_message = true;
    return schema;
  }

  Status Fields(const pb::Descriptor& message, bool type_meta, SchemaParts& schema) {
    if (type_meta) {
      for (const char* const name : {"kind", "apiVersion"}) {
        FieldParts field;
        field.name = name;
        field.schema = runtime::StringSchema();
        field.proto_number = Field::kNotInProto;
        schema.fields.push_back(std::move(field));
      }
    }
    std::vector<Placed> placed;
    for (int i = 0; i < message.field_count(); ++i) {
      const pb::FieldDescriptor& descriptor = *message.field(i);
      const Result<FieldRules> rules = ReadFieldRules(descriptor.options().SerializeAsString());
      if (!rules.ok()) return At(descriptor.full_name(), rules.status());
      ASSIGN_OR_RETURN(FieldParts field, OneField(descriptor, *rules));
      const bool said = rules->json_place > 0;
      placed.push_back({std::move(field), said ? rules->json_place : i + 1, said});
    }
    // An explicit place wins over a field that has it only by its position.
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      return a.place != b.place ? a.place < b.place : a.said && !b.said;
    });
    for (Placed& each : placed) schema.fields.push_back(std::move(each.field));
    return {};
  }

  Result<FieldParts> OneField(const pb::FieldDescriptor& descriptor, const FieldRules& rules) {
    const std::string& where = descriptor.full_name();
    const ProtoComment comment = CommentOf(descriptor);
    FieldParts field;
    field.name = descriptor.json_name();
    field.description = comment.description;
    field.proto_number = descriptor.number();
    ASSIGN_OR_RETURN(field.schema, TypeOf(descriptor));
    const bool formless = !field.schema->proto_message;
    if (field.schema->type == SchemaType::kAny && formless) field.proto_number = 0;
    if (rules.inlined) {
      if (field.schema->type != SchemaType::kStruct)
        return Refused(where, "only a message can be inlined");
      field.inlined = true;
    }
    RETURN_IF_ERROR(SetPresence(rules, comment, where, field));
    if (const Status status = ApplyDefault(comment, field); !status.ok()) return At(where, status);
    // A field without markers shares the schema of its type.
    if (!SaysOfValue(comment)) return field;
    SchemaParts schema(*field.schema);
    if (const Status status = ApplyMarkers(comment, schema); !status.ok()) return At(where, status);
    field.schema = pool_.Make(schema);
    return field;
  }

  // The rules at the top of apiserver/codec/schema.proto.
  static Status SetPresence(const FieldRules& rules, const ProtoComment& comment,
                            std::string_view where, FieldParts& field) {
    const SchemaType type = field.schema->type;
    const bool slice =
        type == SchemaType::kList || type == SchemaType::kMap || type == SchemaType::kBytes;
    if (rules.pointer && slice) return Refused(where, "lists, maps and bytes are no pointers");
    if (rules.pointer) field.presence = Field::Presence::kPointer;
    const auto [optional, required] = OptionalityOf(comment);
    if (optional && required) return Refused(where, "is both +optional and +required");
    const bool may_miss = optional || rules.pointer || type == SchemaType::kMap;
    switch (rules.omit) {
      case FieldRules::kByMarker:
        field.omit = may_miss ? Field::Omit::kWhenEmpty : Field::Omit::kNever;
        break;
      case FieldRules::kNever:
        field.omit = Field::Omit::kNever;
        break;
      case FieldRules::kWhenEmpty:
        field.omit = Field::Omit::kWhenEmpty;
        break;
      case FieldRules::kWhenZero:
        field.omit = Field::Omit::kWhenZero;
        break;
    }
    field.required = required || (!optional && field.omit == Field::Omit::kNever);
    if (field.inlined) field.required = false;
    return {};
  }

  Result<SchemaPtr> TypeOf(const pb::FieldDescriptor& descriptor) {
    if (descriptor.is_map()) {
      const pb::Descriptor& entry = *descriptor.message_type();
      if (entry.map_key()->type() != pb::FieldDescriptor::TYPE_STRING) {
        return Refused(descriptor.full_name(), "the keys of a map are strings");
      }
      ASSIGN_OR_RETURN(SchemaPtr values, ElementOf(*entry.map_value(), descriptor.full_name()));
      return Collection(SchemaType::kMap, std::move(values));
    }
    ASSIGN_OR_RETURN(SchemaPtr element, ElementOf(descriptor, descriptor.full_name()));
    if (!descriptor.is_repeated()) return element;
    if (descriptor.is_packed()) {
      return Refused(descriptor.full_name(), "Kubernetes has no packed lists");
    }
    return Collection(SchemaType::kList, std::move(element));
  }

  SchemaPtr Collection(SchemaType type, SchemaPtr items) {
    SchemaParts schema;
    schema.type = type;
    schema.items = std::move(items);
    return pool_.Make(schema);
  }

  Result<SchemaPtr> ElementOf(const pb::FieldDescriptor& descriptor, std::string_view where) {
    switch (descriptor.type()) {
      case pb::FieldDescriptor::TYPE_STRING:
        return string_;
      case pb::FieldDescriptor::TYPE_BYTES:
        return bytes_;
      case pb::FieldDescriptor::TYPE_BOOL:
        return boolean_;
      case pb::FieldDescriptor::TYPE_INT32:
        return int32_;
      case pb::FieldDescriptor::TYPE_INT64:
        return int64_;
      case pb::FieldDescriptor::TYPE_DOUBLE:
        return number_;
      case pb::FieldDescriptor::TYPE_MESSAGE:
        return Message(*descriptor.message_type());
      default:
        return Refused(where,
                       std::string("Kubernetes has no fields of type ") + descriptor.type_name());
    }
  }

  const SchemaPtr string_ = runtime::StringSchema();
  const SchemaPtr bytes_ = runtime::BytesSchema();
  const SchemaPtr boolean_ = runtime::BooleanSchema();
  const SchemaPtr int32_ = runtime::IntegerSchema(32);
  const SchemaPtr int64_ = runtime::IntegerSchema(64);
  const SchemaPtr number_ = runtime::NumberSchema();
  SchemaPool pool_;
  Schemas schemas_;
  // The messages that are being built: the way to the current one.
  std::set<const pb::Descriptor*> open_;
};

// Collects the first reason why a file was refused.
class Errors final : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& filename, const std::string& element,
                const pb::Message* /*descriptor*/, ErrorLocation /*location*/,
                const std::string& message) override {
    if (first_.empty())
      first_.append(filename).append(": ").append(element).append(": ") += message;
  }
  const std::string& first() const { return first_; }

 private:
  std::string first_;
};

// True for messages that are not in Kubernetes' form: protobuf's own and our options.
bool IsForeign(const pb::FileDescriptor& file) {
  return file.package() == "google.protobuf" || file.package() == "libapiserver";
}

}  // namespace

Result<ProtoSchemas> ProtoSchemas::Load(std::string_view descriptor_set) {
  pb::FileDescriptorSet set;
  if (!set.ParsePartialFromArray(descriptor_set.data(), static_cast<int>(descriptor_set.size()))) {
    return Status(Reason::kInvalid, "the descriptor set is malformed");
  }
  pb::DescriptorPool pool;
  Loader loader;
  std::vector<const pb::FileDescriptor*> files;
  for (const pb::FileDescriptorProto& proto : set.file()) {
    Errors errors;
    const pb::FileDescriptor* file = pool.BuildFileCollectingErrors(proto, &errors);
    if (file == nullptr) return Status(Reason::kInvalid, errors.first());
    files.push_back(file);
  }
  for (const pb::FileDescriptor* file : files) {
    if (IsForeign(*file)) continue;
    for (int i = 0; i < file->message_type_count(); ++i) loader.Nested(*file->message_type(i));
  }
  ProtoSchemas schemas;
  schemas.schemas_ = std::move(loader).Take();
  return schemas;
}

Result<SchemaPtr> ProtoSchemas::Find(std::string_view message) const {
  const auto found = schemas_.find(message);
  if (found != schemas_.end()) return found->second;
  return Status(Reason::kNotFound, "there is no message " + field::Quote(message));
}

}  // namespace apiserver::v0::codec
