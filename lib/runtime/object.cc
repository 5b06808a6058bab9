#include "apiserver/runtime/object.h"

#include <utility>

namespace apiserver::inline v0::runtime {

Object::Object(KindPtr kind, std::string_view version)
    : kind_(std::move(kind)), version_(version), content_(new Content) {}

Object::Object(KindPtr kind, std::string_view version, Arena arena, Value root)
    : kind_(std::move(kind)),
      version_(version),
      content_(new Content{std::move(arena), root, Status()}) {}

Object::Object(KindPtr kind, std::string_view version, Source source)
    : kind_(std::move(kind)), version_(version), source_(std::move(source)) {}

Object::~Object() {
  delete content_.load(std::memory_order_acquire);
  for (Slot* slot = encodings_.load(std::memory_order_acquire); slot != nullptr;) {
    delete std::exchange(slot, slot->next);
  }
}

bool Object::loaded() const {
  const Content* content = content_.load(std::memory_order_acquire);
  return content != nullptr && content != Loading();
}

Object::Content& Object::Load() const {
  Content* content = nullptr;
  if (content_.compare_exchange_strong(content, Loading(), std::memory_order_acq_rel)) {
    auto loaded = std::make_unique<Content>();
    Arena arena;
    Value root;
    loaded->status =
        source_.loader->Load(kind_, *source_.bytes, source_.resource_version, arena, root);
    if (loaded->status.ok()) {
      loaded->arena = std::move(arena);
      loaded->root = root;
    }
    content_.store(loaded.get(), std::memory_order_release);
    content_.notify_all();
    return *loaded.release();  // The destructor's.
  }
  while (content == Loading()) {
    content_.wait(content, std::memory_order_acquire);
    content = content_.load(std::memory_order_acquire);
  }
  return *content;
}

// After loading, or a later load would undo it.
void Object::SetRoot(Value root) { content().root = root; }

void Object::SetPath(const std::vector<std::string>& path, Value value) {
  std::vector<Value> above = {root()};
  for (std::size_t i = 0; i + 1 < path.size(); ++i) above.push_back(above.back()[path[i]]);
  // Upwards, with new arrays at each step: the old ones may be shared.
  for (std::size_t i = path.size(); i-- > 0;) value = With(above[i], path[i], value, arena());
  SetRoot(value);
}

void Object::ErasePath(const std::vector<std::string>& path) {
  if (path.empty()) return SetRoot(Value::Map({}));
  std::vector<std::string> parents(path.begin(), path.end() - 1);
  Value parent = root();
  for (const std::string& key : parents) parent = parent[key];
  if (parent.Find(path.back()) == nullptr) return;
  SetPath(parents, Without(parent, path.back(), arena()));
}

void Object::Editor::operator=(std::string_view text) && {
  const Value value = Value::String(object_.arena().Copy(text));
  object_.SetPath(path_, value);
}

void Object::Editor::operator=(std::int64_t number) && {
  object_.SetPath(path_, Value::Int(number));
}

void Object::Editor::operator=(bool value) && { object_.SetPath(path_, Value::Bool(value)); }

void Object::Editor::operator=(double number) && { object_.SetPath(path_, Value::Double(number)); }

void Object::Editor::operator=(Value value) && {
  const Value copy = Copy(value, object_.arena());
  object_.SetPath(path_, copy);
}

std::unique_ptr<Object> Object::Clone() const {
  if (!loaded()) return std::make_unique<Object>(kind_, version_, source_);
  const Content& original = content();
  auto clone = std::make_unique<Object>(kind_, version_);
  Content& copy = clone->content();
  copy.root = Copy(original.root, copy.arena);
  copy.status = original.status;
  return clone;
}

EncodingPtr Object::FindEncoding(std::string_view version, Format format) const {
  for (const Slot* slot = encodings_.load(std::memory_order_acquire); slot != nullptr;
       slot = slot->next) {
    if (slot->format == format && slot->version == version) return slot->encoding;
  }
  return nullptr;
}

EncodingPtr Object::StoreEncoding(std::string_view version, Format format,
                                  EncodingPtr encoding) const {
  auto slot = std::make_unique<Slot>(Slot{std::string(version), format, encoding, nullptr});
  Slot* head = encodings_.load(std::memory_order_acquire);
  while (true) {
    // Again after each lost race: the winner may have stored the same.
    for (const Slot* at = head; at != nullptr; at = at->next) {
      if (at->format == format && at->version == version) return at->encoding;
    }
    slot->next = head;
    if (encodings_.compare_exchange_weak(head, slot.get(), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      (void)slot.release();  // The list owns it.
      return encoding;
    }
  }
}

std::size_t Object::bytes() const {
  std::size_t bytes = source_.bytes != nullptr ? source_.bytes->size() : 0;
  if (loaded()) bytes += content().arena.bytes_reserved();
  for (const Slot* slot = encodings_.load(std::memory_order_acquire); slot != nullptr;
       slot = slot->next) {
    bytes += slot->encoding->own_bytes();
  }
  return bytes;
}

}  // namespace apiserver::inline v0::runtime
