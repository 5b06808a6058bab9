#include "patch/document.h"

#include <charconv>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"

namespace apiserver::v0::patch {

using runtime::Member;
using runtime::Value;

namespace {

bool NestedTooDeeply(const Value& root) {
  std::vector<std::pair<Value, std::size_t>> left;
  const auto look_into = [&left](const Value& value, std::size_t depth) {
    if (value.is_map() || value.is_list()) left.emplace_back(value, depth);
  };
  look_into(root, 1);
  while (!left.empty()) {
    const auto [value, depth] = left.back();
    left.pop_back();
    if (depth > codec::JsonLimits().depth_max) return true;
    for (const Member& member : value.members()) look_into(member.value, depth + 1);
    for (const Value& item : value.items()) look_into(item, depth + 1);
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

Document::Document(Value root, runtime::Arena& arena) : tree_(arena), root_(NewNode(root)) {}

std::optional<std::size_t> Document::IndexOf(std::string_view key, std::size_t size) {
  const std::optional<std::int64_t> number = ParseInt(key);
  const auto limit = static_cast<std::int64_t>(size);
  // A negative index counts from the end, as in json-patch.
  if (!number || *number >= limit || *number < -limit) return std::nullopt;
  return static_cast<std::size_t>(*number < 0 ? *number + limit : *number);
}

Document::Place Document::Find(std::string_view pointer) {
  // Text before the first slash is ignored, as by json-patch.
  if (pointer.find('/') == std::string_view::npos) return {};
  pointer.remove_prefix(pointer.find('/') + 1);
  Container* container = tree_.Open(root_);
  while (container != nullptr) {
    const std::size_t slash = pointer.find('/');
    std::string step = Unescape(pointer.substr(0, slash));
    if (slash == std::string_view::npos) return {container, std::move(step)};
    const std::optional<Node*> next = Get({container, std::move(step)});
    if (!next || *next == nullptr) break;
    container = tree_.Open(*next);
    pointer.remove_prefix(slash + 1);
  }
  return {};
}

// A member that is missing reads as null, but an index must exist.
std::optional<Document::Node*> Document::Get(const Place& place) {
  Container& container = *place.container;
  if (container.map) return Tree::Find(container, place.key);
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
  // A new key is copied: `place` does not live as long as the document.
  const Node* const member = Tree::Find(container, place.key);
  tree_.Set(container, member != nullptr ? member->key : tree_.arena().Copy(place.key), *node);
  return true;
}

bool Document::Remove(const Place& place) {
  Container& container = *place.container;
  if (container.map) return Tree::Remove(container, place.key);
  const std::optional<std::size_t> index = IndexOf(place.key, container.nodes.size());
  if (!index) return false;
  shifted_ += container.nodes.size() - *index;
  container.nodes.erase(container.nodes.begin() + static_cast<std::ptrdiff_t>(*index));
  return true;
}

std::string Document::NotThere(const Place& place) {
  if (place.container->map) {
    return "Unable to remove nonexistent key: " + place.key + ": missing value";
  }
  const std::optional<std::int64_t> number = ParseInt(place.key);
  if (!number) return "strconv.Atoi: parsing " + field::Quote(place.key) + ": invalid syntax";
  return "Unable to access invalid index: " + std::to_string(*number) +
         ": invalid index referenced";
}

std::optional<Value> Document::Whole() {
  tree_.Open(root_);  // Sorts a root that has been replaced, too.
  const std::optional<Value> value = ToValue(root_);
  if (!value || NestedTooDeeply(*value)) return std::nullopt;
  return value;
}

bool Document::Equal(Node* node, const Value& value) {
  std::vector<std::pair<Node*, Value>> left = {{node, value}};
  while (!left.empty()) {
    const auto [ours, theirs] = left.back();
    left.pop_back();
    Container* const open = tree_.Open(ours);
    if (open == nullptr) {
      if (!(ours->value == theirs)) return false;
      continue;
    }
    Container& container = *open;
    if (container.map != theirs.is_map() || container.map == theirs.is_list()) return false;
    if (container.size() != theirs.size()) return false;
    for (const Member& member : theirs.members()) {
      Node* const found = Tree::Find(container, member.key);
      if (found == nullptr) return false;
      left.emplace_back(found, member.value);
    }
    for (std::size_t i = 0; i < theirs.items().size(); ++i) {
      left.emplace_back(container.nodes[i], theirs.items()[i]);
    }
  }
  return true;
}

}  // namespace apiserver::v0::patch
