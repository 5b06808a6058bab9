#include "testing/storage/rest_subject.h"

#include <charconv>
#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::testing::storage::rest_kit {

Result<std::unique_ptr<Object>> Editing::UpdatedObject(const Context&, const ObjectPtr& old) const {
  if (old == nullptr) return Status(Reason::kNotFound, "nothing to change");
  auto object = old->Clone();
  if (edit_) edit_(*object);
  return object;
}

Result<watch::Event> Watching::Next() {
  auto event = reader_.Next();
  if (!event) return Status(Reason::kTimeout, reader_.over() ? "END" : "NOTHING");
  return std::move(*event);
}

namespace {

// The cases' name of an object.
std::string NameIn(const CaseNames& names, const Object& object) {
  const auto found = names.find(object.name());
  return found != names.end() ? found->second : std::string(object.name());
}

std::string TextOf(const watch::Event& event, const CaseNames& names) {
  std::string text(watch::EventTypeWord(event.type));
  if (event.type == watch::EventType::kError) {
    return text + " " + std::string(ReasonWord(event.error.reason()));
  }
  if (event.initial_events_end) text += "-END";
  if (event.object != nullptr) text += " " + NameIn(names, *event.object);
  return text;
}

// An error where a storage cannot write and its host does not write for it.
Status Means(const void* capability, std::string_view function) {
  if (capability != nullptr) return {};
  return {Reason::kInvalid, "the storage needs RestOpened::" + std::string(function)};
}

}  // namespace

std::string Watching::NextText() {
  const auto event = Next();
  return event.ok() ? TextOf(*event, *names_) : std::string(event.status().message());
}

// Bookmarks may come at any time, so that no case counts them.
std::string Watching::NextChange() {
  for (;;) {
    std::string text = NextText();
    if (text != "BOOKMARK") return text;
  }
}

std::string Watching::Ready() {
  std::string all;
  for (const watch::Event& event : reader_.Ready()) {
    if (event.type == watch::EventType::kBookmark) continue;
    all.append(all.empty() ? "" : ", ").append(TextOf(event, *names_));
  }
  return all;
}

Result<std::unique_ptr<RestSubject>> RestSubject::Open(const RestHost& host) {
  ASSIGN_OR_RETURN(RestOpened opened, host.open());
  if (opened.storage == nullptr) return Status(Reason::kInvalid, "the host opened no storage");
  return std::unique_ptr<RestSubject>(new RestSubject(host, std::move(opened)));
}

RestSubject::RestSubject(const RestHost& host, RestOpened opened)
    : host_(host), opened_(std::move(opened)), can_(rest::Capabilities::Of(*opened_.storage)) {
  namespaced_ = can_.scoper != nullptr && can_.scoper->NamespaceScoped();
}

RestSubject::~RestSubject() { opened_.storage->Destroy(); }

template <class T>
T RestSubject::Must(Result<T> result) {
  if (!result.ok()) failure_ = result.status();
  return std::move(result).value();
}

void RestSubject::Must(const Status& status) {
  if (!status.ok()) (void)Must(Result<bool>(status));
}

Context RestSubject::In(std::string_view space) const {
  Context ctx = Context::Child(Context::Background());
  ctx.Set(rest::Namespace{namespaced_ ? std::string(space) : ""});
  return ctx;
}

void RestSubject::SetMark(Object& object, std::string_view mark) const {
  if (host_.mark) return host_.mark(object, mark);
  object.Edit("metadata", "labels", "kit") = mark;
}

std::string RestSubject::MarkOf(const Object& object) const {
  if (host_.mark_of) return host_.mark_of(object);
  return std::string(object.labels()["kit"].AsString());
}

// Remembers what it made, for NameOf() and the watches.
std::string RestSubject::HostName(std::string_view name) {
  if (!host_.name) return std::string(name);
  std::string made = host_.name(name);
  names_.insert_or_assign(made, std::string(name));
  return made;
}

std::string RestSubject::NameOf(const Object& object) const { return NameIn(names_, object); }

std::unique_ptr<Object> RestSubject::New(std::string_view name, std::string_view mark,
                                         std::string_view space) {
  auto object = opened_.storage->New();
  if (!name.empty()) object->Edit("metadata", "name") = HostName(name);
  if (namespaced_) object->Edit("metadata", "namespace") = space;
  SetMark(*object, mark);
  if (host_.fill) host_.fill(*object);
  return object;
}

void RestSubject::Add(std::string_view name, std::string_view mark, std::string_view space) {
  if (opened_.put) return Must(opened_.put(New(name, mark, space)));
  Must(Means(can_.creater, "put"));
  (void)Must(can_.creater->Create(In(space), New(name, mark, space), nullptr, {}));
}

void RestSubject::Remark(std::string_view name, std::string_view mark, std::string_view space) {
  if (opened_.put) return Must(opened_.put(New(name, mark, space)));
  Must(Means(can_.updater, "put"));
  const Editing info([this, mark](Object& object) { SetMark(object, mark); });
  (void)Must(can_.updater->Update(In(space), HostName(name), {info, nullptr, nullptr, false, {}}));
}

void RestSubject::Remove(std::string_view name, std::string_view space) {
  if (opened_.remove) return Must(opened_.remove(namespaced_ ? space : "", HostName(name)));
  Must(Means(can_.graceful_deleter, "remove"));
  (void)Must(can_.graceful_deleter->Delete(In(space), HostName(name), nullptr, {}));
}

Result<ObjectPtr> RestSubject::Get(std::string_view name, std::string_view rv,
                                   std::string_view space) {
  meta::GetOptions options;
  options.resource_version = rv;
  return can_.getter->Get(In(space), HostName(name), options);
}

Result<runtime::List> RestSubject::List(const meta::ListOptions& options, std::string_view space) {
  return can_.lister->List(In(space), options);
}

std::string RestSubject::NamesOf(const Result<runtime::List>& list) const {
  if (!list.ok()) return list.status().ToString();
  std::string names;
  for (const auto& item : list->items) {
    names.append(names.empty() ? "" : " ").append(NameOf(*item));
  }
  return names;
}

std::string RestSubject::Names(const meta::ListOptions& options, std::string_view space) {
  return NamesOf(List(options, space));
}

Result<ObjectPtr> RestSubject::Create(std::unique_ptr<Object> object,
                                      const rest::ValidateObject& validate, bool dry_run) {
  meta::CreateOptions options;
  options.dry_run = dry_run;
  return can_.creater->Create(In("ns"), std::move(object), validate, options);
}

Result<rest::UpdateResult> RestSubject::Update(std::string_view name,
                                               const rest::UpdatedObjectInfo& info,
                                               const rest::ValidateObjectUpdate& validate,
                                               bool dry_run) {
  rest::UpdateRequest request{info, nullptr, validate, false, {}};
  request.options.dry_run = dry_run;
  return can_.updater->Update(In("ns"), HostName(name), request);
}

Result<rest::UpdateResult> RestSubject::Note(std::string_view name, std::string_view text) {
  return Update(name, Editing([text](Object& object) {
                  object.Edit("metadata", "annotations", "kit") = text;
                }));
}

Result<rest::DeleteResult> RestSubject::Delete(std::string_view name,
                                               const meta::DeleteOptions& options,
                                               const rest::ValidateObject& validate) {
  return can_.graceful_deleter->Delete(In("ns"), HostName(name), validate, options);
}

Result<runtime::List> RestSubject::DeleteCollection(const meta::DeleteOptions& options,
                                                    const meta::ListOptions& list_options,
                                                    const rest::ValidateObject& validate) {
  return can_.collection_deleter->DeleteCollection(In("ns"), validate, options, list_options);
}

Result<std::unique_ptr<watch::Stream>> RestSubject::TryWatch(meta::ListOptions options,
                                                             std::string_view space,
                                                             std::chrono::seconds life) {
  options.watch = true;
  return can_.watcher->Watch(In(space), options, RealClock().Now() + life);
}

Watching RestSubject::Read(std::unique_ptr<watch::Stream> stream) const {
  return {std::move(stream), names_};
}

Watching RestSubject::Watch(const meta::ListOptions& options, std::string_view space) {
  return Read(Must(TryWatch(options, space)));
}

Watching RestSubject::WatchFrom(std::string_view rv, std::string_view space) {
  return Watch(At(rv), space);
}

std::string RestSubject::Now() { return Must(List({}, "")).resource_version; }

void RestSubject::Forget(std::string_view rv) { Must(opened_.forget(rv)); }

meta::ListOptions At(std::string_view rv, ResourceVersionMatch match) {
  meta::ListOptions options;
  options.resource_version = rv;
  options.resource_version_match = match;
  return options;
}

meta::ListOptions Labelled(std::string_view selector) {
  meta::ListOptions options;
  options.label_selector = *meta::LabelSelector::Parse(selector);
  return options;
}

meta::ListOptions Pages(std::int64_t limit, std::string_view token) {
  meta::ListOptions options;
  options.limit = limit;
  options.continue_token = token;
  return options;
}

std::uint64_t Number(std::string_view rv) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(rv.data(), rv.data() + rv.size(), number);
  return read.ec == std::errc() && read.ptr == rv.data() + rv.size() ? number : 0;
}

}  // namespace apiserver::v0::testing::storage::rest_kit
