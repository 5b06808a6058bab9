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
// What has left storage or a cache: shared and never changed again.
using ObjectPtr = std::shared_ptr<const Object>;

// Makes an object's content of the bytes it is backed by.
class ContentLoader {
 public:
  virtual ~ContentLoader() = default;
  // Returns the content, in the object's version, that its stored_bytes() hold. Never converts it,
  // and must not touch the object's content. Must not fail for bytes that were validated when they
  // were stored. From any thread.
  virtual Status Load(const Object& object, Arena& arena, Value& root) const = 0;
};

// A Kind plus content in one of its versions. Mutable while one owner holds it by unique_ptr (not
// thread-safe), frozen once it is an ObjectPtr (every const method from any thread).
//
// The content is the JSON object without kind and apiVersion.
class Object {
 public:
  // An empty object of `kind`; the version must be one of its versions.
  Object(KindPtr kind, std::string_view version);
  // Content that lives in `arena`.
  Object(KindPtr kind, std::string_view version, Arena arena, Value root);
  // What an object is made of when it is first looked at.
  struct Source {
    std::shared_ptr<const std::string> bytes;
    std::int64_t resource_version = 0;
    const ContentLoader* loader = nullptr;  // Must outlive the object.
  };
  // Backed by bytes alone, which hold content of `version` and are parsed on first touch of it
  // (once, on whichever thread; where that fails the object reads as empty and load_status() says
  // why).
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
  Status load_status() const { return content().status; }
  // Whether the content is there already; if not, looking at it parses and keeps it.
  bool loaded() const;
  // The bytes it was backed by when it was made; null: none.
  const std::shared_ptr<const std::string>& stored_bytes() const { return source_.bytes; }
  std::int64_t stored_version() const { return source_.resource_version; }

  // metadata, read. Views live as long as the object is not changed.
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

  // Where new Values for this object live.
  Arena& arena() { return content().arena; }
  void SetRoot(Value root);
  // What the content is from now on written in; SetRoot usually goes with it.
  void SetVersion(std::string_view version) { version_ = version; }

  // Stands for one path; assigning sets it, making maps on the way. Text is copied.
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

  // A copy with an arena of its own.
  std::unique_ptr<Object> Clone() const;

  // --- Encodings, kept with the frozen object so that bytes are made once. ---

  // Null when nobody has stored one, or it was given up. Lock-free for those that stay.
  EncodingPtr FindEncoding(std::string_view version, Format format) const;
  // FindEncoding of each of `objects`, with the memory of the next ones under way meanwhile.
  static std::vector<EncodingPtr> FindEncodings(std::span<const ObjectPtr> objects,
                                                std::string_view version, Format format);
  // Keeps `encoding` and returns it, or the one that was there first. With a `share`, an encoding
  // that has bytes of its own is kept only as long as there is room in it.
  EncodingPtr StoreEncoding(std::string_view version, Format format, EncodingPtr encoding,
                            const std::shared_ptr<EvictingShare>& share = nullptr) const;
  // --- Its form in another version, kept with the frozen object (runtime::Converted). ---

  // Null when none is kept in `version`. Lives as long as this.
  const Object* FindConverted(std::string_view version) const;
  // Keeps `converted`, which may share this object's content, and returns it, or the one in the
  // same version that was there first. There is room for one version: null if another one is there,
  // and `converted` is left as it is.
  const Object* StoreConverted(std::unique_ptr<Object>& converted) const;

  // Bytes it is backed by, of its content, of its form in another version, and of its encodings but
  // for those in a share.
  std::size_t bytes() const;

 private:
  // An encoding that stays. Slots are never taken away before the object is.
  struct Slot {
    std::string version;
    Format format;
    bool loose;            // A LooseSlot.
    EncodingPtr encoding;  // Of one that is not loose.
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
  // Parses it if that has not been done.
  Content& content() const {
    Content* content = content_.load(std::memory_order_acquire);
    return content != nullptr && content != Loading() ? *content : Load();
  }
  Content& Load() const;
  // Stands in content_ while one thread parses; never looked into.
  Content* Loading() const {
    return reinterpret_cast<Content*>(const_cast<Object*>(this));  // NOLINT
  }

  KindPtr kind_;
  std::string version_;
  Source source_;  // Of an object that was backed by bytes.
  mutable std::atomic<Content*> content_{nullptr};
  mutable std::atomic<Slot*> encodings_{nullptr};
  mutable std::atomic<const Object*> converted_{nullptr};
};

// A list as storage returns it; never a Value.
struct List {
  std::vector<ObjectPtr> items;
  std::string resource_version;
  std::string continue_token;  // Empty: complete.
  std::optional<std::int64_t> remaining_item_count;
};

}  // namespace apiserver::inline v0::runtime
