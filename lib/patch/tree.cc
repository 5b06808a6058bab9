#include "patch/tree.h"

#include <algorithm>
#include <string>

#include "apiserver/codec/json.h"

#include "apiserver/codec/json.h"
#include "text/base64.h"

namespace apiserver::v0::patch {

using runtime::Member;
using runtime::Value;

namespace {

// A map is looked through member by member so many times before its keys get an index: most patches
// change one or two members of a map.
constexpr std::size_t kSearchesMax = 8;

// A container that is being converted back to a value.
struct Frame {
  const Tree::Container* container;
  std::size_t next = 0;
  std::vector<Member> members = {};
  std::vector<Value> items = {};

  explicit Frame(const Tree::Container* of) : container(of) {
    if (container->map) members.reserve(container->size());
  }
  void Add(std::string_view key, Value value) {
    if (container->map) {
      members.push_back({key, value});
    } else {
      items.push_back(value);
    }
  }
  // Returns null if all have been visited.
  const Tree::Node* Next() {
    while (next < container->nodes.size() && container->nodes[next]->removed) ++next;
    return next < container->nodes.size() ? container->nodes[next++] : nullptr;
  }
  Value Build(runtime::Arena& arena, Tree::Members order) {
    const auto by_key = [](const Member& a, const Member& b) { return a.key < b.key; };
    if (order == Tree::Members::kSorted &&
        !std::is_sorted(members.begin(), members.end(), by_key)) {
      std::sort(members.begin(), members.end(), by_key);
    }
    runtime::MapBuilder map(arena);
    runtime::ListBuilder list(arena);
    for (const Member& member : members) map.Add(member.key, member.value);
    for (const Value& item : items) list.Add(item);
    return container->map ? map.Build() : list.Build();
  }
};

}  // namespace

Tree::Node* Tree::NewNode(Value value) {
  nodes_.push_back({.key = "", .value = value});
  return &nodes_.back();
}

Tree::Node* Tree::NewMember(Container& map, std::string_view key, Value value) {
  Node* node = NewNode(value);
  node->key = key;
  map.nodes.push_back(node);
  if (map.indexed) map.by_key[key] = node;
  return node;
}

void Tree::Resolve(Node* node) {
  if (node->value.type() == Value::Type::kBytes) {
    std::string text;
    text::AppendBase64(node->value.AsString(), text);
    node->value = Value::String(arena_.Copy(text));
  } else if (node->value.type() == Value::Type::kRaw) {
    const Result<Value> parsed = codec::ParseJson(node->value.AsString(), arena_);
    node->value = parsed.ok() ? *parsed : Value();
  }
}

Tree::Container* Tree::Open(Node* node) {
  if (node->open != nullptr) return node->open;
  Resolve(node);
  if (!node->value.is_map() && !node->value.is_list()) return nullptr;
  Container& container = containers_.emplace_back();
  container.map = node->value.is_map();
  container.nodes.reserve(node->value.size() + 1);
  for (const Member& member : node->value.members()) NewMember(container, member.key, member.value);
  for (const Value& item : node->value.items()) container.nodes.push_back(NewNode(item));
  node->open = &container;
  return node->open;
}

Tree::Node* Tree::Find(Container& map, std::string_view key) {
  if (!map.indexed && ++map.searches > kSearchesMax) {
    for (Node* node : map.nodes) {
      if (!node->removed) map.by_key[node->key] = node;
    }
    map.indexed = true;
  }
  if (map.indexed) {
    const auto found = map.by_key.find(key);
    return found == map.by_key.end() ? nullptr : found->second;
  }
  for (Node* node : map.nodes) {
    if (!node->removed && node->key == key) return node;
  }
  return nullptr;
}

void Tree::Set(Container& map, std::string_view key, const Node& node) {
  Node* member = Find(map, key);
  if (member == nullptr) member = NewMember(map, key, node.value);
  member->value = node.value;
  member->open = node.open;
}

bool Tree::Remove(Container& map, std::string_view key) {
  Node* const member = Find(map, key);
  if (member == nullptr) return false;
  member->removed = true;
  ++map.removed;
  map.by_key.erase(key);
  return true;
}

std::optional<Value> Tree::ToValue(const Node* node, Members members) {
  std::vector<Frame> frames;
  for (const Node* at = node;;) {
    if (at->open == nullptr) {
      if (frames.empty()) return at->value;
      frames.back().Add(at->key, at->value);
    } else {
      if (frames.size() >= codec::JsonLimits().depth_max) return std::nullopt;
      frames.emplace_back(at->open);
    }
    // Goes up to the next node that has not been visited.
    while ((at = frames.back().Next()) == nullptr) {
      const Value done = frames.back().Build(arena_, members);
      frames.pop_back();
      if (frames.empty()) return done;
      Frame& outer = frames.back();
      outer.Add(outer.container->nodes[outer.next - 1]->key, done);
    }
  }
}

}  // namespace apiserver::v0::patch
