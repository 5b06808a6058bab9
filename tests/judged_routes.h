#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/server/standalone.h"
#include "widget_server.h"

// Compares what authorization is asked about a request with what is served to it.
namespace apiserver::inline v0::testing {

// What an authorizer was asked: RequestInfo, as attributes.
struct Judged {
  bool resource_request = false;
  std::string verb, group, version, resource, subresource, namespace_, name, path;

  std::string ToString() const {
    return verb + " " + group + "/" + version + " " + resource + "/" + subresource + " in \"" +
           namespace_ + "\" name \"" + name + "\" path " + path;
  }
};

// A call that a storage got.
struct ServedCall {
  std::string call;      // "list", "watch", "get", "create", "update", "delete", …; "connect".
  std::string resource;  // "flunders/status".
  std::string namespace_;
  // Nullopt: the call is about no one object. Of a list: the name that its selector demands.
  std::optional<std::string> name;

  std::string ToString() const {
    return call + " " + resource + " in \"" + namespace_ + "\" name " +
           (name ? "\"" + *name + "\"" : "unknown");
  }
};

// Both of one request.
struct Record {
  std::optional<Judged> judged;
  std::vector<ServedCall> served;
};
using Records = std::shared_ptr<Guarded<Record>>;

// Allows everything, and notes what it is asked first.
class NotingAuthorizer final : public auth::Authorizer {
 public:
  explicit NotingAuthorizer(Records records) : records_(std::move(records)) {}
  Result<auth::Verdict> Authorize(const Context&, const auth::Attributes& asked) const override {
    auto record = records_->Lock();
    if (!record->judged) {
      record->judged = Judged{.resource_request = asked.resource_request,
                              .verb = std::string(asked.verb),
                              .group = std::string(asked.group),
                              .version = std::string(asked.version),
                              .resource = std::string(asked.resource),
                              .subresource = std::string(asked.subresource),
                              .namespace_ = std::string(asked.namespace_),
                              .name = std::string(asked.name),
                              .path = std::string(asked.path)};
    }
    return auth::Verdict{.decision = auth::Decision::kAllow};
  }

 private:
  const Records records_;
};

// Every storage notes its calls, and then refuses them.
class NotingStorage : public rest::Storage, public rest::Scoper, public rest::SingularNameProvider {
 public:
  struct Options {
    std::string resource;
    bool namespaced = true;
    Records records;
    runtime::KindPtr kind;
  };
  explicit NotingStorage(Options options) : options_(std::move(options)) {}
  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(options_.kind, "v1");
  }
  bool NamespaceScoped() const override { return options_.namespaced; }
  std::string GetSingularName() const override { return "widget"; }

 protected:
  Status Note(const Context& ctx, std::string call, std::optional<std::string> name) const {
    options_.records->Lock()->served.push_back({.call = std::move(call),
                                                .resource = options_.resource,
                                                .namespace_ = std::string(rest::NamespaceOf(ctx)),
                                                .name = std::move(name)});
    return {Reason::kConflict, "noted"};
  }
  Status NoteNamed(const Context& ctx, std::string call, std::string_view name) const {
    return Note(ctx, std::move(call), std::string(name));
  }
  Status NoteMany(const Context& ctx, std::string call, const meta::ListOptions& options) const {
    return Note(ctx, std::move(call), options.field_selector.RequiresExact("metadata.name"));
  }

 private:
  const Options options_;
};

// All that is no connecter, on resources and, where half of it would serve what was not judged, on
// subresources.
class AllVerbs final : public NotingStorage,
                       public rest::Getter,
                       public rest::Lister,
                       public rest::Watcher,
                       public rest::Creater,
                       public rest::Updater,
                       public rest::GracefulDeleter,
                       public rest::CollectionDeleter {
 public:
  using NotingStorage::NotingStorage;
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::GetOptions&) override {
    return NoteNamed(ctx, "get", name);
  }
  Result<runtime::List> List(const Context& ctx, const meta::ListOptions& options) override {
    return NoteMany(ctx, "list", options);
  }
  Result<meta::Table> ConvertToTable(const Context&, const std::vector<runtime::ObjectPtr>&,
                                     const meta::TableOptions&) const override {
    return meta::Table();
  }
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, const meta::ListOptions& options,
                                               Clock::Monotonic) override {
    return NoteMany(ctx, "watch", options);
  }
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<runtime::Object>,
                                    const rest::ValidateObject&,
                                    const meta::CreateOptions&) override {
    return Note(ctx, "create", std::nullopt);
  }
  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest&) override {
    return NoteNamed(ctx, "update", name);
  }
  Result<rest::DeleteResult> Delete(const Context& ctx, std::string_view name,
                                    const rest::ValidateObject&,
                                    const meta::DeleteOptions&) override {
    return NoteNamed(ctx, "delete", name);
  }
  Result<runtime::List> DeleteCollection(const Context& ctx, const rest::ValidateObject&,
                                         const meta::DeleteOptions&,
                                         const meta::ListOptions&) override {
    return Note(ctx, "deletecollection", std::nullopt);
  }
};

class NotingConnecter final : public NotingStorage, public rest::Connecter {
 public:
  NotingConnecter(Options options, bool subpath)
      : NotingStorage(std::move(options)), subpath_(subpath) {}
  std::vector<std::string> ConnectMethods() const override {
    return {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};
  }
  bool TakesSubpath() const override { return subpath_; }
  Result<http::Handler> Connect(const Context& ctx, const rest::ConnectRequest& request) override {
    return NoteNamed(ctx, "connect", request.name);
  }

 private:
  const bool subpath_;
};

class NotingBinding final : public NotingStorage, public rest::NamedCreater {
 public:
  using NotingStorage::NotingStorage;
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view name,
                                    std::unique_ptr<runtime::Object>, const rest::ValidateObject&,
                                    const meta::CreateOptions&) override {
    return NoteNamed(ctx, "create", name);
  }
};

class NotingStream final : public NotingStorage, public rest::ResourceStreamer {
 public:
  using NotingStorage::NotingStorage;
  Result<Input> InputStream(const Context& ctx, std::string_view name,
                            const meta::QueryValues&) override {
    return NoteNamed(ctx, "get", name);
  }
};

class NotingOptions final : public NotingStorage, public rest::GetterWithOptions {
 public:
  using NotingStorage::NotingStorage;
  bool TakesSubpath() const override { return true; }
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::QueryValues&, std::string_view) override {
    return NoteNamed(ctx, "get", name);
  }
};

// One request, as a client sends it.
struct RoutedRequest {
  std::string method;
  std::string target;
  std::string name = "a";  // Of the object in its body.
};

// A server with two handlers, in which everything is noted.
class JudgedRoutes {
 public:
  JudgedRoutes() {
    server::Config config;
    standalone_ = Must(server::NewStandalone({}));
    standalone_.Apply(config);
    config.serving.reset();
    config.authorizer = std::make_shared<NotingAuthorizer>(records_);
    server_ = Must(Must(std::move(config).Complete()).New());
    Must(Install(*server_, ""));
    Must(Install(*Must(server_->AddHandler({.name = "behind"})), "example.com"));
    Must(server_->PrepareRun());
    Must(server_->Start());
    connection_ = server_->LoopbackConnection();
  }
  ~JudgedRoutes() { server_->Stop(); }
  JudgedRoutes(const JudgedRoutes&) = delete;
  JudgedRoutes& operator=(const JudgedRoutes&) = delete;

  // How what was judged and what was served differ; empty: they do not.
  std::string Difference(const RoutedRequest& request) {
    *records_->Lock() = {};
    const auto answer = connection_->Call(
        Context::Background(),
        {.method = request.method,
         .target = request.target,
         .headers = {{"Content-Type", request.method == "PATCH" ? "application/merge-patch+json"
                                                                : "application/json"}},
         .body = BodyOf(request)});
    last_code_ = answer.ok() ? answer->code : 0;
    const Record record = *records_->Lock();
    for (const ServedCall& call : record.served) ++served_[call.call];
    std::string why = Compare(request, record);
    if (why.empty() && record.served.empty() && last_code_ > 0 && last_code_ < 300 &&
        record.judged && record.judged->resource_request) {
      why = "a resource request is answered by no storage: " + std::to_string(last_code_);
    }
    if (why.empty()) return "";
    return request.method + " " + request.target + ": " + why +
           (record.judged ? "; judged " + record.judged->ToString() : "; judged not at all") +
           (record.served.empty() ? "" : "; served " + record.served.front().ToString());
  }
  // Of the last answer; 0: there was none.
  int last_code() const { return last_code_; }
  // How often which call was served.
  const std::map<std::string, int>& served() const { return served_; }

 private:
  static void Must(const Status& status) {
    if (!status.ok()) throw std::logic_error(status.ToString());
  }
  template <class T>
  static T Must(Result<T> result) {
    Must(result.status());
    return *std::move(result);
  }
  static std::string BodyOf(const RoutedRequest& request) {
    if (request.method == "PATCH") return "{}";
    if (request.method != "POST" && request.method != "PUT") return "";
    return R"({"metadata":{"name":")" + request.name + R"("}})";
  }
  // Which verb a method stands for on a connecter, a literal copy of upstream's table.
  static std::string VerbOf(const std::string& method) {
    static const std::map<std::string, std::string> kVerbs{
        {"GET", "get"},     {"HEAD", "get"},      {"POST", "create"}, {"PUT", "update"},
        {"PATCH", "patch"}, {"DELETE", "delete"}, {"OPTIONS", ""}};
    const auto found = kVerbs.find(method);
    return found == kVerbs.end() ? "none" : found->second;
  }

  static std::string Compare(const RoutedRequest& request, const Record& record) {
    if (record.served.empty()) return "";
    if (record.served.size() > 1) return "served twice";
    if (!record.judged || !record.judged->resource_request) return "not judged as a resource";
    const Judged& judged = *record.judged;
    const ServedCall& served = record.served.front();
    const bool by_method = served.call == "connect" || served.call == "update";
    if (judged.verb != (by_method ? VerbOf(request.method) : served.call)) return "another verb";
    const std::string group = judged.group.empty() ? "core" : judged.group;
    std::string resource = group + "/" + judged.version + "/" + judged.resource;
    if (!judged.subresource.empty()) resource += "/" + judged.subresource;
    if (served.resource != resource) return "another resource";
    if (served.namespace_ != judged.namespace_) return "another namespace";
    // A list judged for one name shows no other; one judged for all may show fewer.
    const bool many = served.call == "list" || served.call == "watch";
    if (many) return judged.name.empty() || served.name == judged.name ? "" : "another name";
    if (served.call == "deletecollection") return judged.name.empty() ? "" : "judged for a name";
    // A create is told no name, unless it is a subresource's.
    if (!served.name) return judged.name.empty() == judged.subresource.empty() ? "" : "a name";
    return served.name == judged.name && !judged.name.empty() ? "" : "another name";
  }

  Status Install(server::Handler& api, const std::string& group);

  const Records records_ = std::make_shared<Guarded<Record>>();
  std::map<std::string, int> served_;
  int last_code_ = 0;
  server::Standalone standalone_;
  std::unique_ptr<server::GenericAPIServer> server_;
  std::unique_ptr<http::Connection> connection_;
};

// Every resource needs a kind of its own, by which OpenAPI tells their operations apart.
inline runtime::KindPtr NotingKind(const std::string& group, const std::string& plural) {
  std::string name = plural + "Kind";  // "Status" is one already.
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  const auto schema =
      runtime::StructBuilder("")
          .Field("metadata", runtime::ObjectMetaSchema())
          .Field("spec", runtime::StructBuilder("").Field("color", runtime::StringSchema()).Build())
          .Build();
  return runtime::Kind::New({.group = group,
                             .kind = name,
                             .plural = plural,
                             .versions = {{.version = "v1", .schema = schema},
                                          {.version = "v1alpha1", .schema = schema}},
                             .selectable_fields = {"spec.color"}})
      .value();
}

// Serves a resource that can do everything, and maybe subresources.
class NotingGroup {
 public:
  NotingGroup(server::Handler& api, std::string group, Records records)
      : api_(api), records_(std::move(records)), info_{.group = std::move(group), .storage = {}} {}

  Status Add(const std::string& plural, bool namespaced, bool subresources) {
    const runtime::KindPtr kind = NotingKind(info_.group, plural);
    if (Status status = api_.scheme().Add(kind); !status.ok()) return status;
    for (const std::string version : {"v1", "v1alpha1"}) {
      auto& storage = info_.storage[version];
      const auto options = [&](const std::string& path) {
        return NotingStorage::Options{
            .resource = (info_.group.empty() ? "core" : info_.group) + "/" + version + "/" + path,
            .namespaced = namespaced,
            .records = records_,
            .kind = kind};
      };
      storage[plural] = std::make_shared<AllVerbs>(options(plural));
      const auto sub = [&](const char* name) { return plural + "/" + name; };
      storage[sub("status")] = std::make_shared<AllVerbs>(options(sub("status")));
      if (!subresources) continue;
      storage[sub("binding")] = std::make_shared<NotingBinding>(options(sub("binding")));
      storage[sub("log")] = std::make_shared<NotingStream>(options(sub("log")));
      storage[sub("options")] = std::make_shared<NotingOptions>(options(sub("options")));
      storage[sub("exec")] = std::make_shared<NotingConnecter>(options(sub("exec")), false);
      storage[sub("proxy")] = std::make_shared<NotingConnecter>(options(sub("proxy")), true);
    }
    return {};
  }
  Status Install() { return api_.InstallAPIGroup(std::move(info_)); }

 private:
  server::Handler& api_;
  const Records records_;
  server::APIGroupInfo info_;
};

// "flunders" in namespaces, "fischers" in the cluster, and resources that are called as paths are.
inline Status JudgedRoutes::Install(server::Handler& api, const std::string& group) {
  NotingGroup noting(api, group, records_);
  Must(noting.Add("flunders", /*namespaced=*/true, /*subresources=*/true));
  Must(noting.Add("fischers", /*namespaced=*/false, /*subresources=*/true));
  Must(noting.Add("status", /*namespaced=*/true, /*subresources=*/false));
  Must(noting.Add("finalize", /*namespaced=*/false, /*subresources=*/false));
  Must(noting.Add("watch", /*namespaced=*/true, /*subresources=*/false));
  Must(noting.Add("proxy", /*namespaced=*/false, /*subresources=*/false));
  Must(noting.Add("namespaces", /*namespaced=*/false, /*subresources=*/false));
  return noting.Install();
}

}  // namespace apiserver::inline v0::testing
