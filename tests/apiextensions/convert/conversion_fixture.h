#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiextensions/convert/webhook.h"
#include "apiserver/base/sync.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/runtime/kind.h"
#include "conversion_json.h"

// A kind in several versions and conversion webhooks for it, without a network: those of
// apiextensions-apiserver/test/integration/conversion.
namespace apiserver::inline v0::testing {

// Returns an object without `key`, or with it renamed.
inline runtime::Value RenameMember(const runtime::Value& object, std::string_view from,
                                   std::string_view to, runtime::Arena& arena) {
  const runtime::Value value = object[from];
  const runtime::Value rest = Without(object, from, arena);
  return value.is_null() ? rest : With(rest, to, value, arena);
}

// Converts one object; the result lives in `arena`.
using ObjectConverter =
    std::function<runtime::Value(const runtime::Value&, std::string_view desired, runtime::Arena&)>;

inline runtime::Value ConvertNoop(const runtime::Value& object, std::string_view desired,
                                  runtime::Arena& arena) {
  return With(object, "apiVersion", runtime::Value::String(arena.Copy(desired)), arena);
}

// v1beta2 has other names than v1alpha1 and v1beta1.
inline runtime::Value ConvertNontrivial(const runtime::Value& object, std::string_view desired,
                                        runtime::Arena& arena) {
  runtime::Value made = ConvertNoop(object, desired, arena);
  const bool is_new = object["apiVersion"].AsString().ends_with("/v1beta2");
  if (is_new == desired.ends_with("/v1beta2")) return made;
  for (const auto& [plain, renamed] :
       {std::pair("num", "numv2"), std::pair("content", "contentv2")}) {
    made = RenameMember(made, is_new ? renamed : plain, is_new ? plain : renamed, arena);
  }
  return made;
}

// Answers a review as `convert` converts its objects.
inline std::string ConversionAnswer(std::string_view body, const ObjectConverter& convert) {
  runtime::Arena arena;
  const runtime::Value review = ParseConversionJson(body, arena);
  const runtime::Value request = review["request"];
  runtime::ListBuilder converted(arena);
  for (const runtime::Value& object : request["objects"].items()) {
    converted.Add(convert(object, request["desiredAPIVersion"].AsString(), arena));
  }
  return R"({"kind":"ConversionReview","apiVersion":")" +
         std::string(review["apiVersion"].AsString()) + R"(","response":{"uid":")" +
         std::string(request["uid"].AsString()) + R"(","result":{"status":"Success"},)" +
         R"("convertedObjects":)" + ConversionJson(converted.Build()) + "}}";
}

// A webhook that answers in process. All methods may be called from any thread.
class FakeConversionWebhook {
 public:
  using Respond = std::function<Result<http::ClientResponse>(const client::HttpRequest&)>;

  explicit FakeConversionWebhook(ObjectConverter convert = ConvertNontrivial) {
    Convert(std::move(convert));
  }

  client::HttpClientFactory Factory() {
    return [this](const client::HttpClientOptions& options) {
      state_.Lock()->clients.push_back(options);
      return Result<std::shared_ptr<client::HttpClient>>(std::make_shared<Client>(*this));
    };
  }
  // Sets the answers from now on.
  void Answer(Respond respond) { state_.Lock()->respond = std::move(respond); }
  void Convert(ObjectConverter convert) {
    Answer([convert = std::move(convert)](const client::HttpRequest& request) {
      return http::ClientResponse{.code = 200, .body = ConversionAnswer(request.body, convert)};
    });
  }
  // Answers every review with `response`, in which UID stands for the review's uid.
  void AnswerWith(const std::string& api_version, const std::string& response) {
    Answer([=](const client::HttpRequest& request) {
      runtime::Arena arena;
      const auto review = ParseConversionJson(request.body, arena);
      std::string text = response;
      if (const auto at = text.find("UID"); at != std::string::npos) {
        text.replace(at, 3, review["request"]["uid"].AsString());
      }
      return http::ClientResponse{.code = 200,
                                  .body = R"({"kind":"ConversionReview","apiVersion":")" +
                                          api_version + R"(","response":)" + text + "}"};
    });
  }
  // Calls get no answer until Release(), as from a webhook that hangs.
  void Hang() { state_.Lock()->hangs = true; }
  void Release() {
    std::vector<std::shared_ptr<Hanging>> hanging;
    {
      auto state = state_.Lock();
      state->hangs = false;
      hanging.swap(state->hanging);
    }
    for (const auto& call : hanging) call->Finish(Ask(call->request));
  }
  // Waits until so many calls have been made.
  void WaitForCalls(std::size_t count) {
    auto state = state_.Lock();
    state.Wait([&] { return state->requests.size() >= count; });
  }

  std::vector<client::HttpRequest> requests() const { return state_.Lock()->requests; }
  std::vector<client::HttpClientOptions> clients() const { return state_.Lock()->clients; }
  std::size_t calls() const { return state_.Lock()->requests.size(); }
  // Returns the number of objects in each call.
  std::vector<std::size_t> batches() const {
    std::vector<std::size_t> sizes;
    for (const client::HttpRequest& request : requests()) {
      runtime::Arena arena;
      sizes.push_back(ParseConversionJson(request.body, arena)["request"]["objects"].size());
    }
    return sizes;
  }

 private:
  // A call without an answer yet; it gets one once.
  struct Hanging {
    void Finish(Result<http::ClientResponse> answer) {
      auto taken = std::exchange(*done.Lock(), nullptr);
      if (taken) taken(std::move(answer));
    }
    client::HttpRequest request;
    Guarded<client::HttpClient::Done> done;
    Context::Registration cancelled;
  };
  struct State {
    Respond respond;
    bool hangs = false;
    std::vector<client::HttpRequest> requests;
    std::vector<client::HttpClientOptions> clients;
    std::vector<std::shared_ptr<Hanging>> hanging;
  };

  class Client final : public client::HttpClient {
   public:
    explicit Client(FakeConversionWebhook& webhook) : webhook_(webhook) {}
    void Start(const Context& ctx, client::HttpRequest request, Done done) override {
      webhook_.Start(ctx, std::move(request), std::move(done));
    }

   private:
    FakeConversionWebhook& webhook_;
  };

  void Start(const Context& ctx, client::HttpRequest request, client::HttpClient::Done done) {
    std::shared_ptr<Hanging> hanging;
    {
      auto state = state_.Lock();
      state->requests.push_back(request);
      if (state->hangs) {
        hanging = std::make_shared<Hanging>();
        hanging->request = request;
        *hanging->done.Lock() = std::exchange(done, nullptr);
        state->hanging.push_back(hanging);
      }
    }
    state_.NotifyAll();
    if (hanging == nullptr) return done(Ask(request));
    hanging->cancelled = ctx.OnDone([weak = std::weak_ptr<Hanging>(hanging)] {
      if (const auto call = weak.lock()) {
        call->Finish(Status(Reason::kServiceUnavailable, "context canceled"));
      }
    });
  }
  Result<http::ClientResponse> Ask(const client::HttpRequest& request) const {
    const Respond respond = state_.Lock()->respond;
    return respond(request);
  }

  Guarded<State> state_;
};

// The definition of upstream's multiVersionFixture, without subresources. `storage` is the version
// that is stored.
inline std::string MultiVersionCrd(std::string_view storage = "v1beta1") {
  constexpr std::string_view kObject = R"({"type":"object","properties":{)";
  constexpr std::string_view kBoolean = R"({"type":"boolean"})";
  std::string versions;
  for (const std::string_view version : {"v1beta1", "v1alpha1", "v1beta2"}) {
    const std::string suffix = version == "v1beta2" ? "v2" : "";
    std::string defaults;
    for (const std::string_view name : {"v1alpha1", "v1beta1", "v1beta2"}) {
      if (!defaults.empty()) defaults += ',';
      defaults.append("\"").append(name).append("\":");
      defaults += name == version ? R"({"type":"boolean","default":true})" : kBoolean;
    }
    if (!versions.empty()) versions += ',';
    versions.append(R"({"name":")").append(version).append(R"(","served":true,"storage":)");
    versions.append(version == storage ? "true" : "false");
    versions.append(R"(,"schema":{"openAPIV3Schema":)");
    versions.append(kObject).append("\"content").append(suffix).append("\":").append(kObject);
    versions.append(R"("key":{"type":"string"}}},"num)").append(suffix).append("\":");
    versions.append(kObject).append(R"("num1":{"type":"integer"},"num2":{"type":"integer"}}},)");
    versions.append(R"("defaults":)").append(kObject).append(defaults).append("}}}}}}");
  }
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
         R"({"name":"multiversion.stable.example.com"},"spec":{"group":"stable.example.com",)"
         R"("names":{"plural":"multiversion","singular":"multiversion","kind":"MultiVersion",)"
         R"("listKind":"MultiVersionList","shortNames":["mv"]},"scope":"Namespaced","versions":[)" +
         versions + "]}}";
}

// The kind of that definition, with a converter of its own.
inline runtime::KindPtr MultiVersionKind(std::shared_ptr<const runtime::VersionConverter> converter,
                                         std::string_view storage = "v1beta1") {
  runtime::KindOptions options = codec::KindOptionsFromCrd(MultiVersionCrd(storage)).value();
  options.converter = std::move(converter);
  return runtime::Kind::New(std::move(options)).value();
}

// The body of upstream's newConversionMultiVersionFixture; `more` are further members, with a
// comma behind each.
inline std::string MultiVersion(std::string_view name, std::string_view version,
                                std::string_view more = "") {
  const std::string suffix = version == "v1beta2" ? "v2" : "";
  std::string json = R"({"apiVersion":"stable.example.com/)";
  json.append(version).append(R"(","kind":"MultiVersion",)").append(more);
  json.append(R"("metadata":{"name":")").append(name).append(R"(","namespace":"default"},)");
  json.append("\"content").append(suffix).append(R"(":{"key":"value"},"num)").append(suffix);
  return json + R"(":{"num1":1,"num2":1000000}})";
}

}  // namespace apiserver::inline v0::testing
