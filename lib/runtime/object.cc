#include "apiserver/runtime/object.h"

#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::v0::runtime {

// An encoding that is kept as long as there is room for it in `share`.
struct Object::LooseSlot final : Slot, EvictingShare::Item {
  LooseSlot(Slot slot, std::shared_ptr<EvictingShare> kept_in)
      : Slot(std::move(slot)), share(std::move(kept_in)) {}
  ~LooseSlot() override { share->Remove(*this); }

  // Keeps `made` unless there is one. The slot itself counts too.
  EncodingPtr Keep(EncodingPtr made) {
    {
      auto now = kept.Lock();
      if (*now != nullptr) return *now;
      *now = made;
    }
    share->Add(*this, made->own_bytes() + sizeof(Encoding) + sizeof(LooseSlot));
    return made;
  }
  void Evict() override { kept.Lock()->reset(); }

  const std::shared_ptr<EvictingShare> share;
  Guarded<EncodingPtr> kept;
};

Object::Object(KindPtr kind, std::string_view version)
    : kind_(std::move(kind)), version_(version), content_(new Content) {}

Object::Object(KindPtr kind, std::string_view version, Arena arena, Value root)
    : kind_(std::move(kind)),
      version_(version),
      content_(new Content{std::move(arena), root, Status()}) {}

Object::Object(KindPtr kind, std::string_view version, Source source)
    : kind_(std::move(kind)), version_(version), source_(std::move(source)) {}

Object::~Object() {
  delete converted_.load(std::memory_order_acquire);
  delete content_.load(std::memory_order_acquire);
  for (Slot* slot = encodings_.load(std::memory_order_acquire); slot != nullptr;) {
    DeleteSlot(std::exchange(slot, slot->next));
  }
}

bool Object::loaded() const {
  const Content* content = content_.load(std::memory_order_acquire);
  return content != nullptr && content != Loading();
}

// The first caller loads. Others wait on the pointer itself, so that an object needs no mutex.
Object::Content& Object::Load() const {
  Content* content = nullptr;
  if (content_.compare_exchange_strong(content, Loading(), std::memory_order_acq_rel)) {
    auto loaded = std::make_unique<Content>();
    Arena arena;
    Value root;
    loaded->status = source_.loader->Load(*this, arena, root);
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
  // An object that is not loaded shares its source, which never changes, with the clone.
  if (!loaded()) return std::make_unique<Object>(kind_, version_, source_);
  const Content& original = content();
  auto clone = std::make_unique<Object>(kind_, version_);
  Content& copy = clone->content();
  copy.root = Copy(original.root, copy.arena);
  copy.status = original.status;
  return clone;
}

// Slots are only ever added in front, and deleted with the object: reading them takes no lock.
Object::Slot* Object::FindSlot(std::string_view version, Format format) const {
  Slot* slot = encodings_.load(std::memory_order_acquire);
  while (slot != nullptr && (slot->format != format || slot->version != version)) slot = slot->next;
  return slot;
}

EncodingPtr Object::EncodingIn(Slot& slot) {
  if (!slot.loose) return slot.encoding;
  auto& loose = static_cast<LooseSlot&>(slot);
  loose.Touch();
  return *loose.kept.Lock();
}

void Object::DeleteSlot(Slot* slot) {
  if (slot->loose) {
    delete static_cast<LooseSlot*>(slot);
  } else {
    delete slot;
  }
}

EncodingPtr Object::FindEncoding(std::string_view version, Format format) const {
  Slot* slot = FindSlot(version, format);
  return slot != nullptr ? EncodingIn(*slot) : nullptr;
}

// An object, its slot and the encoding are three places in memory, each of which says where the
// next one is: they are fetched for objects three steps ahead of each other.
std::vector<EncodingPtr> Object::FindEncodings(std::span<const ObjectPtr> objects,
                                               std::string_view version, Format format) {
  constexpr std::size_t kStep = 8;
  const auto head = [&](std::size_t i) {
    return objects[i]->encodings_.load(std::memory_order_acquire);
  };
  std::vector<EncodingPtr> found;
  found.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i + 3 * kStep < objects.size()) {
      __builtin_prefetch(&objects[i + 3 * kStep]->encodings_);
    }
    if (i + 2 * kStep < objects.size()) __builtin_prefetch(head(i + 2 * kStep));
    if (i + kStep < objects.size()) {
      const Slot* next = head(i + kStep);
      if (next != nullptr) __builtin_prefetch(next->encoding.get());
    }
    found.push_back(objects[i]->FindEncoding(version, format));
  }
  return found;
}

EncodingPtr Object::StoreEncoding(std::string_view version, Format format, EncodingPtr encoding,
                                  const std::shared_ptr<EvictingShare>& share) const {
  const bool loose = share != nullptr && encoding->own_bytes() > 0;
  Slot made{std::string(version), format, loose, loose ? nullptr : encoding, nullptr};
  Slot* const slot =
      loose ? new LooseSlot(std::move(made), share) : new Slot(std::move(made));  // NOLINT
  Slot* head = encodings_.load(std::memory_order_acquire);
  do {
    // Again after each lost race: the winner may have stored the same.
    if (Slot* there = FindSlot(version, format)) {
      DeleteSlot(slot);
      return there->loose ? static_cast<LooseSlot*>(there)->Keep(encoding) : there->encoding;
    }
    slot->next = head;
  } while (!encodings_.compare_exchange_weak(head, slot, std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  return loose ? static_cast<LooseSlot*>(slot)->Keep(std::move(encoding)) : encoding;
}

const Object* Object::FindConverted(std::string_view version) const {
  const Object* kept = converted_.load(std::memory_order_acquire);
  return kept != nullptr && kept->version() == version ? kept : nullptr;
}

const Object* Object::StoreConverted(std::unique_ptr<Object>& converted) const {
  const Object* kept = nullptr;
  if (converted_.compare_exchange_strong(kept, converted.get(), std::memory_order_acq_rel)) {
    return converted.release();  // The destructor's.
  }
  return kept->version() == converted->version() ? kept : nullptr;
}

std::size_t Object::bytes() const {
  std::size_t bytes = source_.bytes != nullptr ? source_.bytes->size() : 0;
  const Object* converted = converted_.load(std::memory_order_acquire);
  if (converted != nullptr) bytes += converted->bytes();
  if (loaded()) bytes += content().arena.bytes_reserved();
  for (const Slot* slot = encodings_.load(std::memory_order_acquire); slot != nullptr;
       slot = slot->next) {
    // A loose encoding is counted by its share.
    if (!slot->loose) bytes += slot->encoding->own_bytes();
  }
  return bytes;
}

}  // namespace apiserver::v0::runtime
