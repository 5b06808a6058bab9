#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <stdlib.h>  // NOLINT: mkdtemp
#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>

#include "apiserver/storage/kms/provider.h"
#include "storage/kms/fake_plugin.h"
#include "storage/value/golden.h"

// A plugin behind a real socket.
namespace apiserver::inline v0 {
namespace {

using testing::FakePlugin;
using testing::kPath;
using testing::kText;
namespace kms = storage::kms;
namespace value = storage::value;

struct SocketFolder {
  SocketFolder() {
    char name[] = "/tmp/kms-test-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path = name;
  }
  ~SocketFolder() { std::filesystem::remove_all(path); }
  std::string endpoint() const { return "unix://" + path + "/plugin.sock"; }
  std::string path;
};

std::string TextOf(grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  (void)buffer.DumpToSingleSlice(&slice);
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// The three methods of the service, for whatever speaks its messages.
class PluginService final : public grpc::CallbackGenericService {
 public:
  explicit PluginService(FakePlugin& plugin) : plugin_(plugin) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Reactor(plugin_, context->method());
  }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor(FakePlugin& plugin, std::string method) : plugin_(plugin), method_(std::move(method)) {
      StartRead(&request_);
    }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status(grpc::StatusCode::INTERNAL, "no request"));
      const auto answer = Answer(TextOf(request_));
      if (!answer.ok()) {
        return Finish(
            grpc::Status(grpc::StatusCode::UNAVAILABLE, std::string(answer.status().message())));
      }
      const grpc::Slice slice(*answer);
      response_ = grpc::ByteBuffer(&slice, 1);
      StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    template <class Request, class Ask>
    Result<std::string> Handle(const std::string& bytes, Ask ask) {
      Request request;
      if (const Status status = kms::Decode(bytes, request); !status.ok()) return status;
      const auto response = ask(request);
      if (!response.ok()) return response.status();
      return kms::Encode(*response);
    }
    Result<std::string> Answer(const std::string& bytes) {
      if (method_ == "/v2.KeyManagementService/Status") {
        const auto response = plugin_.GetStatus();
        if (!response.ok()) return response.status();
        return kms::Encode(*response);
      }
      if (method_ == "/v2.KeyManagementService/Encrypt") {
        return Handle<kms::EncryptRequest>(
            bytes, [this](const auto& request) { return plugin_.Encrypt(request); });
      }
      return Handle<kms::DecryptRequest>(
          bytes, [this](const auto& request) { return plugin_.Decrypt(request); });
    }

    FakePlugin& plugin_;
    const std::string method_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer response_;
  };

  FakePlugin& plugin_;
};

struct PluginServer {
  PluginServer(FakePlugin& plugin, const SocketFolder& folder) : service(plugin) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder.path + "/plugin.sock",
                             grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(&service);
    server = builder.BuildAndStart();
    REQUIRE(server != nullptr);
  }
  ~PluginServer() {
    server->Shutdown();
    server->Wait();
  }
  PluginService service;
  std::unique_ptr<grpc::Server> server;
};

Result<value::KmsProvider> NewProvider(const SocketFolder& folder, Executor& executor,
                                       std::chrono::milliseconds timeout) {
  value::KmsConfiguration config;
  config.api_version = "v2";
  config.name = "plugin";
  config.endpoint = folder.endpoint();
  config.timeout = timeout;
  return kms::NewProviders({.executor = &executor})(config);
}

TEST_CASE("storage.kms: a plugin behind a socket seals and opens seeds", "[storage.kms]") {
  const SocketFolder folder;
  FakePlugin plugin;
  plugin.Lock()->annotations = {{"plugin.example.com", "v"}};
  const PluginServer server(plugin, folder);
  const auto pool = NewThreadPool({"kms", 2});

  const auto writer = NewProvider(folder, *pool, std::chrono::seconds(20));
  const auto reader = NewProvider(folder, *pool, std::chrono::seconds(20));

  REQUIRE((writer.ok() && reader.ok()));
  CHECK(writer->check().ok());
  const auto stored = writer->transformer->TransformToStorage(kText, kPath);
  REQUIRE(stored.ok());
  const auto read = reader->transformer->TransformFromStorage(*stored, kPath);
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  CHECK(read->bytes == kText);
  CHECK(plugin.Lock()->decrypts == 1);
  CHECK(plugin.Lock()->uid.size() == 36);
}

TEST_CASE("storage.kms: an error of the plugin is told as gRPC's", "[storage.kms]") {
  const SocketFolder folder;
  FakePlugin plugin;
  plugin.Lock()->down = Status(Reason::kInternalError, "no token");
  const PluginServer server(plugin, folder);
  const auto pool = NewThreadPool({"kms", 2});

  const auto provider = NewProvider(folder, *pool, std::chrono::seconds(20));

  REQUIRE(provider.ok());
  CHECK(provider->check().message() ==
        "failed to perform status section of the healthz check for KMS Provider plugin, error: "
        "rpc error: code = Unavailable desc = no token");
}

TEST_CASE("storage.kms: a plugin that is not there is waited for no longer than the timeout",
          "[storage.kms]") {
  const SocketFolder folder;
  const auto pool = NewThreadPool({"kms", 2});

  const auto provider = NewProvider(folder, *pool, std::chrono::milliseconds(50));

  REQUIRE(provider.ok());
  CHECK(provider->check().message().find("code = DeadlineExceeded") != std::string_view::npos);
  CHECK_FALSE(provider->transformer->TransformToStorage(kText, kPath).ok());
}

TEST_CASE("storage.kms: a configuration with a plugin encrypts by it", "[storage.kms]") {
  const SocketFolder folder;
  FakePlugin plugin;
  const PluginServer server(plugin, folder);
  const auto pool = NewThreadPool({"kms", 2});
  const auto files = NewMemoryFileSystem();
  REQUIRE(files
              ->WriteAtomically("config",
                                "{kind: EncryptionConfiguration, apiVersion: "
                                "apiserver.config.k8s.io/v1, resources: [{resources: [secrets], "
                                "providers: [{kms: {apiVersion: v2, name: plugin, timeout: 20s, "
                                "endpoint: '" +
                                    folder.endpoint() + "'}}]}]}",
                                0600)
              .ok());
  value::EncryptionOptions options;
  options.path = "config";
  options.files = files.get();
  options.new_kms_provider = kms::NewProviders({.executor = pool.get()});

  const auto encryption = value::LoadEncryption(std::move(options));

  INFO(encryption.status().ToString());
  REQUIRE(encryption.ok());
  CHECK((*encryption)->Check().ok());
  const auto transformer = (*encryption)->TransformerFor({"", "secrets"});
  const auto stored = transformer->TransformToStorage(kText, kPath);
  REQUIRE(stored.ok());
  CHECK(stored->starts_with("k8s:enc:kms:v2:plugin:"));
  CHECK(transformer->TransformFromStorage(*stored, kPath)->bytes == kText);
}

}  // namespace
}  // namespace apiserver::inline v0
