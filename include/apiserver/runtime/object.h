#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/encoding.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

class Object;
// An object that storage or a cache returned: shared and never changed again.
using ObjectPtr = std::shared_ptr<const Object>;

// Parses an object's content from the bytes that back it.
class ContentLoader {
 public:
  virtual ~ContentLoader() = default;
  // Parses the object's stored_bytes() into `root`, in the object's version and without converting.
  // Must not touch the object's content. Must not fail for bytes that were validated when they were
  // stored. Called on any thread; must not block.
  virtual Status Load(const Object& object, Arena& arena, Value& root) const = 0;
};

// An API object: a Kind and content in one of its versions. Mutable and not thread-safe while one
// owner holds it by unique_ptr. Frozen as an ObjectPtr: any thread may call the const methods.
//
// The content is the JSON object without kind and apiVersion.
class Object {
 public:
  // Makes an empty object. `version` must be one of the kind's versions.
  Object(KindPtr kind, std::string_view version);
  // Makes an object with the content `root`, which lives in `arena`.
  Object(KindPtr kind, std::string_view version, Arena arena, Value root);
  // The bytes from which an object's content is parsed on first access.
  struct Source {
    std::shared_ptr<const std::string> bytes;
    std::int64_t resource_version = 0;
    const ContentLoader* loader = nullptr;  // Must outlive the object.
  };
  // Makes an object from stored bytes with content in `version`. They are parsed once, on the
  // thread that first accesses the content. If that fails, the object reads as empty and
  // load_status() returns the error.
  Object(KindPtr kind, std::string_view version, Source source);

  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object();

  const Kind& kind() const { return *kind_; }
  const KindPtr& kind_ptr() const { return kind_; }
  const std::string& version() const { return version_; }
  GroupVersionKind gvk() const { return kind_->gvk(version_); }

  Value root() const { return content().root; }
  Value operator[](std::string_view key) const { return root()[key]; }
  // The error of parsing the stored bytes; OK if there was none.
  Status load_status() const { return content().status; }
  // Returns true if the content is parsed already. If not, the first access parses and keeps it.
  bool loaded() const;
  // The bytes that the object was made from. Null: it was not made from bytes.
  const std::shared_ptr<const std::string>& stored_bytes() const { return source_.bytes; }
  // The storage revision of stored_bytes().
  std::int64_t stored_version() const { return source_.resource_version; }

  // Read access to metadata. The views are valid until the object is changed.
  Value metadata() const { return root()["metadata"]; }
  std::string_view name() const { return metadata()["name"].AsString(); }
  std::string_view namespace_() const { return metadata()["namespace"].AsString(); }
  std::string_view uid() const { return metadata()["uid"].AsString(); }
  std::string_view resource_version() const { return metadata()["resourceVersion"].AsString(); }
  std::string_view generate_name() const { return metadata()["generateName"].AsString(); }
  std::int64_t generation() const { return metadata()["generation"].AsInt(); }
  Value labels() const { return metadata()["labels"]; }
  Value annotations() const { return metadata()["annotations"]; }
  Value finalizers() const { return metadata()["finalizers"]; }
  bool deleting() const { return !metadata()["deletionTimestamp"].is_null(); }

  // --- Changing; only before the object is frozen. ---

  // The memory for new Values of this object.
  Arena& arena() { return content().arena; }
  // Replaces the content; `root` lives in arena().
  void SetRoot(Value root);
  // Sets the version that the content is in. Usually called together with SetRoot().
  void SetVersion(std::string_view version) { version_ = version; }

  // A path within the object. Assigning sets the value there and makes missing maps on the way;
  // text is copied.
  class Editor {
   public:
    void operator=(std::string_view text) &&;
    void operator=(const char* text) && { std::move(*this) = std::string_view(text); }
    void operator=(const std::string& text) && { std::move(*this) = std::string_view(text); }
    void operator=(std::int64_t number) &&;
    void operator=(int number) && { std::move(*this) = static_cast<std::int64_t>(number); }
    void operator=(bool value) &&;
    void operator=(double number) &&;
    // Copied into the object's arena.
    void operator=(Value value) &&;

   private:
    friend class Object;
    Editor(Object& object, std::vector<std::string> path)
        : object_(object), path_(std::move(path)) {}
    Object& object_;
    std::vector<std::string> path_;
  };
  // object.Edit("spec", "replicas") = 3;
  template <class... Keys>
  Editor Edit(const Keys&... keys) {
    return Editor(*this, {std::string(keys)...});
  }
  // Removes a member; nothing happens if it is not there.
  template <class... Keys>
  void Erase(const Keys&... keys) {
    ErasePath({std::string(keys)...});
  }
  void SetPath(const std::vector<std::string>& path, Value value);  // `value` lives in arena().
  void ErasePath(const std::vector<std::string>& path);

  // Returns a copy that has its own arena.
  std::unique_ptr<Object> Clone() const;

  // --- Encodings, kept with the frozen object so that bytes are made once. ---

  // Returns the encoding that was stored. Null: none was stored, or it was evicted from its share.
  // Lock-free for encodings without a share.
  EncodingPtr FindEncoding(std::string_view version, Format format) const;
  // Returns FindEncoding() for each of `objects`, and prefetches the memory of the next ones.
  static std::vector<EncodingPtr> FindEncodings(std::span<const ObjectPtr> objects,
                                                std::string_view version, Format format);
  // Keeps `encoding` and returns it, or returns the one that was stored first. With a `share`, an
  // encoding that has its own bytes is kept only as long as the share has room for it.
  EncodingPtr StoreEncoding(std::string_view version, Format format, EncodingPtr encoding,
                            const std::shared_ptr<EvictingShare>& share = nullptr) const;
  // --- Its form in another version, kept with the frozen object (runtime::Converted). ---

  // Returns the form in `version`, valid as long as this object. Null: none is kept.
  const Object* FindConverted(std::string_view version) const;
  // Keeps `converted`, which may share this object's content, and returns it, or returns the form
  // in the same version that was stored first. Only one version is kept. Null: another version is
  // stored already; `converted` is then left unchanged.
  const Object* StoreConverted(std::unique_ptr<Object>& converted) const;

  // The memory in bytes of the stored bytes, the content, the form in another version, and the
  // encodings that are not in a share.
  std::size_t bytes() const;

 private:
  // A stored encoding. Slots are deleted together with the object, never before.
  struct Slot {
    std::string version;
    Format format;
    bool loose;            // This is a LooseSlot.
    EncodingPtr encoding;  // Set if the slot is not loose.
    Slot* next;
  };
  struct LooseSlot;
  static EncodingPtr EncodingIn(Slot& slot);
  Slot* FindSlot(std::string_view version, Format format) const;
  static void DeleteSlot(Slot* slot);

  struct Content {
    Arena arena;
    Value root = Value::Map({});
    Status status;
  };
  // Returns the content; parses it on first access.
  Content& content() const {
    Content* content = content_.load(std::memory_order_acquire);
    return content != nullptr && content != Loading() ? *content : Load();
  }
  Content& Load() const;
  // A marker in content_ while one thread parses; never dereferenced.
  Content* Loading() const {
    return reinterpret_cast<Content*>(const_cast<Object*>(this));  // NOLINT
  }

  KindPtr kind_;
  std::string version_;
  Source source_;  // Set if the object was made from bytes.
  mutable std::atomic<Content*> content_{nullptr};
  mutable std::atomic<Slot*> encodings_{nullptr};
  mutable std::atomic<const Object*> converted_{nullptr};
};

// A list of objects as storage returns it.
struct List {
  std::vector<ObjectPtr> items;
  std::string resource_version;
  std::string continue_token;  // Empty: complete.
  std::optional<std::int64_t> remaining_item_count;
};

}  // namespace apiserver::inline v0::runtime
