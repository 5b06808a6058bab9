#include "cel/plan/fold.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "cel/run/dispatch.h"
#include "cel/run/lossless.h"
#include "cel/run/map.h"

namespace apiserver::v0::cel::plan {
namespace {

using check::Reference;
using syntax::NodeId;
using syntax::NodeKind;
using Kind = Value::Kind;

// Calls of these functions are folded if their only argument is constant.
constexpr std::array<std::string_view, 10> kConversions = {
    "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"};

bool IsConversion(std::string_view function) {
  return std::find(kConversions.begin(), kConversions.end(), function) != kConversions.end();
}

class Folder {
 public:
  Folder(const check::CheckedAst& checked, ProgramState& program)
      : checked_(checked), ast_(checked.ast), program_(program) {}

  Result<Constants> Run() {
    constants_.of_node.assign(ast_.size(), kNoConstant);
    MarkReachable();
    // Children come before their parents.
    for (NodeId id = 0; id < ast_.size(); ++id) {
      if (!constants_.reachable[id]) continue;
      constants_.failure = FoldNode(id);
      if (constants_.failure.ok()) continue;
      constants_.failed = id;
      break;
    }
    if (program_.constants.size() >= kConstantBit) {
      return Status(Reason::kInvalid, "too many constants");
    }
    return std::move(constants_);
  }

 private:
  void MarkReachable() {
    constants_.reachable.assign(ast_.size(), false);
    if (ast_.root() == syntax::kNoNode) return;
    constants_.reachable[ast_.root()] = true;
    for (NodeId id = ast_.root() + 1; id-- > 0;) {
      if (!constants_.reachable[id]) continue;
      for (const NodeId child : ast_.children(id)) constants_.reachable[child] = true;
    }
  }

  Status FoldNode(NodeId id) {
    switch (checked_.references[id].kind) {
      case Reference::Kind::kType:
        // The program keeps the type alive.
        program_.types.push_back(checked_.references[id].type);
        Add(id, Value::OfType(program_.types.back().node()));
        return {};
      case Reference::Kind::kTypeName:
        return {Reason::kInvalid, "reference to undefined type: " + std::string(ast_.name_of(id))};
      case Reference::Kind::kZero:
        Add(id, Value::Int(0));
        return {};
      default:
        return FoldByKind(id);
    }
  }

  Status FoldByKind(NodeId id) {
    switch (ast_.node(id).kind) {
      case NodeKind::kConstant:
        Add(id, Literal(ast_.constant(id)));
        return {};
      case NodeKind::kList:
        FoldList(id);
        return {};
      case NodeKind::kMap:
        FoldMap(id);
        return {};
      case NodeKind::kCall:
        return FoldCall(id);
      default:
        return {};
    }
  }

  bool AllConstant(NodeId id) const {
    const auto children = ast_.children(id);
    return std::all_of(children.begin(), children.end(),
                       [this](NodeId child) { return constants_.Is(child); });
  }
  bool AnyOptional(NodeId id) const {
    for (std::size_t i = 0; i < ast_.entry_count(id); ++i) {
      if (ast_.entry(id, i).optional) return true;
    }
    return false;
  }

  const Value& ConstantOf(NodeId id) const { return program_.constants[constants_.of_node[id]]; }

  // Adds a constant, or shares an equal scalar.
  void Add(NodeId id, const Value& value) {
    const auto added = static_cast<std::uint32_t>(program_.constants.size());
    std::pair<Kind, std::string> key(value.kind(), {});
    switch (value.kind()) {
      case Kind::kString:
      case Kind::kBytes:
        key.second = value.AsText();
        break;
      case Kind::kNull:
        break;
      case Kind::kBool:
        key.second = value.AsBool() ? "1" : "0";
        break;
      case Kind::kInt:
      case Kind::kUint:
        key.second = std::to_string(value.AsUint());
        break;
      default:
        program_.constants.push_back(value);
        constants_.of_node[id] = added;
        return;
    }
    const auto [at, fresh] = shared_.try_emplace(std::move(key), added);
    if (fresh) program_.constants.push_back(value);
    constants_.of_node[id] = at->second;
  }

  Value Literal(const syntax::Constant& constant) {
    struct Maker {
      Arena& arena;
      Value operator()(std::monostate) const { return {}; }
      Value operator()(bool value) const { return Value::Bool(value); }
      Value operator()(std::int64_t value) const { return Value::Int(value); }
      Value operator()(std::uint64_t value) const { return Value::Uint(value); }
      Value operator()(double value) const { return Value::Double(value); }
      Value operator()(const std::string& text) const { return Value::String(arena.Copy(text)); }
      Value operator()(const syntax::Bytes& bytes) const {
        return Value::Bytes(arena.Copy(bytes.value));
      }
    };
    return std::visit(Maker{program_.arena}, constant);
  }

  void FoldList(NodeId id) {
    if (!AllConstant(id) || AnyOptional(id)) return;
    const auto children = ast_.children(id);
    const std::span<Value> items = program_.arena.New<Value>(children.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = ConstantOf(children[i]);
    Add(id, Value::List(items));
  }

  void FoldMap(NodeId id) {
    if (!AllConstant(id) || AnyOptional(id)) return;
    const auto children = ast_.children(id);
    auto& content = program_.arena.Make(MapContent());
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      MapPut(content, ConstantOf(children[i]), ConstantOf(children[i + 1]), program_.arena);
    }
    Add(id, Value::Map(content));
  }

  Status FoldCall(NodeId id) {
    const std::string_view name = ast_.name_of(id);
    const auto arguments = ast_.children(id);
    if (name == "@in" && arguments.size() == 2 && constants_.Is(arguments[1])) {
      const Overload* const overload = checked_.OverloadOf(id);
      const bool in_list = overload != nullptr && overload->id == "in_list";
      if (in_list && ConstantOf(arguments[1]).size() == 0) Add(id, Value::Bool(false));
      return {};
    }
    if (arguments.size() != 1 || !IsConversion(name) || !constants_.Is(arguments[0])) return {};
    const check::ResolvedCall& call = checked_.calls[id];
    if (call.function == nullptr) return {};
    const std::uint64_t cost = 0;
    const Context context = Context::Background();
    CallContext::Shared shared{program_.arena, context, cost, kConversionLimit};
    const Value argument = ConstantOf(arguments[0]);
    const Value result =
        Call(MakeCallee(*call.function, checked_.OverloadOf(id)), shared, {&argument, 1});
    if (result.is_error()) return {Reason::kInvalid, std::string(result.AsText())};
    Add(id, result);
    return {};
  }

  static constexpr std::uint64_t kConversionLimit = 1'000'000;

  const check::CheckedAst& checked_;
  const syntax::Ast& ast_;
  ProgramState& program_;
  Constants constants_;
  std::map<std::pair<Kind, std::string>, std::uint32_t> shared_;
};

}  // namespace

Result<Constants> Fold(const check::CheckedAst& checked, ProgramState& program) {
  return Folder(checked, program).Run();
}

bool MakeSet(const Value& list, MapContent& set, Arena& arena) {
  const Value yes = Value::Bool(true);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, arena);
    MapPut(set, item, yes, arena);
    switch (item.kind()) {
      case Kind::kBool:
      case Kind::kString:
        break;
      // Every number stands for those of the other types that it is equal to.
      case Kind::kInt:
        MapPut(set, Value::Double(static_cast<double>(item.AsInt())), yes, arena);
        if (item.AsInt() >= 0) MapPut(set, Value::Uint(item.AsUint()), yes, arena);
        break;
      case Kind::kUint:
        MapPut(set, Value::Double(static_cast<double>(item.AsUint())), yes, arena);
        if (item.AsUint() >> 63U == 0) MapPut(set, Value::Int(item.AsInt()), yes, arena);
        break;
      case Kind::kDouble:
        if (const auto integer = LosslessInt(item.AsDouble())) {
          MapPut(set, Value::Int(*integer), yes, arena);
        }
        if (const auto natural = LosslessUint(item.AsDouble())) {
          MapPut(set, Value::Uint(*natural), yes, arena);
        }
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace apiserver::v0::cel::plan
