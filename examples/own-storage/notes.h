#pragma once

#include <map>

#include "apiserver/base/sync.h"
#include "apiserver/registry/source_store.h"

// A resource whose data is the program's own: here a map of texts, without an engine below.
namespace notes {

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example.

// The program's data: texts by namespace and name.
using Key = std::pair<std::string, std::string>;
using Texts = Guarded<std::map<Key, std::string>>;

// [source]
// Stores the text of a note; uid, labels and the rest of its metadata stay with the store.
class NoteSource final : public registry::Source {
 public:
  NoteSource(runtime::KindPtr kind, std::shared_ptr<Texts> texts)
      : kind_(std::move(kind)), texts_(std::move(texts)) {}

  Result<Objects> List(const Context&) override {
    Objects notes;
    auto texts = texts_->Lock();
    for (const auto& [key, text] : *texts) notes.push_back(Note(key, text));
    return notes;
  }
  Result<std::unique_ptr<runtime::Object>> Get(const Context&, std::string_view space,
                                               std::string_view name) override {
    auto texts = texts_->Lock();
    const auto found = texts->find(Key(space, name));
    if (found == texts->end()) return Status(Reason::kNotFound, "no such note");
    return Note(found->first, found->second);
  }
  Status Create(const Context&, runtime::Object& note) override {
    (*texts_->Lock())[Key(note.namespace_(), note.name())] = note["text"].AsString();
    return {};
  }
  Status Update(const Context& ctx, const runtime::Object&, runtime::Object& note) override {
    return Create(ctx, note);
  }
  Status Delete(const Context&, const runtime::Object& note) override {
    texts_->Lock()->erase(Key(note.namespace_(), note.name()));
    return {};
  }

 private:
  std::unique_ptr<runtime::Object> Note(const Key& key, const std::string& text) const {
    auto note = std::make_unique<runtime::Object>(kind_, "v1");
    note->Edit("metadata", "namespace") = key.first;
    note->Edit("metadata", "name") = key.second;
    note->Edit("text") = text;
    return note;
  }

  const runtime::KindPtr kind_;
  const std::shared_ptr<Texts> texts_;
};
// [/source]

// Adds nothing to the schema's validation: a note without a text is 422.
struct NoteStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

inline Result<runtime::KindPtr> NewNoteKind() {
  const auto schema = runtime::StructBuilder("com.example.desk.v1.Note", "A text.")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("text", runtime::StringSchema(), {.required = true})
                          .Build();
  return runtime::Kind::New({.group = "desk.example.com",
                             .kind = "Note",
                             .plural = "notes",
                             .versions = {{.version = "v1", .schema = schema}}});
}

}  // namespace notes
