#include "apiserver/generator/typed_header.h"

#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "generator/identifiers.h"

namespace apiserver::v0::generator {
namespace {

using runtime::Field;
using runtime::Schema;
using runtime::SchemaType;

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view kRuntime = "::apiserver::runtime::";

// The most constants for paths in a kind.
constexpr std::size_t kPathsMax = 20'000;

// A member, which is written once the name of its struct is known.
struct Member {
  std::string json;
  std::string name;
  std::string type;
  std::string comment;
  std::string options;  // Of typed::FieldOptions; empty: none.
};

std::string Joined(std::string_view before, const std::vector<std::string>& parts) {
  std::string to;
  for (const std::string& part : parts) to += (to.empty() ? std::string(before) : ", ") + part;
  return to;
}

// The names of one namespace.
struct NameSpace {
  std::set<std::string> types;  // All of them.
  bool shares = false;          // Structs of definitions are written once.
  std::map<const Schema*, std::string> shared = {};
};

// Writes one version of one kind: its structs, inner ones first.
class KindWriter {
 public:
  KindWriter(const runtime::Kind& kind, const runtime::KindVersion& version, NameSpace& names)
      : kind_(kind), version_(version), names_(names) {}

  std::string Write() {
    const Schema& schema = *version_.schema;
    AddPaths(schema);
    Struct(schema, kind_.kind(), /*root=*/true);
    return std::move(out_);
  }

 private:
  // Writes the struct of `schema`, and what it consists of before it. Returns its name.
  std::string Struct(const Schema& schema, std::string name, bool root) {
    if (!root) name = Unique(std::move(name), names_.types);
    std::set<std::string> taken = {"ForEachField", "Path",     "kGroup", "kKind",
                                   "kPlural",      "kVersion", name};
    std::vector<Member> members;
    AddMembers(schema, name, taken, members);
    out_ += Comment(schema.description(), "");
    out_ += "struct " + name + " {\n";
    if (root) WriteConstants();
    for (const Member& member : members) {
      out_ += member.comment + "  " + member.type + " " + member.name;
      out_ += IsScalar(member.type) ? "{};\n" : ";\n";
    }
    if (!members.empty()) out_ += "\n";
    out_ += "  friend bool operator==(const " + name + "&, const " + name + "&) = default;\n";
    out_ += "  template <class Fields>\n  static void ForEachField(const Fields& fields) {\n";
    if (members.empty()) out_ += "    (void)fields;\n";
    for (const Member& member : members) {
      out_ += "    fields(" + Literal(member.json) + ", &" + name + "::" + member.name +
              (member.options.empty() ? "" : ", ") + member.options + ");\n";
    }
    out_ += "  }\n};\n\n";
    return name;
  }

  // Adds the fields, and those of structs that stand inlined in this one.
  void AddMembers(const Schema& schema, const std::string& outer, std::set<std::string>& taken,
                  std::vector<Member>& members) {
    for (const Field& field : schema.fields()) {
      if (field.inlined) {
        AddMembers(*field.schema, outer, taken, members);
        continue;
      }
      Member member;
      member.json = field.name();
      member.name = Unique(MemberName(field.name()), taken);
      member.type = Type(*field.schema, outer + Capitalized(field.name()));
      if (MayBeAbsent(field)) member.type = "std::optional<" + member.type + ">";
      member.comment = Comment(schema.DescriptionOf(field), "  ") + Limits(field);
      member.options = OptionsOf(field);
      members.push_back(std::move(member));
    }
  }

  // Empty lists and maps are absent ones, and so is what typed::Any has at first.
  bool MayBeAbsent(const Field& field) const {
    const Schema& schema = *field.schema;
    if (schema.type == SchemaType::kList || schema.type == SchemaType::kMap || IsAny(schema)) {
      return false;
    }
    if (schema.name() == kObjectMeta) return false;
    if (kind_.semantics() == runtime::Semantics::kCustomResource) return !field.required;
    return field.presence == Field::Presence::kPointer;
  }

  static bool IsAny(const Schema& schema) {
    return schema.type == SchemaType::kAny || schema.type == SchemaType::kRaw ||
           (schema.type == SchemaType::kStruct && schema.fields().empty());
  }

  static bool IsScalar(std::string_view type) {
    return type == "bool" || type == "double" || type.starts_with("std::int") ||
           type == "std::chrono::nanoseconds";
  }

  // Returns the C++ type; `name` is that of a struct that has to be written for it.
  std::string Type(const Schema& schema, const std::string& name) {
    const std::string in_runtime(kRuntime);
    if (schema.name() == kObjectMeta) return in_runtime + "ObjectMeta";
    if (IsAny(schema)) return in_runtime + "typed::Any";
    switch (schema.type) {
      case SchemaType::kBoolean:
        return "bool";
      case SchemaType::kInteger:
        return schema.bits == 32 ? "std::int32_t" : "std::int64_t";
      case SchemaType::kNumber:
        return "double";
      case SchemaType::kBytes:
        return in_runtime + "typed::Bytes";
      case SchemaType::kTime:
        return in_runtime + "UnixTime";
      case SchemaType::kMicroTime:
        return in_runtime + "typed::MicroTime";
      case SchemaType::kDuration:
        return "std::chrono::nanoseconds";
      case SchemaType::kQuantity:
        return in_runtime + "Quantity";
      case SchemaType::kIntOrString:
        return in_runtime + "typed::IntOrString";
      case SchemaType::kMap:
        return "std::map<std::string, " + Type(*schema.items(), name + "Value") + ">";
      case SchemaType::kList:
        return "std::vector<" + Type(*schema.items(), name + "Item") + ">";
      case SchemaType::kStruct:
        return names_.shares && !schema.name().empty() ? Shared(schema)
                                                       : Struct(schema, name, /*root=*/false);
      default:
        return "std::string";
    }
  }

  // Returns the name of the struct of a definition, which is written the first time.
  std::string Shared(const Schema& schema) {
    if (const auto found = names_.shared.find(&schema); found != names_.shared.end()) {
      return found->second;
    }
    const std::string_view name = schema.name();
    std::string made =
        Struct(schema, Capitalized(name.substr(name.rfind('.') + 1)), /*root=*/false);
    return names_.shared[&schema] = std::move(made);
  }

  static std::string OptionsOf(const Field& field) {
    std::vector<std::string> parts;
    const Schema& schema = *field.schema;
    if (field.required && schema.name() != kObjectMeta) parts.emplace_back(".required = true");
    std::vector<std::string> keys;
    for (const std::string_view key : schema.list_map_keys()) keys.push_back(Literal(key));
    if (!keys.empty()) parts.push_back(".keys = {" + Joined("", keys) + "}");
    if (parts.empty()) return "";
    return std::string(kRuntime) + "typed::FieldOptions{" + Joined("", parts) + "}";
  }

  // Says which texts the schema has for the field.
  static std::string Limits(const Field& field) {
    std::vector<std::string> values;
    for (const runtime::Value value : field.schema->constraints().enum_values()) {
      if (value.is_string()) values.emplace_back(value.AsString());
    }
    return Comment(Joined("One of: ", values) + (values.empty() ? "" : "."), "  ");
  }

  // A struct whose fields' paths are still to be written.
  struct PathPlace {
    const Schema* schema;
    std::string path;
    std::string constant;
  };

  // Level by level: definitions may be in each other in very many ways, and then the deep ones are
  // left out.
  void AddPaths(const Schema& root) {
    std::deque<PathPlace> open = {{&root, "", ""}};
    while (!open.empty() && path_names_.size() < kPathsMax) {
      const PathPlace place = std::move(open.front());
      open.pop_front();
      AddPathsOf(*place.schema, place, open);
    }
  }

  void AddPathsOf(const Schema& schema, const PathPlace& place, std::deque<PathPlace>& open) {
    for (const Field& field : schema.fields()) {
      if (path_names_.size() >= kPathsMax) return;
      if (field.inlined) {
        AddPathsOf(*field.schema, place, open);
        continue;
      }
      const std::string name(field.name());
      // A path that is cut at dots has to be found again.
      if (name.find('.') != std::string::npos) continue;
      std::string here = place.path.empty() ? "" : place.path + ".";
      here += name;
      const std::string as = Unique("k" + place.constant + Capitalized(name), path_names_);
      paths_ += "    static constexpr std::string_view " + as + " = " + Literal(here) + ";\n";
      if (field.schema->type == SchemaType::kStruct && field.schema->name() != kObjectMeta) {
        open.push_back({field.schema.get(), std::move(here), place.constant + Capitalized(name)});
      }
    }
  }

  void WriteConstants() {
    const auto constant = [this](std::string_view name, std::string_view text) {
      out_ += "  static constexpr std::string_view " + std::string(name) + " = " + Literal(text) +
              ";\n";
    };
    constant("kGroup", kind_.group());
    constant("kVersion", version_.version);
    constant("kKind", kind_.kind());
    constant("kPlural", kind_.plural());
    out_ += "  // The fields' paths.\n  struct Path {\n" + paths_ + "  };\n\n";
  }

  const runtime::Kind& kind_;
  const runtime::KindVersion& version_;
  NameSpace& names_;
  std::set<std::string> path_names_;
  std::string paths_;
  std::string out_;
};

}  // namespace

Result<std::string> TypedHeader(std::span<const runtime::KindPtr> kinds,
                                const TypedHeaderOptions& options) {
  if (!IsNamespace(options.name_space)) {
    return Status(Reason::kInvalid,
                  "\"" + options.name_space + "\" is no name of a namespace in C++");
  }
  // The kinds have their names, whatever inner structs are called.
  std::map<std::string, NameSpace> names;  // By version.
  for (const runtime::KindPtr& kind : kinds) {
    for (const runtime::KindVersion& version : kind->versions()) {
      if (!version.schema) continue;
      NameSpace& in = names[version.version];
      in.shares = options.share_definitions;
      if (!in.types.insert(kind->kind()).second) {
        return Status(Reason::kInvalid,
                      "there are two kinds " + kind->kind() + " in version " + version.version);
      }
    }
  }
  std::string out = "// Made by apiserver-gen" +
                    (options.made_from.empty() ? "" : " from " + options.made_from) +
                    "; changes belong there.\n";
  // A path is a text, and a comment ends with its line.
  out = Comment(out.substr(3), "");
  out +=
      "#pragma once\n\n#include <chrono>\n#include <cstdint>\n#include <map>\n"
      "#include <optional>\n#include <string>\n#include <string_view>\n#include <vector>\n\n"
      "#include \"apiserver/runtime/typed.h\"\n#include \"apiserver/runtime/typed_meta.h\"\n\n"
      "// NOLINTBEGIN(readability-identifier-naming): the names of JSON.\n";
  for (const runtime::KindPtr& kind : kinds) {
    for (const runtime::KindVersion& version : kind->versions()) {
      if (!version.schema) continue;
      const std::string name_space = options.name_space + "::" + MemberName(version.version);
      out += "namespace " + name_space + " {\n\n";
      out += KindWriter(*kind, version, names[version.version]).Write();
      out += "}  // namespace " + name_space + "\n\n";
    }
  }
  return out + "// NOLINTEND(readability-identifier-naming)\n";
}

}  // namespace apiserver::v0::generator
