#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission/webhook.h"
#include "apiserver/client/tracing.h"
#include "apiserver/codec/json.h"
#include "apiserver/rest/warnings.h"
#include "text/base64.h"
#include "widget_server.h"

// Webhooks without a network: what they are told is kept, what they answer is chosen by their path.
namespace apiserver::inline v0::testing {

// The servers behind all webhooks of a test.
class FakeWebhookServers {
 public:
  using Handler = std::function<Result<http::ClientResponse>(const client::HttpRequest&)>;

  client::HttpClientFactory Factory() {
    return [this](const client::HttpClientOptions& options) {
      clients_.Lock()->push_back(options);
      return Result<std::shared_ptr<client::HttpClient>>(std::make_shared<Client>(*this));
    };
  }
  void Handle(const std::string& path, Handler handler) { handlers_[path] = std::move(handler); }
  // Answers every review with this `response`, whose uid is that of the request.
  void Answer(const std::string& path, const std::string& response) {
    Handle(path,
           [response](const client::HttpRequest& request) { return Review(request, response); });
  }
  static http::ClientResponse Review(const client::HttpRequest& request,
                                     const std::string& response) {
    runtime::Arena arena;
    const runtime::Value review = codec::ParseJson(request.body, arena).value();
    std::string body = R"({"kind":"AdmissionReview","apiVersion":")" +
                       std::string(review["apiVersion"].AsString()) + R"(","response":{"uid":")" +
                       std::string(review["request"]["uid"].AsString()) + "\"";
    if (!response.empty()) body += "," + response;
    return {.code = 200, .headers = {{"Content-Type", "application/json"}}, .body = body + "}}"};
  }

  std::vector<client::HttpRequest> requests() const { return *requests_.Lock(); }
  std::vector<client::HttpClientOptions> clients() const { return *clients_.Lock(); }

 private:
  class Client final : public client::HttpClient {
   public:
    explicit Client(FakeWebhookServers& servers) : servers_(servers) {}
    void Start(const Context&, client::HttpRequest request, Done done) override {
      servers_.requests_.Lock()->push_back(request);
      std::string path = request.url.substr(request.url.find('/', 8));
      path = path.substr(0, path.find('?'));
      const auto at = servers_.handlers_.find(path);
      if (at == servers_.handlers_.end()) {
        return done(http::ClientResponse{.code = 404,
                                         .headers = {{"Content-Type", "text/plain"}},
                                         .body = "404 page not found"});
      }
      done(at->second(request));
    }

   private:
    FakeWebhookServers& servers_;
  };

  std::map<std::string, Handler> handlers_;
  Guarded<std::vector<client::HttpRequest>> requests_;
  Guarded<std::vector<client::HttpClientOptions>> clients_;
};

inline std::string PatchResponse(const std::string& patch) {
  std::string text = R"("allowed":true,"patchType":"JSONPatch","patch":")";
  text::AppendBase64(patch, text);
  return text + "\"";
}

// What testing/webhook_server.go answers.
inline void AnswerAsUpstream(FakeWebhookServers& servers) {
  servers.Handle("/internalErr", [](const client::HttpRequest&) {
    return http::ClientResponse{.code = 500,
                                .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                                .body = "webhook internal server error\n"};
  });
  servers.Handle("/invalidResp", [](const client::HttpRequest&) {
    return http::ClientResponse{.code = 200, .body = "webhook invalid response"};
  });
  servers.Handle("/nonStatusError", [](const client::HttpRequest&) {
    return Status(Reason::kServiceUnavailable, "malformed HTTP response \"bad-http\"");
  });
  servers.Handle("/nilResponse", [](const client::HttpRequest&) {
    return http::ClientResponse{.code = 200, .body = "{}"};
  });
  servers.Answer("/disallow", R"("allowed":false,"status":{"metadata":{},"code":403})");
  servers.Answer("/disallowReason",
                 R"("allowed":false,"status":{"message":"you shall not pass","code":403})");
  servers.Answer("/shouldNotBeCalled",
                 R"("allowed":false,"status":{"message":"doesn't expect labels to match object )"
                 R"(selector","code":403})");
  servers.Answer("/allow", R"("allowed":true,"auditAnnotations":{"key1":"value1"})");
  servers.Answer("/noop", R"("allowed":true)");
  servers.Answer("/invalidAnnotation",
                 R"("allowed":true,"auditAnnotations":{"invalid*key":"value1"})");
  servers.Answer("/removeLabel",
                 PatchResponse(R"([{"op": "remove", "path": "/metadata/labels/remove"}])") +
                     R"(,"auditAnnotations":{"key1":"value1"})");
  servers.Answer(
      "/addLabel",
      PatchResponse(R"([{"op": "add", "path": "/metadata/labels/added", "value": "test"}])"));
  servers.Answer("/invalidPatch", PatchResponse("[{"));
  servers.Answer("/invalidMutation", PatchResponse(R"([{"op": "add", "CORRUPTED_KEY":}])"));
}

inline admission::WebhookRule EverythingRule() {
  return {.operations = {"*"}, .api_groups = {"*"}, .api_versions = {"*"}, .resources = {"*/*"}};
}

// A webhook that matches everything.
inline admission::Webhook WebhookAt(const std::string& name, const std::string& path) {
  return {.uid = "test-webhooks/" + name + "/0",
          .configuration = "test-webhooks",
          .name = name,
          .client_config = {.url = "https://webhook.test/" + path},
          .rules = {EverythingRule()},
          .side_effects = "None",
          .review_versions = {"v1beta1"}};
}

inline meta::LabelSelector Selector(const std::string& text) {
  return meta::LabelSelector::Parse(text).value();
}

// Both versions of Widget.
class WidgetVersions final : public admission::EquivalentResourceMapper {
 public:
  std::vector<admission::EquivalentResource> EquivalentResourcesFor(
      const runtime::GroupVersionResource&, std::string_view) const override {
    return {{{"example.com", "v1", "widgets"}, {"example.com", "v1", "Widget"}},
            {{"example.com", "v1alpha1", "widgets"}, {"example.com", "v1alpha1", "Widget"}}};
  }
};

// An update of a widget in namespace "webhook-test", and who asks.
struct WidgetRequest {
  explicit WidgetRequest(runtime::KindPtr kind = WidgetKind())
      : object(kind, "v1"), old_object(kind, "v1") {
    for (runtime::Object* each : {&object, &old_object}) {
      each->Edit("metadata", "name") = "my-widget";
      each->Edit("metadata", "namespace") = "webhook-test";
      each->Edit("metadata", "labels", "widget.name") = "my-widget";
    }
    ctx.Set(rest::WarningRecorderPtr(warnings));
  }
  admission::Attributes Attributes() {
    return {.operation = admission::Operation::kUpdate,
            .kind = {"example.com", "v1", "Widget"},
            .resource = {"example.com", "v1", "widgets"},
            .namespace_ = "webhook-test",
            .name = "my-widget",
            .object = &object,
            .editable = &object,
            .old_object = &old_object,
            .options = meta::CreateOptions{},
            .user = &user,
            .annotations = annotations};
  }
  std::string Labels() const {
    std::string json;
    codec::AppendJson(object.labels(), json);
    return json;
  }
  std::map<std::string, std::string> Annotated() const {
    std::map<std::string, std::string> all;
    for (const auto& annotation : annotations->All()) all[annotation.key] = annotation.value;
    return all;
  }

  auth::UserInfo user{.name = "webhook-test", .uid = "webhook-test"};
  runtime::Object object;
  runtime::Object old_object;
  Context ctx = Context::Child(Context::Background());
  rest::WarningRecorderPtr warnings = std::make_shared<rest::WarningRecorder>();
  std::shared_ptr<admission::Annotations> annotations = std::make_shared<admission::Annotations>();
};

// A chain of one of the plugins, or of both, over fixed webhooks.
struct Webhooks {
  explicit Webhooks(std::vector<admission::Webhook> webhooks, const Clock& clock = RealClock(),
                    LogSink& log = NullLogSink()) {
    AnswerAsUpstream(servers);
    std::vector<admission::Webhook> mutating;
    std::vector<admission::Webhook> validating;
    for (admission::Webhook& webhook : webhooks) {
      (webhook.type == admission::WebhookType::kMutating ? mutating : validating)
          .push_back(webhook);
    }
    admission::WebhookAdmissionOptions options{
        .new_client = client::WithTracing(servers.Factory()), .clock = &clock, .log = &log};
    options.webhooks = admission::NewStaticWebhooks(std::move(mutating));
    const auto first = admission::NewMutatingWebhookAdmission(options);
    options.webhooks = admission::NewStaticWebhooks(std::move(validating));
    const auto second = admission::NewValidatingWebhookAdmission(options);
    chain.emplace(std::vector{first, second}, *registry, RealClock());
  }
  Status Run(WidgetRequest& request, admission::Attributes attributes) const {
    if (Status status = chain->Admit(request.ctx, attributes); !status.ok()) return status;
    return chain->Validate(request.ctx, attributes);
  }
  Status Run(WidgetRequest& request) const { return Run(request, request.Attributes()); }
  bool Counted(const std::string& line) const {
    return registry->Serialize().find(line) != std::string::npos;
  }

  FakeWebhookServers servers;
  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::optional<admission::Chain> chain;
};

// What a case of the tables changes of WebhookAt().
inline admission::Webhook With(admission::Webhook webhook,
                               const std::function<void(admission::Webhook&)>& change) {
  change(webhook);
  return webhook;
}

inline admission::Webhook Mutating(admission::Webhook webhook) {
  webhook.type = admission::WebhookType::kMutating;
  return webhook;
}

}  // namespace apiserver::inline v0::testing
