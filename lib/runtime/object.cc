#include "apiserver/runtime/object.h"

#include <utility>

namespace apiserver::inline v0::runtime {

Object::Object(KindPtr kind, std::string_view version)
    : kind_(std::move(kind)), version_(version), root_(Value::Map({})) {}

Object::Object(KindPtr kind, std::string_view version, Arena arena, Value root)
    : kind_(std::move(kind)), version_(version), arena_(std::move(arena)), root_(root) {}

Object::Object(KindPtr kind, std::string_view version, std::shared_ptr<const std::string> bytes,
               Loader load)
    : kind_(std::move(kind)),
      version_(version),
      root_(Value::Map({})),
      bytes_(std::move(bytes)),
      load_(std::move(load)),
      loaded_(false) {}

Object::~Object() {
  for (Slot* slot = encodings_.load(std::memory_order_acquire); slot != nullptr;) {
    delete std::exchange(slot, slot->next);
  }
}

Value Object::root() const {
  if (loaded_.load(std::memory_order_acquire)) return root_;
  const auto loading = loading_.Lock();
  if (loaded_.load(std::memory_order_relaxed)) return root_;
  Arena arena;
  Value root;
  load_status_ = load_(*bytes_, arena, root);
  if (load_status_.ok()) {
    arena_ = std::move(arena);
    root_ = root;
  }
  loaded_.store(true, std::memory_order_release);
  return root_;
}

Status Object::load_status() const {
  (void)root();  // Loads; what it says is in load_status_.
  return load_status_;
}

Arena& Object::arena() {
  (void)root();  // Loading replaces the arena.
  return arena_;
}

void Object::SetRoot(Value root) {
  (void)this->root();  // Or a later load would undo it.
  root_ = root;
}

void Object::SetPath(const std::vector<std::string>& path, Value value) {
  std::vector<Value> above = {root()};
  for (std::size_t i = 0; i + 1 < path.size(); ++i) above.push_back(above.back()[path[i]]);
  // Upwards, with new arrays at each step: the old ones may be shared.
  for (std::size_t i = path.size(); i-- > 0;) value = With(above[i], path[i], value, arena_);
  root_ = value;
}

void Object::ErasePath(const std::vector<std::string>& path) {
  if (path.empty()) return SetRoot(Value::Map({}));
  std::vector<std::string> parents(path.begin(), path.end() - 1);
  Value parent = root();
  for (const std::string& key : parents) parent = parent[key];
  if (parent.Find(path.back()) == nullptr) return;
  SetPath(parents, Without(parent, path.back(), arena_));
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
  if (!loaded_.load(std::memory_order_acquire)) {
    return std::make_unique<Object>(kind_, version_, bytes_, load_);
  }
  auto clone = std::make_unique<Object>(kind_, version_);
  clone->root_ = Copy(root_, clone->arena_);
  clone->load_status_ = load_status_;
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
  std::size_t bytes = bytes_ != nullptr ? bytes_->size() : 0;
  if (loaded_.load(std::memory_order_acquire)) bytes += arena_.bytes_reserved();
  for (const Slot* slot = encodings_.load(std::memory_order_acquire); slot != nullptr;
       slot = slot->next) {
    bytes += slot->encoding->body.size();
  }
  return bytes;
}

}  // namespace apiserver::inline v0::runtime
