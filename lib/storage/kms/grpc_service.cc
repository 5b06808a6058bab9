#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <string_view>
#include <utility>

#include "apiserver/base/field_path.h"
#include "base/status_macros.h"
#include "storage/kms/service.h"

namespace apiserver::v0::storage::kms {
namespace {

// The limits of the reconnect backoff: a plugin that comes back is found well before the seed in
// use expires.
constexpr int kReconnectMsMin = 100;
constexpr int kReconnectMsMax = 5000;

// Prints an error as Go's gRPC does.
Status StatusOf(const grpc::Status& status) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  if (status.ok()) return {};
  const auto code = static_cast<std::size_t>(status.error_code());
  std::string text = "rpc error: code = ";
  text.append(code < kNames.size() ? kNames[code] : "Unknown");
  text.append(" desc = ").append(status.error_message());
  return Status(Reason::kInternalError, std::move(text));
}

class GrpcService final : public Service {
 public:
  GrpcService(const std::shared_ptr<grpc::Channel>& channel, std::chrono::nanoseconds timeout)
      : stub_(channel), timeout_(timeout) {}

  Result<StatusResponse> GetStatus() override {
    return Ask<StatusResponse>("/v2.KeyManagementService/Status", "");
  }
  Result<EncryptResponse> Encrypt(const EncryptRequest& request) override {
    return Ask<EncryptResponse>("/v2.KeyManagementService/Encrypt", Encode(request));
  }
  Result<DecryptResponse> Decrypt(const DecryptRequest& request) override {
    return Ask<DecryptResponse>("/v2.KeyManagementService/Decrypt", Encode(request));
  }

 private:
  template <class Response>
  Result<Response> Ask(const std::string& method, const std::string& request) {
    grpc::ClientContext context;
    // A plugin that is just starting is waited for, within the timeout.
    context.set_wait_for_ready(true);
    // The deadline is relative to the machine's clock, which is the one gRPC waits by.
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                      gpr_time_from_nanos(timeout_.count(), GPR_TIMESPAN)));
    const grpc::Slice slice(request);
    const grpc::ByteBuffer bytes(&slice, 1);
    grpc::ByteBuffer buffer;
    grpc::Status status;
    // Each call has a queue of its own, as in the blocking calls of gRPC's generated stubs.
    grpc::CompletionQueue queue;
    const auto call = stub_.PrepareUnaryCall(&context, method, bytes, &queue);
    call->StartCall();
    call->Finish(&buffer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
    RETURN_IF_ERROR(StatusOf(status));
    grpc::Slice answer;
    RETURN_IF_ERROR(StatusOf(buffer.DumpToSingleSlice(&answer)));
    Response response;
    RETURN_IF_ERROR(Decode(
        std::string_view(reinterpret_cast<const char*>(answer.begin()), answer.size()), response));
    return response;
  }

  grpc::GenericStub stub_;
  const std::chrono::nanoseconds timeout_;
};

}  // namespace

Result<std::string> TargetOf(const std::string& endpoint) {
  constexpr std::string_view kScheme = "unix:";
  const auto invalid = [&] {
    return Status(Reason::kInvalid,
                  "invalid endpoint " + field::Quote(endpoint) + " for remote KMS provider");
  };
  std::string_view rest = endpoint;
  if (!rest.starts_with(kScheme)) return invalid();
  rest.remove_prefix(kScheme.size());
  if (rest.starts_with("//")) {
    const std::size_t slash = rest.find('/', 2);
    rest = slash == std::string_view::npos ? "" : rest.substr(slash);
  }
  rest = rest.substr(0, rest.find_first_of("?#"));
  if (rest.size() < 2 || rest.front() != '/') return invalid();
  if (rest.starts_with("/@")) return "unix-abstract:" + std::string(rest.substr(2));
  return "unix:" + std::string(rest);
}

Result<std::shared_ptr<Service>> NewGrpcService(const std::string& endpoint,
                                                std::chrono::nanoseconds timeout) {
  ASSIGN_OR_RETURN(const std::string target, TargetOf(endpoint));
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMsMin);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kReconnectMsMin);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMsMax);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A channel of its own: a reloaded configuration must not find the old one's connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return std::make_shared<GrpcService>(
      grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments), timeout);
}

}  // namespace apiserver::v0::storage::kms
