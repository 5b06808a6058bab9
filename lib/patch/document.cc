#include "patch/document.h"

#include <charconv>
#include <memory>
#include <utility>

namespace apiserver::inline v0::patch {

using runtime::Member;
using runtime::Value;

namespace {

// As encoding/json reads no more, a patched document may not have more.
constexpr std::size_t kDepthMax = 10'000;

bool NestedTooDeeply(const Value& root) {
  std::vector<std::pair<Value, std::size_t>> left = {{root, 1}};
  while (!left.empty()) {
    const auto [value, depth] = left.back();
    left.pop_back();
    if ((value.is_map() || value.is_list()) && depth > kDepthMax) return true;
    for (const Member& member : value.members()) left.emplace_back(member.value, depth + 1);
    for (const Value& item : value.items()) left.emplace_back(item, depth + 1);
  }
  return false;
}

// RFC 6901: "~1" is '/', "~0" is '~'.
std::string Unescape(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const std::string_view pair = step.substr(i, 2);
    if (pair == "~1" || pair == "~0") {
      out += pair == "~1" ? '/' : '~';
      ++i;
    } else {
      out += step[i];
    }
  }
  return out;
}

// As strconv.Atoi.
std::optional<std::int64_t> ParseInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

}  // namespace

Document::Document(Value root, runtime::Arena& arena) : arena_(arena), root_(NewNode(root)) {}

Document::Node* Document::NewNode(Value value) {
  nodes_.push_back({.key = "", .value = value});
  return &nodes_.back();
}

Document::Node* Document::NewMember(Container& map, std::string_view key, Value value) {
  Node* node = NewNode(value);
  node->key = key;
  map.nodes.push_back(node);
  map.by_key[key] = node;
  return node;
}

Document::Container* Document::Open(Node* node) {
  if (node->open != nullptr) return node->open;
  if (!node->value.is_map() && !node->value.is_list()) return nullptr;
  Container& container = containers_.emplace_back();
  container.map = node->value.is_map();
  container.nodes.reserve(node->value.size() + 1);
  for (const Member& member : node->value.members()) NewMember(container, member.key, member.value);
  for (const Value& item : node->value.items()) container.nodes.push_back(NewNode(item));
  node->open = &container;
  return node->open;
}

std::optional<std::size_t> Document::IndexOf(std::string_view key, std::size_t size) {
  const std::optional<std::int64_t> number = ParseInt(key);
  const auto limit = static_cast<std::int64_t>(size);
  if (!number || *number >= limit || *number < -limit) return std::nullopt;
  return static_cast<std::size_t>(*number < 0 ? *number + limit : *number);
}

Document::Place Document::Find(std::string_view pointer) {
  if (pointer.find('/') == std::string_view::npos) return {};
  pointer.remove_prefix(pointer.find('/') + 1);
  Container* container = Open(root_);
  while (container != nullptr) {
    const std::size_t slash = pointer.find('/');
    std::string step = Unescape(pointer.substr(0, slash));
    if (slash == std::string_view::npos) return {container, std::move(step)};
    const std::optional<Node*> next = Get({container, std::move(step)});
    if (!next || *next == nullptr) break;
    container = Open(*next);
    pointer.remove_prefix(slash + 1);
  }
  return {};
}

std::optional<Document::Node*> Document::Get(const Place& place) {
  Container& container = *place.container;
  if (container.map) {
    const auto found = container.by_key.find(place.key);
    return found == container.by_key.end() ? nullptr : found->second;
  }
  const std::optional<std::size_t> index = IndexOf(place.key, container.nodes.size());
  if (!index) return std::nullopt;
  return container.nodes[*index];
}

bool Document::Add(const Place& place, Node* node) {
  Container& container = *place.container;
  if (container.map) return Set(place, node);
  if (place.key == "-") {
    container.nodes.push_back(node);
    return true;
  }
  const std::optional<std::size_t> index = IndexOf(place.key, container.nodes.size() + 1);
  if (!index) return false;
  shifted_ += container.nodes.size() - *index;
  container.nodes.insert(container.nodes.begin() + static_cast<std::ptrdiff_t>(*index), node);
  return true;
}

bool Document::Set(const Place& place, Node* node) {
  Container& container = *place.container;
  if (!container.map) {
    const std::optional<std::size_t> index = IndexOf(place.key, container.nodes.size());
    if (index) container.nodes[*index] = node;
    return index.has_value();
  }
  const auto found = container.by_key.find(place.key);
  if (found == container.by_key.end()) {
    Node* member = NewMember(container, arena_.Copy(place.key), node->value);
    member->open = node->open;
  } else {
    found->second->value = node->value;
    found->second->open = node->open;
  }
  return true;
}

bool Document::Remove(const Place& place) {
  Container& container = *place.container;
  if (container.map) {
    const auto found = container.by_key.find(place.key);
    if (found == container.by_key.end()) return false;
    found->second->removed = true;
    ++container.removed;
    container.by_key.erase(found);
    return true;
  }
  const std::optional<std::size_t> index = IndexOf(place.key, container.nodes.size());
  if (!index) return false;
  shifted_ += container.nodes.size() - *index;
  container.nodes.erase(container.nodes.begin() + static_cast<std::ptrdiff_t>(*index));
  return true;
}

std::optional<Value> Document::Whole() {
  const std::optional<Value> value = ToValue(root_);
  if (!value || NestedTooDeeply(*value)) return std::nullopt;
  return value;
}

bool Document::Equal(Node* node, const Value& value) {
  std::vector<std::pair<Node*, Value>> left = {{node, value}};
  while (!left.empty()) {
    const auto [ours, theirs] = left.back();
    left.pop_back();
    if (ours->open == nullptr) {
      if (!(ours->value == theirs)) return false;
      continue;
    }
    const Container& container = *ours->open;
    if (container.map != theirs.is_map() || container.map == theirs.is_list()) return false;
    if (container.size() != theirs.size()) return false;
    for (const Member& member : theirs.members()) {
      const auto found = container.by_key.find(member.key);
      if (found == container.by_key.end()) return false;
      left.emplace_back(found->second, member.value);
    }
    for (std::size_t i = 0; i < theirs.items().size(); ++i) {
      left.emplace_back(container.nodes[i], theirs.items()[i]);
    }
  }
  return true;
}

std::optional<Value> Document::ToValue(const Node* node) {
  struct Frame {
    const Container* container;
    std::size_t next;
    std::vector<Member> members;
    std::vector<Value> items;
  };
  std::vector<Frame> frames;
  Value done;
  for (const Node* at = node;;) {
    if (at->open != nullptr) {
      if (frames.size() >= kDepthMax) return std::nullopt;
      frames.push_back({at->open, 0, {}, {}});
    } else {
      done = at->value;
      if (frames.empty()) return done;
      Frame& frame = frames.back();
      if (frame.container->map) {
        frame.members.push_back({at->key, done});
      } else {
        frame.items.push_back(done);
      }
    }
    // Up to the next node that has not been visited.
    for (at = nullptr; at == nullptr;) {
      Frame& frame = frames.back();
      const auto& nodes = frame.container->nodes;
      while (frame.next < nodes.size() && nodes[frame.next]->removed) ++frame.next;
      if (frame.next < nodes.size()) {
        at = nodes[frame.next++];
        continue;
      }
      const bool map = frame.container->map;
      runtime::MapBuilder members(arena_);
      runtime::ListBuilder items(arena_);
      for (const Member& member : frame.members) members.Add(member.key, member.value);
      for (const Value& item : frame.items) items.Add(item);
      done = map ? members.Build() : items.Build();
      frames.pop_back();
      if (frames.empty()) return done;
      Frame& outer = frames.back();
      if (outer.container->map) {
        outer.members.push_back({outer.container->nodes[outer.next - 1]->key, done});
      } else {
        outer.items.push_back(done);
      }
    }
  }
}

}  // namespace apiserver::inline v0::patch
